//go:build unix

package files

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Mkfifo makes a FIFO.
func Mkfifo(path string, mode uint32) error { return syscall.Mkfifo(path, mode) }

// Umask sets the mask of this process and returns the one before.
func Umask(mask int) int { return syscall.Umask(mask) }

// Inode returns the number that identifies a file in its file system; 0 if there is none.
func Inode(path string) uint64 {
	var st syscall.Stat_t
	if syscall.Lstat(path, &st) != nil {
		return 0
	}
	return st.Ino
}

// LimitOpen limits the files that this process may have open, until the limit is lifted.
func LimitOpen(t *testing.T, most uint64) (lift func()) {
	t.Helper()
	var was syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: most, Max: was.Max}))
	return func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was) }
}

// BeNobody makes this process one of another user.
func BeNobody() error {
	return errors.Join(syscall.Setgroups(nil), syscall.Setgid(65534), syscall.Setuid(65534))
}

// WasKilled reports whether a process was killed.
func WasKilled(p *os.ProcessState) bool {
	status, ok := p.Sys().(syscall.WaitStatus)
	return ok && status.Signal() == syscall.SIGKILL
}
