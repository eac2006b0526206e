package safefile

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/fsmtx/fsmtx/internal/message"
)

// ErrNotOwn is returned when a file belongs to another user or, where it is to be written in
// place, has a second hard link: that would change another user's file, or a file elsewhere.
var ErrNotOwn = message.NewError("not only this user's", "remove it, or ask its owner to")

// CheckOwner returns ErrNotOwn unless this user owns the file that info describes.
func CheckOwner(path string, info fs.FileInfo) error {
	return checkOwner(path, info.Sys().(*syscall.Stat_t))
}

func checkOwner(path string, st *syscall.Stat_t) error {
	if int64(st.Uid) != int64(os.Geteuid()) {
		return notOwn(path, "it belongs to user %d", uint64(st.Uid))
	}
	return nil
}

// CheckSole returns ErrNotOwn unless this user owns the file that info describes, and the file
// has only one hard link.
func CheckSole(path string, info fs.FileInfo) error {
	return checkSole(path, info.Sys().(*syscall.Stat_t))
}

func checkSole(path string, st *syscall.Stat_t) error {
	err := checkOwner(path, st)
	if err == nil && st.Nlink > 1 {
		err = notOwn(path, "it has %d hard links", uint64(st.Nlink))
	}
	return err
}

func notOwn(path, why string, n uint64) error {
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%w: "+why, ErrNotOwn, n)}
}
