package safefile

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/harness/files"
)

// accessACL is the attribute in which Linux keeps an access control list.
const accessACL = "system.posix_acl_access"

// acl returns a list that lets one more user read and write.
func acl(user uint32) []byte {
	entry := func(tag, perm uint16, id uint32) []byte {
		b := binary.LittleEndian.AppendUint16(nil, tag)
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint16(b, perm), id)
	}
	const none = ^uint32(0)
	return bytes.Join([][]byte{{2, 0, 0, 0}, entry(1, 6, none), entry(2, 6, user), entry(4, 0, none), entry(16, 6, none),
		entry(32, 0, none)}, nil)
}

func TestRootKeepsTheOwnerOfAFile(t *testing.T) {
	files.AsRoot(t)
	for _, owner := range [][2]int{{12345, 23456}, {12345, 0}, {0, 23456}} {
		path := filepath.Join(t.TempDir(), "f")
		require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
		require.NoError(t, os.Chown(path, owner[0], owner[1]))
		require.NoError(t, os.Chmod(path, 0o640|fs.ModeSticky))
		require.NoError(t, unix.Setxattr(path, "user.note", []byte("mine"), 0))
		withACL := unix.Setxattr(path, accessACL, acl(34567), 0) == nil
		if !withACL {
			t.Log("this file system has no access control lists")
		}
		before, err := os.Stat(path)
		require.NoError(t, err)
		require.NoError(t, edit(t, path, to("new")))

		after, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, before.Mode(), after.Mode())
		st := after.Sys().(*syscall.Stat_t)
		require.Equal(t, owner, [2]int{int(st.Uid), int(st.Gid)})
		requireAttribute(t, path, "user.note", []byte("mine"))
		if withACL {
			requireAttribute(t, path, accessACL, acl(34567))
		}
	}
}

func requireAttribute(t *testing.T, path, name string, want []byte) {
	t.Helper()
	buf := make([]byte, 200)
	n, err := unix.Getxattr(path, name, buf)
	require.NoError(t, err)
	require.Equal(t, want, buf[:n])
}

// TestDefaultACLIsNotInherited: a new file in a directory with a default access control
// list would get that list.
func TestDefaultACLIsNotInherited(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	if err := unix.Setxattr(dir, "system.posix_acl_default", acl(34567), 0); err != nil {
		t.Skipf("skipped: this file system has no access control lists: %v", err)
	}
	require.NoError(t, edit(t, path, to("new")))
	_, err := unix.Getxattr(path, accessACL, nil)
	require.Error(t, err)
	files.Require(t, path, "new", 0o600)
}

// openToAll lets other users reach and write the directory.
func openToAll(t *testing.T, dir string) {
	t.Helper()
	files.AsRoot(t)
	require.NoError(t, os.Chmod(dir, 0o777))
	for d := dir; d != "/"; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(d, info.Mode().Perm()|0o111|info.Mode()&fs.ModeSticky))
	}
}

// become switches the file system accesses of the calling thread to another user.
func become(t *testing.T, uid int) {
	t.Helper()
	runtime.LockOSThread()
	require.NoError(t, unix.Setfsgid(uid))
	require.NoError(t, unix.Setfsuid(uid))
	t.Cleanup(func() {
		_ = unix.Setfsuid(0)
		_ = unix.Setfsgid(0)
		runtime.UnlockOSThread()
	})
}

func TestReplaceRefusesToChangeTheOwner(t *testing.T) {
	dir := t.TempDir()
	openToAll(t, dir)
	path := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o644))
	require.NoError(t, os.Chown(path, 12345, 12345))
	become(t, 23456)
	err := edit(t, path, to("new"))
	require.ErrorIs(t, err, errOwnership)
	require.ErrorContains(t, err, path+": would not keep its owner and permissions: it belongs to user 12345 and group 12345")
	files.Require(t, path, "old", 0o644)
	files.RequireOnly(t, dir, "f")
}

// TestAFileWithAnotherOwnerHasChanged: its bytes are not all that counts.
func TestAFileWithAnotherOwnerHasChanged(t *testing.T) {
	files.AsRoot(t)
	for name, change := range map[string]func(path string) error{
		"user":  func(path string) error { return os.Chown(path, 12345, -1) },
		"group": func(path string) error { return os.Chown(path, -1, 12345) },
	} {
		for _, data := range [][]byte{[]byte("new"), nil} {
			path := filepath.Join(t.TempDir(), "f")
			require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
			e, err := ReadToEdit(path, 100)
			require.NoError(t, err)
			require.NoError(t, change(path))
			require.ErrorIs(t, e.Replace(data), ErrChanged, name)
			files.RequireOnly(t, filepath.Dir(path), "f")
		}
	}
}
