package safefile

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/fsmtx/fsmtx/internal/hint"
)

// ErrNotOwn is returned when a file belongs to another user or, where it is to be written in
// place, has a second hard link: that would change another user's file, or a file elsewhere.
var ErrNotOwn = hint.New("not only this user's", "remove it, or ask its owner to")

// CheckOwner returns ErrNotOwn unless this user owns the file that info describes.
func CheckOwner(path string, info fs.FileInfo) error {
	return checkOwner(path, info.Sys().(*syscall.Stat_t).Uid)
}

func checkOwner(path string, user uint32) error {
	if int64(user) != int64(os.Geteuid()) {
		return notOwn(path, "it belongs to user %d", user)
	}
	return nil
}

// CheckSole returns ErrNotOwn unless this user owns the file that info describes, and the file
// has only one hard link.
func CheckSole(path string, info fs.FileInfo) error {
	st := info.Sys().(*syscall.Stat_t)
	return checkSole(path, st.Uid, uint64(st.Nlink))
}

func checkSole(path string, user uint32, links uint64) error {
	if err := checkOwner(path, user); err != nil {
		return err
	}
	if links > 1 {
		return notOwn(path, "it has %d hard links", links)
	}
	return nil
}

func notOwn[N uint32 | uint64](path, why string, n N) error {
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%w: "+why, ErrNotOwn, n)}
}
