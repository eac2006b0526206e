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

// isDeadTemp reports whether a killed Replace of this user has left the directory at path.
func isDeadTemp(path string) (dead bool) {
	_ = withDeadTemp(path, func(*tempDir, []string) error { dead = true; return nil })
	return dead
}
