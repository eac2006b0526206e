package txn

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/statefile"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// TestStateFiles: what they hold after each call, with the steps of the call. What is promised to be durable is synced, first the bytes,
// then the name in S.
func TestStateFiles(t *testing.T) {
	dir := newList(t)
	data, err := ReadState(dir, "a")
	require.NoError(t, err)
	require.Nil(t, data)
	require.NoDirExists(t, stateDirOf(dir), "reading creates nothing")
	var steps []string
	d := opened(t, dir, WithFS(before(func(s faultfs.Step) error { steps = append(steps, s.String()); return nil })))
	random := regexp.MustCompile(`(S/tmp/\.c)\d+`)
	const (
		write = "mkdir S/tmp; remove S/tmp/a; create S/tmp/a; write S/tmp/a; sync S/tmp/a; rename S/tmp/a to S/a; sync S; " +
			"remove S/tmp"
		appended = "append S/b; sync S/b; sync S"
		replaced = "mkdir S/tmp; create S/tmp/.c; write S/tmp/.c; rename S/tmp/.c to S/c; remove S/tmp"
	)
	now := map[string]string{}
	for _, c := range []struct {
		do    func() error
		steps string
		name  string
		holds []byte // nil if it does not exist
	}{
		{func() error { return d.WriteState("a", []byte("1")) }, write, "a", []byte("1")},
		{func() error { return d.WriteState("a", []byte("2")) }, write, "a", []byte("2")},
		{func() error { return d.AppendState("b", []byte("1")) }, appended, "b", []byte("1\n")},
		{func() error { return d.AppendState("b", []byte("2")) }, appended, "b", []byte("1\n2\n")},
		{func() error { return d.AppendStateLazily("b", []byte("3")) }, "append S/b", "b", []byte("1\n2\n3\n")},
		{func() error { return d.ReplaceState("c", []byte("a longer text")) }, replaced, "c", []byte("a longer text")},
		{func() error { return d.ReplaceState("c", []byte("x")) }, replaced, "c", []byte("x")},
		{func() error { return d.ReplaceState("c.c", []byte{}) }, "", "c.c", []byte{}},
		{func() error { return d.ReplaceState("c", nil) }, "remove S/c", "c", nil},
		{func() error { return d.ReplaceState("c", nil) }, "remove S/c", "c", nil},
		{func() error { return d.RemoveState("a") }, "remove S/a; sync S", "a", nil},
		{func() error { return d.RemoveState("a") }, "remove S/a; sync S", "a", nil},
		{func() error { return d.Commit(t.Context(), replacing) }, "", "a", nil},
	} {
		steps = nil
		require.NoError(t, c.do())
		if now[c.name] = string(c.holds); c.holds == nil {
			delete(now, c.name)
		}
		if c.steps != "" {
			require.Equal(t, c.steps, random.ReplaceAllString(strings.Join(steps, "; "), "$1"))
		}
		all, err := d.StateNames("")
		require.NoError(t, err)
		require.Equal(t, slices.Sorted(maps.Keys(now)), append([]string{}, all...))
		for name, want := range now {
			locked, err := d.ReadState(name)
			require.NoError(t, err)
			unlocked, err := ReadState(dir, name)
			require.NoError(t, err)
			require.Equal(t, want, string(locked))
			require.Equal(t, want, string(unlocked))
			info, err := os.Lstat(d.statePath(name))
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode())
		}
	}
	for offset, want := range map[int64]string{0: "1\n2\n3\n", 4: "3\n", 6: "", 100: ""} {
		got, err := d.ReadStateFrom("b", offset)
		require.NoError(t, err)
		assert.Equal(t, want, string(got), offset)
	}
	all, err := d.StateNames("c")
	require.NoError(t, err)
	assert.Equal(t, []string{"c.c"}, all)
	require.ErrorContains(t, d.AppendState("b", []byte("a\nb")), "newline")
}

func TestStateFileNames(t *testing.T) {
	d := opened(t, newList(t))
	for name, ok := range map[string]bool{
		"steps.jsonl": true, "a": true, "z.z.": true, strings.Repeat("a", 255): true, strings.Repeat("a", 256): false,
		"": false, ".": false, "..": false, ".a": false, "a/b": false, "A": false, "a1": false, "a-b": false, "a b": false, "é": false,
		"a\x00":  false,
		lockName: false, journalName: false, tempName: false,
		quarantineName: false, lockerName: false, txnPrefix + "a": false, donePrefix + "a": false,
	} {
		_, err := d.ReadState(name)
		assert.Equal(t, ok, !errors.Is(err, statefile.ErrName), "%q: %v", name, err)
	}
}

// TestErrorsOfStateFiles of every method.
func TestErrorsOfStateFiles(t *testing.T) {
	for title, do := range map[string]func(d *Dir, name string) error{
		"ReadState":     func(d *Dir, name string) error { _, err := d.ReadState(name); return err },
		"WriteState":    func(d *Dir, name string) error { return d.WriteState(name, nil) },
		"AppendState":   func(d *Dir, name string) error { return d.AppendState(name, nil) },
		"ReplaceState":  func(d *Dir, name string) error { return d.ReplaceState(name, []byte{}) },
		"RemoveState":   func(d *Dir, name string) error { return d.RemoveState(name) },
		"WriteUnlocked": func(d *Dir, name string) error { return d.WriteUnlocked(name, nil) },
	} {
		d, err := Open(t.Context(), newList(t))
		require.NoError(t, err)
		require.ErrorIs(t, do(d, "../a"), statefile.ErrName, title)
		files := d.files
		d.use(failing(errTest, func(s faultfs.Step) bool { return s.Op == "write" || s.Op == "sync" || filepath.Base(s.Path) == "a" }))
		require.ErrorIs(t, do(d, "a"), errTest, title)
		d.use(files)
		if title == "ReadState" || title == "AppendState" {
			require.NoError(t, os.Symlink("../list/1.json", d.statePath("b")))
			require.ErrorIs(t, do(d, "b"), vfs.ErrNotRegular, title)
		}
		require.NoError(t, d.Close())
		require.ErrorIs(t, do(d, "a"), ErrClosed, title)
	}
	d := opened(t, newList(t))
	large := d.statePath("a")
	require.NoError(t, os.WriteFile(large, nil, 0o600))
	require.NoError(t, os.Truncate(large, vfs.MaxFileBytes))
	require.ErrorIs(t, d.AppendState("a", nil), vfs.ErrFileTooLarge)
	require.NoError(t, os.Truncate(large, vfs.MaxFileBytes+1))
	_, err := d.ReadState("a")
	require.ErrorIs(t, err, vfs.ErrFileTooLarge)
	require.ErrorIs(t, d.WriteState("a", make([]byte, vfs.MaxFileBytes+1)), vfs.ErrFileTooLarge)
	require.NoError(t, d.WriteState("a", make([]byte, vfs.MaxFileBytes)))
	_, err = d.ReadState("a")
	require.NoError(t, err)
}

var readHistoryErrors = []errorCase{
	untrustedState(func(dir string) error { _, err := ReadHistory(dir); return err }),
	{name: "ErrName", is: ErrName, run: func(t *testing.T, _ opener) error {
		_, err := ReadHistory("\xff")
		return err
	}},
	{name: "the file system's", is: errTest, run: func(t *testing.T, _ opener) error {
		_, err := ReadHistory(newWorld(t).d, WithFS(failing(errTest, func(s faultfs.Step) bool { return s.Op == "readdir" })))
		return err
	}},
}

// untrustedState is the case of a state directory that others may write to.
func untrustedState(call func(dir string) error) errorCase {
	return errorCase{name: "ErrUntrustedDir", is: ErrUntrustedDir, run: func(t *testing.T, _ opener) error {
		w := newWorld(t)
		require.NoError(t, os.Chmod(w.s, 0o777))
		return call(w.d)
	}}
}

// TestReader reads S, and appends to a file of its own, while another process holds the
// lock. It stays in the S that it opened.
func TestReader(t *testing.T) {
	dir := newList(t)
	_, err := OpenReader(dir)
	require.ErrorIs(t, err, fs.ErrNotExist)
	d := opened(t, dir)
	require.NoError(t, d.WriteState("log", []byte("one\ntwo\n")))
	r, err := OpenReader(dir)
	require.NoError(t, err)
	s := stateDirOf(dir)
	require.NoError(t, os.Rename(s, s+".moved"))
	require.NoError(t, os.Mkdir(s, 0o700))
	got, err := r.ReadStateFrom("log", 4)
	require.NoError(t, err)
	assert.Equal(t, "two\n", string(got))
	require.NoError(t, r.WriteUnlocked("late.x", []byte("three\n")))
	require.ErrorIs(t, r.WriteUnlocked("journal", nil), statefile.ErrName)
	names, err := r.StateNames("l")
	require.NoError(t, err)
	assert.Equal(t, []string{"late.x", "log"}, names)
	entries, err := os.ReadDir(s)
	require.NoError(t, err)
	assert.Empty(t, entries)
	r.Close()
	r.Close()
	_, err = r.ReadState("log")
	require.ErrorIs(t, err, ErrClosed)
}

// TestReplaceFiles: each file is replaced as a whole, and not while recovery would take the new
// content for another program's.
func TestReplaceFiles(t *testing.T) {
	dir := newList(t)
	dead, healed := false, false
	d, err := Open(t.Context(), dir, WithFS(before(func(s faultfs.Step) error {
		dead = dead || s.Op == "remove" && s.Path == filepath.Join(dir, "2.json")
		if dead && !healed {
			return faultfs.ErrFrozen
		}
		return nil
	})))
	require.NoError(t, err)
	one := File{Name: "1.json", Data: []byte("newer")}
	require.ErrorIs(t, d.Commit(t.Context(), replacing), ErrRecoveryRequired)
	require.ErrorIs(t, d.ReplaceFiles(one), ErrRecoveryRequired)
	healed = true
	require.NoError(t, d.Commit(t.Context(), Change{Creates: []File{{"5.json", []byte("five"), 0o644}}}))
	require.Equal(t, map[string]string{"1.json": "old 1.json", "2.json": "old 2.json", "5.json": "five"}, contents(t, dir),
		"it was rolled back first")

	old, err := os.Lstat(filepath.Join(dir, "1.json"))
	require.NoError(t, err)
	for _, name := range []string{"", "a/b", "..", "\xff"} {
		require.ErrorIs(t, d.ReplaceFiles(one, File{Name: name}), ErrName, name)
	}
	require.Equal(t, "old 1.json", contents(t, dir)["1.json"], "a wrong name changes nothing")
	require.NoError(t, d.ReplaceFiles(one, File{Name: "2.json", Data: []byte("newer, too")}))
	require.Equal(t, map[string]string{"1.json": "newer", "2.json": "newer, too", "5.json": "five"}, contents(t, dir))
	now, err := os.Lstat(filepath.Join(dir, "1.json"))
	require.NoError(t, err)
	require.False(t, os.SameFile(old, now))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "6.json/sub"), 0o755))
	require.Error(t, d.ReplaceFiles(File{Name: "6.json"}), "a directory is in its place")
	require.NoError(t, d.Close())
	require.ErrorIs(t, d.ReplaceFiles(one), ErrClosed)
}

// TestReplaceFilesLeavesOutWhatVanishes: another program deletes the file, which takes no lock. Only if
// that happens between the last look and the rename, the file is back.
func TestReplaceFilesLeavesOutWhatVanishes(t *testing.T) {
	left, back := 0, []string(nil)
	for n, done := 0, false; !done; n++ {
		dir, deleted, when := newList(t), false, ""
		path, begun := filepath.Join(dir, "1.json"), false
		d, err := Open(t.Context(), dir, WithFS(&faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(s faultfs.Step) error {
			if !begun {
				return nil
			}
			if left--; left == -1 {
				when, deleted = s.String(), true
				return os.Remove(path)
			}
			return nil
		}}))
		require.NoError(t, err)
		begun, left = true, n
		err = d.ReplaceFiles(File{Name: "1.json", Data: []byte("newer")})
		begun = false
		require.NoError(t, d.Close())
		if done = !deleted; done {
			require.NoError(t, err)
			require.Equal(t, "newer", contents(t, dir)["1.json"])
		} else if _, there := contents(t, dir)["1.json"]; there {
			back = append(back, when)
		}
		if deleted && err != nil {
			require.ErrorIs(t, err, fs.ErrNotExist, when) // it was replaced before
		}
	}
	require.Equal(t, []string{"rename S/tmp/1.json to 1.json"}, back)
}

// TestAReplacedFileKeepsItsPermissions; one in place of something that is not a file is the user's alone.
func TestAReplacedFileKeepsItsPermissions(t *testing.T) {
	dir := newList(t)
	require.NoError(t, os.Chmod(filepath.Join(dir, "1.json"), 0o640))
	require.NoError(t, os.Remove(filepath.Join(dir, "2.json")))
	require.NoError(t, os.Symlink("elsewhere", filepath.Join(dir, "2.json")))
	require.NoError(t, opened(t, dir).ReplaceFiles(File{Name: "1.json", Data: []byte("x")}, File{Name: "2.json", Data: []byte("y")}))
	for name, want := range map[string]fs.FileMode{"1.json": 0o640, "2.json": 0o600} {
		info, err := os.Lstat(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, want, info.Mode(), name)
	}
}
