package vfs

import (
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// kernelText returns the beginning of a file that the kernel makes, at most 512 bytes. Package os
// would need a poller and ten system calls.
func kernelText(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	text := make([]byte, 512)
	n, err := unix.Read(fd, text)
	return text[:max(0, n)], err
}

// Umask returns the process's file mode creation mask.
func Umask() fs.FileMode {
	status, _ := kernelText("/proc/self/status")
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
