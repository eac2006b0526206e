package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/fsmtx/fsmtx/internal/message"
)

// ErrNotOwn is returned when a file belongs to another user or, where it is to be written in
// place, has a second hard link: that would change another user's file, or a file elsewhere.
var ErrNotOwn = message.NewError("not only this user's", "remove it, or ask its owner to")

// OwnerOf returns the id of the user who owns a file, if the file system reports one.
func OwnerOf(info fs.FileInfo) (uid int, ok bool) {
	st, ok := info.Sys().(*stat)
	if ok {
		uid = int(st.Uid)
	}
	return uid, ok
}

// IdentityOf returns the device and inode of a file that was looked at in its file system, if that tells them.
func IdentityOf(info fs.FileInfo) (device, inode uint64, ok bool) {
	st, ok := info.Sys().(*stat)
	if ok {
		device, inode = uint64(st.Dev), uint64(st.Ino)
	}
	return device, inode, ok
}

// ErrOfOther is in the error about a directory of another user where this user's should be, or into which others may write. The error says
// what mends that: nothing else does.
var ErrOfOther = errors.New("it belongs to user")

// CheckOwner returns ErrNotOwn unless this user owns the file that info describes.
func CheckOwner(path string, info fs.FileInfo) error {
	st, err := statOf(path, info)
	if err != nil {
		return err
	}
	return checkOwner(path, &st)
}

func checkOwner(path string, st *stat) error {
	if int64(st.Uid) != int64(os.Geteuid()) {
		return notOwn(path, "it belongs to user %d", uint64(st.Uid))
	}
	return nil
}

// CheckSole returns ErrNotOwn unless this user owns the file that info describes, and the file
// has only one hard link.
func CheckSole(path string, info fs.FileInfo) error {
	st, err := statOf(path, info)
	if err != nil {
		return err
	}
	return checkSole(path, &st)
}

func checkSole(path string, st *stat) error {
	err := checkOwner(path, st)
	if err == nil && st.Nlink > 1 {
		err = notOwn(path, "it has %d hard links", uint64(st.Nlink))
	}
	return err
}

func notOwn(path, why string, n uint64) error {
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%w: "+why, ErrNotOwn, n)}
}
