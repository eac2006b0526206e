package files

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/windows"
)

// Mkfifo fails: there are no FIFOs here.
func Mkfifo(string, uint32) error { return errors.ErrUnsupported }

// Umask does nothing: there is no mask here.
func Umask(int) int { return 0 }

// Inode returns the number that identifies a file in its file system; 0 if there is none.
func Inode(path string) uint64 {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0
	}
	const all = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, windows.FILE_READ_ATTRIBUTES, all, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return 0
	}
	defer windows.CloseHandle(h)
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(h, &info) != nil {
		return 0
	}
	return uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)
}

// LimitOpen skips the test: a process may have as many files open as there is memory.
func LimitOpen(t *testing.T, _ uint64) (lift func()) {
	t.Skip("skipped: Windows has no limit on open files")
	return nil
}

// BeNobody fails: there are no such users here.
func BeNobody() error { return errors.ErrUnsupported }

// WasKilled reports whether a process was killed by another one, or by itself: then it ends with 1.
func WasKilled(p *os.ProcessState) bool { return p.ExitCode() == 1 }
