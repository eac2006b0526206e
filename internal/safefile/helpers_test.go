package safefile

import (
	"io/fs"
	"syscall"
)

func umask() fs.FileMode {
	mask := syscall.Umask(0)
	syscall.Umask(mask)
	return fs.FileMode(mask)
}
