//go:build windows

package txn

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// The change of these tests replaces two of three files by two others.
var swap2 = Change{Creates: []File{{"4.json", []byte("new 4"), 0o644}, {"5.json", []byte("new 5"), 0o644}},
	Deletes: []string{"2.json", "3.json"}, Label: "a label"}

// before and after, by name: the content, and for what was there before by what the file system knows it.
func listed(t *testing.T, dir string) map[string]string {
	t.Helper()
	m := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		m[e.Name()] = string(data)
		if e.Name() < "4" && e.Name() != ".highwatermark" {
			m[e.Name()] += fmt.Sprint(" ", files.Inode(filepath.Join(dir, e.Name())))
		}
	}
	return m
}

func threeFiles(t *testing.T) (dir string, before, after map[string]string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "tasks", "list")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for n := 1; n <= 3; n++ {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", n)), []byte(fmt.Sprint("old ", n)), 0o644))
	}
	before = listed(t, dir)
	return dir, before, map[string]string{"1.json": before["1.json"], "4.json": "new 4", "5.json": "new 5"}
}

func commitOn(ctx context.Context, dir string, on vfs.FS) error {
	d, err := Open(ctx, dir, WithFS(on))
	if err != nil {
		return err
	}
	err = d.Commit(ctx, swap2)
	_ = d.Close()
	return err
}

func recoverOn(ctx context.Context, dir string, on vfs.FS) error {
	_, err := Recover(ctx, dir, WithFS(on))
	return err
}

// TestDeathsOnWindows: after a death before any step of a commit, and before any step of the recovery after it, the list is as before or
// as after.
func TestDeathsOnWindows(t *testing.T) {
	if dir := os.Getenv("FSMTX_TEST_DIR"); dir != "" {
		step, err := strconv.Atoi(os.Getenv("FSMTX_TEST_STEP"))
		require.NoError(t, err)
		do := commitOn
		if os.Getenv("FSMTX_TEST_RECOVER") != "" {
			do = recoverOn
		}
		require.NoError(t, do(t.Context(), dir, faultfs.Kill(vfs.OS{}, step)))
		return
	}
	dies := func(dir string, step int, more ...string) bool {
		c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		c.Env = append(append(os.Environ(), "FSMTX_TEST_DIR="+dir, "FSMTX_TEST_STEP="+strconv.Itoa(step)), more...)
		out, err := c.CombinedOutput()
		require.True(t, err == nil || files.WasKilled(c.ProcessState) && len(out) == 0, "step %d: %v\n%s", step, err, out)
		return err != nil
	}
	seen := map[string]int{}
	check := func(dir string, before, after map[string]string, what string) {
		require.NoError(t, recoverOn(t.Context(), dir, vfs.OS{}), what)
		now := listed(t, dir)
		if len(now) == len(after) && now["4.json"] != "" {
			assert.Equal(t, after, now, what)
			seen["after"]++
		} else {
			assert.Equal(t, before, now, what)
			seen["before"]++
		}
		require.NoError(t, recoverOn(t.Context(), dir, vfs.OS{}), what)
		again := listed(t, dir)
		assert.Equal(t, now, again, "%s: a second recovery changes nothing", what)
	}
	step := 0
	for ; ; step++ {
		dir, before, after := threeFiles(t)
		if !dies(dir, step) {
			break
		}
		check(dir, before, after, fmt.Sprint("death at ", step))
		if step%8 != 7 {
			continue
		}
		for second := 0; second < 40; second += 5 {
			dir, before, after := threeFiles(t)
			require.True(t, dies(dir, step))
			died := dies(dir, second, "FSMTX_TEST_RECOVER=1")
			check(dir, before, after, fmt.Sprintf("deaths at %d and %d", step, second))
			if !died {
				break
			}
		}
	}
	t.Logf("%d steps: %v", step, seen)
	assert.Greater(t, step, 20)
	assert.Positive(t, seen["before"])
	assert.Positive(t, seen["after"])
}

// TestFaultsOnWindows: each call fails with each error; the commit says so and the list is as before, or it says nothing and the list
// is as after. What could not be rolled back is recoverOn by the next process.
func TestFaultsOnWindows(t *testing.T) {
	for _, errno := range []error{windows.ERROR_ACCESS_DENIED, windows.ERROR_SHARING_VIOLATION, windows.ERROR_LOCK_VIOLATION, syscall.ENOSPC,
		syscall.EIO, syscall.EROFS, windows.ERROR_DELETE_PENDING} {
		failures := 0
		for step := 0; ; step++ {
			dir, before, after := threeFiles(t)
			failed := false
			err := commitOn(t.Context(), dir, faultfs.Fail(vfs.OS{}, step, errno, func(faultfs.Step) { failed = true }))
			if !failed {
				require.NoError(t, err)
				break
			}
			what := fmt.Sprintf("%v at %d: %v", errno, step, err)
			require.NoError(t, recoverOn(t.Context(), dir, vfs.OS{}), what)
			if now := listed(t, dir); err == nil {
				assert.Equal(t, after, now, what)
			} else if failures++; len(now) == len(after) && now["4.json"] != "" {
				assert.Equal(t, after, now, what)
			} else {
				assert.Equal(t, before, now, what)
			}
		}
		assert.Greater(t, failures, 10, "%v", errno)
	}
}

// TestATaskThatAnotherProgramHasOpen so that nobody can remove it: it is waited for, and then the change is refused whole.
func TestATaskThatAnotherProgramHasOpen(t *testing.T) {
	hold := func(dir string) (release func()) {
		name, err := windows.UTF16PtrFromString(filepath.Join(dir, "3.json"))
		require.NoError(t, err)
		h, err := windows.CreateFile(name, windows.GENERIC_READ, windows.FILE_SHARE_READ, nil, windows.OPEN_EXISTING, 0, 0)
		require.NoError(t, err)
		return func() { _ = windows.CloseHandle(h) }
	}
	dir, _, after := threeFiles(t)
	waited := time.AfterFunc(500*time.Millisecond, hold(dir))
	require.NoError(t, commitOn(t.Context(), dir, vfs.OS{}))
	assert.False(t, waited.Stop())
	assert.Equal(t, after, listed(t, dir))

	dir, before, _ := threeFiles(t)
	release := hold(dir)
	err := commitOn(t.Context(), dir, vfs.OS{})
	require.ErrorContains(t, err, filepath.Join(dir, "3.json"))
	release()
	require.NoError(t, recoverOn(t.Context(), dir, vfs.OS{}))
	assert.Equal(t, before, listed(t, dir))
}

// TestTwoAtATime: transactions of several processes follow one another.
func TestTwoAtATime(t *testing.T) {
	dir, _, _ := threeFiles(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	d, err := Open(t.Context(), dir)
	require.NoError(t, err)
	_, err = Open(ctx, dir)
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, fmt.Sprint("process ", os.Getpid()))
	require.NoError(t, d.Close())
}
