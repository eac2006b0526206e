package txn

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// Other programs may delete files without a lock, as Claude Code does (fact 13), so a file
// may vanish between any two operations. These tests delete each file before each operation
// in turn.

// vanishing returns a file system that deletes path, a file or a whole directory, before
// the nth operation, counted from 0 and including those that read. It sets deleted if path
// existed.
func vanishing(path string, n int, deleted *bool) vfs.FS {
	return &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(faultfs.Step) error {
		if n--; n == -1 {
			_, err := os.Lstat(path)
			*deleted = err == nil
			return os.RemoveAll(path)
		}
		return nil
	}}
}

// operations returns the number of operations that do makes.
func operations(do func(vfs.FS) error) (n int, err error) {
	err = do(&faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(faultfs.Step) error { n++; return nil }})
	return n, err
}

// interruptedWorlds cover every branch of a recovery.
var interruptedWorlds = map[string]func(testing.TB, *world){
	"plain": func(testing.TB, *world) {},
	"staged files gone": func(t testing.TB, w *world) {
		require.NoError(t, os.RemoveAll(w.in(txnPrefix+w.id+"/new")))
	},
	"others wrote": func(t testing.TB, w *world) {
		w.write(t, "tasks/list/2.json", "another program's")
		require.NoError(t, os.Link(w.in(txnPrefix+w.id+"/old/3.json"), w.file("3.json")))
		require.NoError(t, os.WriteFile(w.file("3.json"), []byte("newer"), 0o640))
		require.NoError(t, os.WriteFile(w.file("4.json"), []byte("modified"), 0o640))
	},
	"a directory in the place of a file": func(t testing.TB, w *world) {
		require.NoError(t, os.Mkdir(w.file("2.json"), 0o755))
		w.write(t, "tasks/list/3.json", "old 3")
	},
}

func TestRecoveryAcceptsAFileThatVanishes(t *testing.T) {
	for title, make := range interruptedWorlds {
		fresh := func() *world {
			w := newWorld(t)
			make(t, w)
			return w
		}
		for how, call := range map[string]func(*world, vfs.FS) error{
			"Recover": func(w *world, files vfs.FS) error { _, err := Recover(t.Context(), w.d, WithFS(files)); return err },
			"Inspect": func(w *world, files vfs.FS) error { _, err := Inspect(t.Context(), w.d, WithFS(files)); return err },
		} {
			total, err := operations(func(files vfs.FS) error { return call(fresh(), files) })
			require.NoError(t, err)
			for n := range total {
				for _, name := range []string{"1.json", "2.json", "3.json", "4.json", "5.json", "."} {
					deleted, w := false, fresh()
					require.NoError(t, call(w, vanishing(w.file(name), n, &deleted)), "%s, %s: %s deleted ahead of operation %d", title, how, name, n)
					if how == "Recover" {
						w.requireBeforeBut(t, name, deleted, fmt.Sprintf("%s: %s deleted ahead of operation %d", title, name, n))
					}
				}
			}
		}
	}
}

// requireBeforeBut fails unless D is in the state before the transaction, except for what
// was deleted: see requireContentsBut.
func (w *world) requireBeforeBut(t *testing.T, name string, deleted bool, when string) {
	t.Helper()
	want := map[string]string{"1.json": "old 1", "2.json": "old 2", "3.json": "old 3"}
	if newer, err := os.ReadFile(w.file("3.json")); err == nil && string(newer) == "newer" {
		want["3.json"] = "newer"
	}
	requireContentsBut(t, w.d, want, name, deleted, when)
}

// requireContentsBut fails unless dir has the wanted files and S no journal. If deleted, the
// named file may be absent; if its name is ".", every file and dir itself may be.
func requireContentsBut(t *testing.T, dir string, want map[string]string, name string, deleted bool, when string) {
	t.Helper()
	require.NoFileExists(t, filepath.Join(stateDirOf(dir), journalName), when)
	got := map[string]string{}
	if _, err := os.Lstat(dir); err == nil || !deleted {
		got = contents(t, dir)
	}
	for file := range want {
		if _, there := got[file]; !there && deleted && (name == file || name == ".") {
			delete(want, file)
		}
	}
	require.Equal(t, want, got, when)
}

// TestRestoringIsTriedAgain: after the rollback has looked at a name in D, and before it
// links the deleted file there, another program creates a file of that name or deletes D.
func TestRestoringIsTriedAgain(t *testing.T) {
	for title, meddle := range map[string]func(w *world) error{
		"created": func(w *world) error { return os.WriteFile(w.file("2.json"), []byte("another program's"), 0o644) },
		"deleted": func(w *world) error { return os.RemoveAll(w.d) },
	} {
		w, meddled := newWorld(t), false
		r, err := Recover(t.Context(), w.d, WithFS(before(func(s faultfs.Step) error {
			if s.Op != "link" || s.To != w.file("2.json") || meddled {
				return nil
			}
			meddled = true
			return meddle(w)
		})))
		require.NoError(t, err, title)
		require.True(t, meddled, title)
		assert.Equal(t, []string{"2.json", "3.json"}, r.Restored, title)
		got := contents(t, w.d)
		assert.Equal(t, "old 2", got["2.json"], title)
		assert.Equal(t, "old 3", got["3.json"], title)
		assert.Len(t, r.Conflicts, map[string]int{"created": 1}[title], title)
	}
}

// TestCommitTakesAFileThatVanishesAsChanged: except for the file that another program
// deleted, D is in the state before, and the error is ErrChanged, or in the state after.
func TestCommitTakesAFileThatVanishesAsChanged(t *testing.T) {
	do := func(dir string, files vfs.FS) error {
		d, err := Open(t.Context(), dir, WithFS(files))
		if err != nil {
			return err
		}
		defer d.Close()
		return d.Commit(t.Context(), replacing)
	}
	total, err := operations(func(files vfs.FS) error { return do(newList(t), files) })
	require.NoError(t, err)
	outcomes := map[string]bool{}
	for n := range total {
		for _, name := range []string{"1.json", "2.json", "3.json", "4.json", "."} {
			deleted, dir := false, newList(t)
			when := fmt.Sprintf("%s deleted ahead of operation %d", name, n)
			err := do(dir, vanishing(filepath.Join(dir, name), n, &deleted))
			want := map[string]string{"1.json": "old 1.json", "3.json": "new 3.json", "4.json": "new 4.json"}
			if err != nil {
				require.ErrorIs(t, err, ErrChanged, when)
				require.NotErrorIs(t, err, ErrRecoveryRequired, when)
				want = map[string]string{"1.json": "old 1.json", "2.json": "old 2.json"}
			}
			outcomes[fmt.Sprintf("%s committed=%v", name, err == nil)] = true
			requireContentsBut(t, dir, want, name, deleted, when)
		}
	}
	assert.Equal(t, []string{
		". committed=false", ". committed=true", "1.json committed=true", "2.json committed=false", "2.json committed=true",
		"3.json committed=true", "4.json committed=true",
	}, slices.Sorted(maps.Keys(outcomes)))
}

// TestCommitNoticesThatTheDirectoryWasReplaced: another program removes D and creates it
// again while Commit creates files in it.
func TestCommitNoticesThatTheDirectoryWasReplaced(t *testing.T) {
	dir := newList(t)
	done := false
	err := commit(t, dir, replacing, WithFS(before(func(s faultfs.Step) error {
		if s.Op != "link" || s.To != filepath.Join(dir, "3.json") || done {
			return nil
		}
		done = true
		return errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755))
	})))
	require.ErrorIs(t, err, ErrChanged)
	require.Empty(t, contents(t, dir))
	require.NoError(t, commit(t, dir, Change{Creates: replacing.Creates}), "the next transaction uses the new directory")
}
