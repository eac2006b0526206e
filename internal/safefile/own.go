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
	if st := info.Sys().(*syscall.Stat_t); int64(st.Uid) != int64(os.Geteuid()) {
		return notOwn(path, "it belongs to user %d", st.Uid)
	}
	return nil
}

// CheckSole returns ErrNotOwn unless this user owns the file that info describes, and the file
// has only one hard link.
func CheckSole(path string, info fs.FileInfo) error {
	if err := CheckOwner(path, info); err != nil {
		return err
	}
	if links := info.Sys().(*syscall.Stat_t).Nlink; links > 1 {
		return notOwn(path, "it has %d hard links", links)
	}
	return nil
}

func notOwn[N uint16 | uint32 | uint64](path, why string, n N) error {
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%w: "+why, ErrNotOwn, n)}
}
