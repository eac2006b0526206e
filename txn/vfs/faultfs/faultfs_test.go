package faultfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// operations calls every method of vfs.FS in an empty directory, each with the steps that
// it should make.
var operations = []struct {
	do    func(files vfs.FS, dir string) error
	steps []string
	reads bool
}{
	{do: func(f vfs.FS, dir string) error { return f.Mkdir(dir+"/d", 0o755) }, steps: []string{"mkdir d"}},
	{do: func(f vfs.FS, dir string) error { return f.WriteNew(dir+"/a", []byte("x"), 0o644) },
		steps: []string{"create a", "write a", "sync a"}},
	{do: func(f vfs.FS, dir string) error {
		u, err := f.WritePending(dir+"/d/p", []byte("w"), 0o664)
		if err == nil {
			err = u.Sync()
		}
		if err == nil {
			err = f.Rename(u.Path(), dir+"/d/q")
		}
		return err
	}, steps: []string{"create .p", "write .p", "sync .p", "rename .p to q"}},
	{do: func(f vfs.FS, dir string) error {
		u, err := f.StartSync(dir + "/a")
		if err == nil {
			err = u.Sync()
		}
		return err
	}, steps: []string{"sync a"}},
	{do: func(f vfs.FS, dir string) error { return f.Overwrite(dir+"/b", []byte("y")) }, steps: []string{"overwrite b"}},
	{do: func(f vfs.FS, dir string) error { return f.AppendLine(dir+"/b", []byte("z")) }, steps: []string{"append b"}},
	{do: func(f vfs.FS, dir string) error { return f.Link(dir+"/a", dir+"/c") }, steps: []string{"link a to c"}},
	{do: func(f vfs.FS, dir string) error { return f.Rename(dir+"/c", dir+"/e") }, steps: []string{"rename c to e"}},
	{do: func(f vfs.FS, dir string) error { return f.RenameNew(dir+"/e", dir+"/f") }, steps: []string{"rename e to f"}},
	{do: func(f vfs.FS, dir string) error { return f.Chtimes(dir+"/a", time.Unix(1e9, 0)) }, steps: []string{"chtimes a"}},
	{do: func(f vfs.FS, dir string) error { return f.Sync(dir + "/a") }, steps: []string{"sync a"}},
	{do: func(f vfs.FS, dir string) error { return f.Remove(dir + "/f") }, steps: []string{"remove f"}},
	{do: func(f vfs.FS, dir string) error { _, err := f.Lstat(dir + "/a"); return err }, steps: []string{"lstat a"}, reads: true},
	{do: func(f vfs.FS, dir string) error { _, err := f.ReadFile(dir + "/a"); return err }, steps: []string{"read a"}, reads: true},
	{do: func(f vfs.FS, dir string) error { _, err := f.ReadFrom(dir+"/a", 1); return err }, steps: []string{"read a"}, reads: true},
	{do: func(f vfs.FS, dir string) error { _, err := f.ReadDir(dir + "/d"); return err }, steps: []string{"readdir d"}, reads: true},
}

// run runs the first operations until one fails, and runAll all.
func run(n int, files vfs.FS, dir string) error {
	for _, op := range operations[:n] {
		if err := op.do(files, dir); err != nil {
			return err
		}
	}
	return nil
}

func runAll(files vfs.FS, dir string) error { return run(len(operations), files, dir) }

// state describes the files in dir.
func state(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var b strings.Builder
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		fmt.Fprint(&b, e.Name(), " ", info.Mode(), " ", info.Size(), "; ")
	}
	return b.String()
}

// TestSteps: the operations do what those of the operating system do, whatever the umask, in steps with names and the bytes that are
// written.
func TestSteps(t *testing.T) {
	umask := files.Umask(0o077)
	defer files.Umask(umask)
	plain := t.TempDir()
	require.NoError(t, runAll(vfs.OS{}, plain))
	for _, reads := range []bool{false, true} {
		dir := t.TempDir()
		var want, got []string
		for _, op := range operations {
			if reads || !op.reads {
				want = append(want, op.steps...)
			}
		}
		written := map[string]string{}
		files := &faultfs.Steps{FS: vfs.OS{}, Reads: reads, Before: func(s faultfs.Step) error {
			if got = append(got, s.String()); s.Data != nil {
				written[s.Op] = string(s.Data)
			}
			return nil
		}}
		require.NoError(t, runAll(files, dir))
		assert.Equal(t, want, got)
		assert.Equal(t, map[string]string{"write": "w", "overwrite": "y", "append": "z"}, written)
		assert.Equal(t, state(t, plain), state(t, dir))
		assert.ErrorIs(t, files.WriteNew(dir+"/a", nil, 0o600), fs.ErrExist)
	}
}

func TestNamesOfStepsAreTheSameInEveryRun(t *testing.T) {
	const s = "/home/.list.fsmtx"
	for want, step := range map[string]faultfs.Step{
		"mkdir list":                      {Op: "mkdir", Path: "/home/list"},
		"link S/txn/new/1.json to 1.json": {Op: "link", Path: s + "/txn-20261121t200000-000000001-0a1b2c3d/new/1.json", To: "/home/list/1.json"},
		"rename S/journal to S/done":      {Op: "rename", Path: s + "/journal", To: s + "/done-20261121t200000-000000001-0a1b2c3d"},
		"rename S/txn/draft to S/journal": {Op: "rename", Path: s + "/txn-2026/draft", To: s + "/journal"},
		"sync S/txn/new/.1.json":          {Op: "sync", Path: s + "/txn-2026/new/.1.json7034219"},
		"mkdir S/locks/-0":                {Op: "mkdir", Path: s + "/locks/0123456789ab-0"},
	} {
		assert.Equal(t, want, step.String())
	}
}

// TestFailFailsOneStep fails each step of the operations in turn.
func TestFailFailsOneStep(t *testing.T) {
	for n := 0; ; n++ {
		dir := t.TempDir()
		var failed []faultfs.Step
		files := faultfs.Fail(vfs.OS{}, n, syscall.EIO, func(s faultfs.Step) { failed = append(failed, s) })
		err := runAll(files, dir)
		if err == nil {
			require.Empty(t, failed)
			require.Equal(t, 21, n)
			return
		}
		require.ErrorIs(t, err, syscall.EIO)
		require.Len(t, failed, 1)
		var path *fs.PathError
		require.ErrorAs(t, err, &path)
		assert.Equal(t, fs.PathError{Op: failed[0].Op, Path: failed[0].Path, Err: syscall.EIO}, *path)
		_, err = os.Lstat(failed[0].Path)
		if failed[0].Op == "create" {
			assert.ErrorIs(t, err, fs.ErrNotExist)
		}
		require.NoError(t, files.Mkdir(dir+"/later", 0o755), "only one step fails")
		require.NoError(t, faultfs.Fail(vfs.OS{}, 1, syscall.EIO, nil).Mkdir(dir+"/other", 0o755))
		require.Error(t, faultfs.Fail(vfs.OS{}, 0, syscall.EIO, nil).Mkdir(dir+"/another", 0o755))
	}
}

func TestFreezeFailsAStepAndAllLaterOnes(t *testing.T) {
	dir := t.TempDir()
	var done []string
	files := faultfs.Freeze(vfs.OS{}, 3, func(s faultfs.Step) { done = append(done, s.String()) })
	require.ErrorIs(t, runAll(files, dir), faultfs.ErrFrozen)
	assert.Equal(t, []string{"mkdir d", "create a", "write a"}, done)
	assert.ErrorIs(t, files.Mkdir(dir+"/later", 0o755), faultfs.ErrFrozen)
	_, err := files.ReadDir(dir)
	assert.NoError(t, err, "reading is not a step")
	assert.Error(t, faultfs.Freeze(vfs.OS{}, 0, nil).Mkdir(dir+"/x", 0o755))
	assert.NoError(t, faultfs.Freeze(vfs.OS{}, 1, nil).Mkdir(dir+"/x", 0o755))
}

// TestKillKillsTheProcessBeforeAStep runs itself again in processes that are killed.
func TestKillKillsTheProcessBeforeAStep(t *testing.T) {
	dir := os.Getenv("FSMTX_TEST_DIR")
	if dir != "" {
		n, err := strconv.Atoi(os.Getenv("FSMTX_TEST_STEP"))
		files := faultfs.Kill(vfs.OS{}, n)
		if err != nil {
			files = faultfs.KillWhen(vfs.OS{}, func(s faultfs.Step) bool { return s.String() == os.Getenv("FSMTX_TEST_STEP") })
		}
		require.NoError(t, runAll(files, dir))
		return
	}
	for step, operations := range map[string]int{"0": 0, "1": 1, "4": 2, "overwrite b": 4, "append b": 5} {
		dir, plain := t.TempDir(), t.TempDir()
		c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		c.Env = append(os.Environ(), "FSMTX_TEST_DIR="+dir, "FSMTX_TEST_STEP="+step)
		died, ok := errors.AsType[*exec.ExitError](c.Run())
		require.True(t, ok, "it was not killed before step %s", step)
		assert.True(t, files.WasKilled(died.ProcessState))
		require.NoError(t, run(operations, vfs.OS{}, plain))
		assert.Equal(t, state(t, plain), state(t, dir), "step %s", step)
	}
}
