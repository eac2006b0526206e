package command

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/fsmtx/fsmtx/txn"
)

// remedyOf returns the hint for an error of the system that any command can get, empty if there is
// none. A variable would be filled at every start of a hook.
func remedyOf(errno syscall.Errno) string {
	return map[syscall.Errno]string{
		syscall.EMFILE:       "raise the limit on open files (ulimit -n), then run the command again",
		syscall.ENFILE:       "the system has too many files open; run the command again when it has fewer",
		syscall.ENAMETOOLONG: "a name has more bytes than the file system allows, often 255; use a shorter one",
		syscall.ENOSPC:       "free some space on that disk, then run the command again",
		syscall.EDQUOT:       "your quota of disk space is used up; free some space, then run the command again",
		syscall.EFBIG:        "raise the limit on the size of files (ulimit -f), then run the command again",
		syscall.EROFS:        "make the file system writable, then run the command again",
	}[errno]
}

// Remedy returns the hint for an error of the system, empty if there is none.
func Remedy(err error) string {
	if call, ok := errors.AsType[*os.SyscallError](err); ok && call.Syscall == "getwd" && errors.Is(err, fs.ErrNotExist) {
		return "the current directory was removed; change to one that is there"
	}
	if errors.Is(err, txn.ErrLocked) {
		return "the task list is busy, and nothing was changed: try again"
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return remedyOf(errno)
	}
	return ""
}

// Unusable returns the error of a file that an argument names, without the system call that failed.
func Unusable(arg string, err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", cmp.Or(arg, `""`), failed.Err)
	}
	return err
}
