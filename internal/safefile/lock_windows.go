package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// tryLock takes the lock of what is at the path, without waiting. What is locked of a file is one byte far beyond its end: here nobody
// else can read what is locked. A directory cannot be locked; a file in it that nobody else can open, and that is removed with its last
// handle, stands for it.
func tryLock(path string, opened fs.FileInfo) (unlock func(), err error) {
	flag := os.O_RDWR | NoFollow
	if opened.IsDir() {
		flag = forLook | NoFollow
	}
	fd, err := openAt(atCwd, path, flag, 0)
	if err == nil {
		var there fs.FileInfo
		if there, err = describe(fd, path); err == nil && !SameFile(opened, there) {
			err = ErrMoved
		}
		if err != nil {
			_ = closeFd(fd)
		}
	}
	switch {
	case errors.Is(err, ErrMoved), errors.Is(err, fs.ErrNotExist):
		return nil, ErrMoved
	case err != nil:
		return nil, pathError("lock", path, err)
	}
	if opened.IsDir() {
		_ = closeFd(fd)
		return lockDir(path)
	}
	const there = 1 << 30
	err = windows.LockFileEx(windows.Handle(fd), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
		&windows.Overlapped{OffsetHigh: there})
	if err == nil {
		return func() { _ = closeFd(fd) }, nil
	}
	_ = closeFd(fd)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return nil, ErrBusy
	}
	return nil, pathError("lock", path, posix(err))
}

func lockDir(path string) (unlock func(), err error) {
	name, err := windows.UTF16PtrFromString(filepath.Join(path, tempPrefix+"lock"))
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(name, windows.GENERIC_WRITE|windows.DELETE, 0, nil, windows.OPEN_ALWAYS,
		windows.FILE_FLAG_DELETE_ON_CLOSE|windows.FILE_ATTRIBUTE_TEMPORARY|windows.FILE_ATTRIBUTE_HIDDEN, 0)
	switch {
	case err == nil:
		return func() { _ = windows.CloseHandle(h) }, nil
	case errors.Is(err, windows.ERROR_SHARING_VIOLATION):
		return nil, ErrBusy
	}
	return nil, pathError("lock", path, posix(err))
}
