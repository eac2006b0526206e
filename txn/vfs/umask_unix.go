//go:build unix

package vfs

import (
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// Umask returns the process's file mode creation mask.
func Umask() fs.FileMode {
	status, _ := safefile.KernelText("/proc/self/status")
	if _, rest, ok := strings.Cut(string(status), "\nUmask:\t"); ok {
		digits, _, _ := strings.Cut(rest, "\n")
		if mask, err := strconv.ParseUint(digits, 8, 9); err == nil {
			return fs.FileMode(mask)
		}
	}
	// Without /proc the only way to read it is to set it. A file that another goroutine
	// creates at that moment must not get more permissions than it should.
	mask := syscall.Umask(0o077)
	syscall.Umask(mask)
	return fs.FileMode(mask).Perm()
}
