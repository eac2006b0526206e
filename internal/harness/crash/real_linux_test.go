package crash

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// inOwnMounts runs the test again in a process with its own mount namespace. It returns
// true in that process. Users other than root need a system with user namespaces.
func inOwnMounts(t *testing.T) bool {
	if os.Getenv("FSMTX_TEST_OWN_MOUNTS") != "" {
		return true
	}
	c := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1", fmt.Sprintf("-every=%t", *every))
	c.Env = append(os.Environ(), "FSMTX_TEST_OWN_MOUNTS=1")
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	if id := os.Geteuid(); id != 0 {
		c.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{HostID: id, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
		}
	}
	out, err := c.CombinedOutput()
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		t.Skipf("this user may not have mounts of its own: %v", err)
	}
	const there = "in a process with mounts of its own:\n%s"
	if err == nil && strings.Contains(string(out), "--- SKIP: "+t.Name()) {
		t.Skipf(there, out)
	}
	t.Logf(there, out)
	require.NoError(t, err)
	return false
}

// mount mounts a file system until the test ends, or skips the test.
func mount(t *testing.T, kind, at string, flags uintptr, options string) {
	t.Helper()
	source := kind
	if flags&unix.MS_BIND != 0 {
		source = at
	}
	if err := unix.Mount(source, at, kind, flags, options); err != nil {
		t.Skipf("%s cannot be mounted here: %v", kind, err)
	}
	t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
}

// small returns a world whose tasks are on a small disk of their own.
func small(t *testing.T, options string) *world {
	w := newWorld(t)
	mount(t, "tmpfs", w.tasksDir(), 0, "mode=755,"+options)
	return w
}

// TestFaultDiskFull leaves more and more room for a hydration of fifty tasks until one
// succeeds, so that the disk fills up before the hydration and at many points of it.
func TestFaultDiskFull(t *testing.T) {
	if !inOwnMounts(t) {
		return
	}
	refused := 0
	d := scenario{manual: 1, tagged: 50, creates: 50}
	for free := 0; ; free += 3 {
		w := small(t, "size=2m")
		d.fill(t, w)
		before := w.Tasks(t)
		undo := occupy(t, w, free)
		a := w.invoke(t, "first")
		undo()
		if a.code == 0 {
			break
		}
		require.Less(t, free, 200)
		require.Equal(t, 2, a.code, "with %d pages free: %s", free, a.stderr)
		require.Empty(t, a.stdout)
		require.Regexp(t, `(?s)^fsmtx: .*no space left on device.*hint: free some space on the disk of \S*/tasks/list`, a.stderr,
			"with %d pages free", free)
		w.requireUnchanged(t, before, a)
		w.requireWorks(t, d, before)
		refused++
	}
	t.Logf("refused with %d amounts of free space", refused)
	assert.Greater(t, refused, 10)
}

// occupy leaves the given number of pages free on the disk of the tasks.
func occupy(t *testing.T, w *world, free int) (undo func()) {
	t.Helper()
	const page = 4096
	path := filepath.Join(w.tasksDir(), "occupied")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	size := 0
	for err == nil {
		_, err = f.Write(make([]byte, page))
		size += page
	}
	require.ErrorIs(t, err, unix.ENOSPC)
	require.NoError(t, f.Truncate(int64(max(size-page-free*page, 0))))
	return func() { require.NoError(t, os.Remove(path)) }
}

// TestFaultNoInodes uses a disk with room for bytes but not for more files.
func TestFaultNoInodes(t *testing.T) {
	if !inOwnMounts(t) {
		return
	}
	for _, inodes := range []int{6, 7, 8, 9, 10, 12, 14} {
		w := small(t, fmt.Sprintf("size=1m,nr_inodes=%d", inodes))
		d := scenario{manual: 1, tagged: 1, creates: 3}
		d.fill(t, w)
		d.requireRefused(t, w, trouble{want: []string{"no space left on device"}, make: func(t *testing.T, w *world) func() {
			return func() {
				require.NoError(t, unix.Mount("tmpfs", w.tasksDir(), "tmpfs", unix.MS_REMOUNT, "size=1m,nr_inodes=100"))
			}
		}})
	}
}

// TestFaultReadOnly makes the disk read-only, before the first hydration and after one.
func TestFaultReadOnly(t *testing.T) {
	if !inOwnMounts(t) {
		return
	}
	readOnly := func(t *testing.T, w *world) func() {
		require.NoError(t, unix.Mount("", w.tasksDir(), "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
		return func() { require.NoError(t, unix.Mount("", w.tasksDir(), "", unix.MS_REMOUNT, "")) }
	}
	for _, make := range []func(*testing.T, *world) func(){readOnly, withStateDir(readOnly)} {
		for _, d := range []scenario{replacing, creating} {
			w := small(t, "size=1m")
			d.fill(t, w)
			d.requireRefused(t, w, trouble{make: make, want: []string{"read-only file system", "hint: make the file system of "}})
		}
	}
}

// TestFaultListMounted makes the list a mount point: then files cannot be linked from the
// state directory into it, even if both are on one disk.
func TestFaultListMounted(t *testing.T) {
	if !inOwnMounts(t) {
		return
	}
	for _, d := range []scenario{replacing, creating} {
		d.requireRefused(t, d.world(t), trouble{want: []string{"hard links cannot be made here", "and its parent must be on one file system"},
			make: func(t *testing.T, w *world) func() {
				mount(t, "none", w.List(), unix.MS_BIND, "")
				return func() { require.NoError(t, unix.Unmount(w.List(), 0)) }
			}})
	}
}

// TestFaultForeignTask gives a task to another user: Linux does not let users link files
// that they may not write.
func TestFaultForeignTask(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a task to another user")
	}
	if text, err := os.ReadFile("/proc/sys/fs/protected_hardlinks"); err != nil || strings.TrimSpace(string(text)) != "1" {
		t.Skip("fs.protected_hardlinks is not set")
	}
	w := replacing.world(t)
	w.unprivileged(t)
	task := filepath.Join(w.List(), "1001.json")
	replacing.requireRefused(t, w, trouble{want: []string{"immutable, append-only or another user's", "1001.json", "chown"},
		make: func(t *testing.T, _ *world) func() {
			require.NoError(t, os.Lchown(task, 0, 0))
			require.NoError(t, os.Chmod(task, 0o644))
			return func() {
				require.NoError(t, os.Chown(task, w.uid, w.uid))
				require.NoError(t, os.Chmod(task, 0o640))
			}
		}})
}
