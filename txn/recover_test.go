package txn

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// requireRecovered fails unless Inspect returns the wanted report and changes nothing, and
// then Recover returns the same report, does what it says and nothing else, and leaves no journal. It fills in the fields of the
// report that describe the transaction.
func (w *world) requireRecovered(t *testing.T, want Report) {
	t.Helper()
	want.Outcome, want.ID = RolledBack, w.id
	all, list := tree(t, w.root, lockFileName), map[string]string{}
	if _, err := os.Lstat(w.d); err == nil {
		list = tree(t, w.d)
	}
	old := tree(t, w.in(txnPrefix+w.id+"/old"))
	seen := inspected(t, w.d)
	assert.WithinDuration(t, time.Now(), seen.Time, time.Minute)
	want.Time, want.Label = seen.Time, "a label"
	assert.Equal(t, want, seen, "inspected")
	assert.Equal(t, all, tree(t, w.root, lockFileName), "Inspect changed something")

	done := recovered(t, w.d)
	assert.Equal(t, want, done)
	for _, c := range want.Conflicts {
		if c.MovedTo != "" {
			assert.Equal(t, list[c.Name], tree(t, filepath.Dir(c.MovedTo))[filepath.Base(c.MovedTo)])
			maps.DeleteFunc(list, func(name, _ string) bool { return name == c.Name || strings.HasPrefix(name, c.Name+"/") })
		}
	}
	for _, name := range want.Removed {
		delete(list, name)
	}
	for _, name := range want.Restored {
		list[name] = old[name]
	}
	got := tree(t, w.d)
	list["."] = cmp.Or(list["."], got["."])
	assert.Equal(t, list, got, "names, inodes, modes, times and bytes")
	assert.NoFileExists(t, w.in(journalName))
	assert.NoDirExists(t, w.in(txnPrefix+w.id))
}

// quarantined returns the path in the quarantine to which a file is moved.
func (w *world) quarantined(name string) string {
	return w.in(quarantineName + "/" + w.id + "/" + name)
}

// file returns the path of a file in D. ID stands for that of the transaction.
func (w *world) file(name string) string {
	return filepath.Join(w.d, strings.ReplaceAll(name, "ID", w.id))
}

// TestRecover: the deleted files are back as the same files, and the created ones are gone. What other programs have done since is
// not undone, and what they wrote is not lost.
func TestRecover(t *testing.T) {
	const moved = "moved"
	undeleted := func(w *world) error { return os.Link(w.in(txnPrefix+w.id+"/old/2.json"), w.file("2.json")) }
	written := func(name, text string) func(*world) error {
		return func(w *world) error { return os.WriteFile(w.file(name), []byte(text), 0o640) }
	}
	replaced := func(name string) func(*world) error {
		return func(w *world) error { return replaceFile(w.file(name), "another program's") }
	}
	both := []string{"2.json", "3.json"}
	for name, c := range map[string]struct {
		since []func(w *world) error
		want  Report
	}{
		"nothing":                    {nil, Report{Restored: both, Removed: []string{"4.json", "5.json"}}},
		"D was removed":              {[]func(*world) error{func(w *world) error { return os.RemoveAll(w.d) }}, Report{Restored: both}},
		"a file was not deleted yet": {[]func(*world) error{undeleted}, Report{Restored: both[1:], Removed: []string{"4.json", "5.json"}}},
		"that file was written": {[]func(*world) error{undeleted, written("2.json", "newer")}, Report{Restored: both[1:],
			Removed: []string{"4.json", "5.json"}, Conflicts: []Conflict{{Name: "2.json", Why: whyNewer}}}},
		"a deleted file was restored": {[]func(*world) error{written("2.json", "old 2")}, Report{Restored: both[1:],
			Removed: []string{"4.json", "5.json"}}},
		"a file is in the place of a deleted one": {[]func(*world) error{written("2.json", "another program's")}, Report{Restored: both,
			Removed: []string{"4.json", "5.json"}, Conflicts: []Conflict{{"2.json", moved, whyReplaced}}}},
		"a backup was written, which is the only version": {[]func(*world) error{written("../.list.fsmtx/txn-ID/old/2.json", "other")},
			Report{Restored: both, Removed: []string{"4.json", "5.json"}, Conflicts: []Conflict{{Name: "2.json", Why: whyWritten}}}},
		"a created file was modified": {[]func(*world) error{written("4.json", "modified")}, Report{Restored: both,
			Removed: []string{"5.json"}, Conflicts: []Conflict{{"4.json", moved, whyModified}}}},
		"a created file was replaced": {[]func(*world) error{replaced("4.json")}, Report{Restored: both,
			Removed: []string{"5.json"}, Conflicts: []Conflict{{"4.json", "", whyForeign}}}},
		"there are no staged files": {[]func(*world) error{replaced("5.json"), func(w *world) error {
			return os.RemoveAll(w.in(txnPrefix + w.id + "/new"))
		}}, Report{Restored: both, Conflicts: []Conflict{{"4.json", moved, whyCopied}, {"5.json", "", whyForeign}}}},
		"D and S are copies": {[]func(*world) error{replaced("5.json"), func(w *world) error {
			txn := w.in(txnPrefix + w.id)
			return errors.Join(os.Rename(txn, w.in("copy")), os.CopyFS(txn, os.DirFS(w.in("copy"))), os.Chmod(txn, 0o700),
				os.Chmod(txn+"/new", 0o700), os.Chmod(txn+"/old", 0o700))
		}}, Report{Restored: both, Conflicts: []Conflict{{"4.json", moved, whyCopied}, {"5.json", "", whyForeign}}}},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			w := newWorld(t)
			for _, do := range c.since {
				require.NoError(t, do(w))
			}
			for i, conflict := range c.want.Conflicts {
				if conflict.MovedTo == moved {
					c.want.Conflicts[i].MovedTo = w.quarantined(conflict.Name)
				}
			}
			w.requireRecovered(t, c.want)
		})
	}
}

func TestRecoverWithoutAStateDirectoryCreatesNothing(t *testing.T) {
	dir := newList(t)
	for _, call := range []string{"Recover", "Inspect"} {
		before := tree(t, filepath.Dir(dir))
		require.NoError(t, openers[call](t.Context(), dir))
		require.NoError(t, openers[call](t.Context(), filepath.Join(dir, "absent")))
		require.Equal(t, before, tree(t, filepath.Dir(dir)))
	}
	r := recovered(t, dir)
	assert.Equal(t, Report{Outcome: Clean}, r)
	r = inspected(t, dir)
	assert.Equal(t, Report{Outcome: Clean}, r)
}

func TestJournalWithoutALockFileIsInspected(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.Remove(w.in(lockName)))
	before := tree(t, w.root)
	r := inspected(t, w.d)
	assert.Equal(t, RolledBack, r.Outcome)
	assert.Equal(t, before, tree(t, w.root), "Inspect creates no lock file")
}

// TestInspectLocksTheStateDirectory, so that it does not see a transaction in
// progress.
func TestInspectLocksTheStateDirectory(t *testing.T) {
	w := newWorld(t)
	files := &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(s faultfs.Step) error {
		if s.Op == "read" {
			_, err := Open(ended(errTest), w.d)
			require.ErrorIs(t, err, ErrLocked)
		}
		return nil
	}}
	for range 2 {
		inspected(t, w.d, WithFS(files))
	}
	recovered(t, w.d)
}

// TestQuarantineReplacesNothing: the quarantine has two files of that name from earlier
// recoveries, and the link that an interrupted attempt made.
func TestQuarantineReplacesNothing(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.WriteFile(w.file("4.json"), []byte("modified"), 0o644))
	require.NoError(t, os.MkdirAll(filepath.Dir(w.quarantined("4.json")), 0o700))
	require.NoError(t, os.WriteFile(w.quarantined("4.json"), []byte("earlier"), 0o600))
	require.NoError(t, os.WriteFile(w.quarantined("4.json.1"), []byte("earlier too"), 0o600))
	conflict := Conflict{"4.json", w.quarantined("4.json.2"), whyModified}
	require.NoError(t, os.Link(w.file("4.json"), conflict.MovedTo)) // the attempt
	w.requireRecovered(t, Report{Restored: []string{"2.json", "3.json"}, Removed: []string{"5.json"}, Conflicts: []Conflict{conflict}})
	assert.Equal(t, map[string]string{"4.json": "earlier", "4.json.1": "earlier too", "4.json.2": "modified"},
		contents(t, filepath.Dir(conflict.MovedTo)))
}

func TestQuarantineTakesADirectory(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.MkdirAll(w.file("2.json/sub"), 0o755))
	recovered(t, w.d)
	assert.DirExists(t, w.quarantined("2.json/sub"))
	info, err := os.Stat(filepath.Dir(w.quarantined("2.json")))
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o700), info.Mode().Perm())
	assert.Equal(t, w.before, tree(t, w.d))
}

// TestQuarantinedFileIsDurableBeforeItsNameIsRemoved checks the order of the syncs, also of the next
// attempt after one that died before the first of them.
func TestQuarantinedFileIsDurableBeforeItsNameIsRemoved(t *testing.T) {
	for _, died := range []bool{false, true} {
		w := newWorld(t)
		require.NoError(t, os.WriteFile(w.file("4.json"), []byte("modified"), 0o644))
		if died {
			_, err := Recover(t.Context(), w.d, WithFS(failing(errTest, func(s faultfs.Step) bool { return s.Op == "sync" })))
			require.ErrorIs(t, err, errTest)
			require.FileExists(t, w.quarantined("4.json"))
		}
		var synced []string
		files := before(func(s faultfs.Step) error {
			if s.Op == "sync" {
				synced = append(synced, s.Path)
			}
			if s.Op == "remove" && s.Path == w.file("4.json") {
				return errTest
			}
			return nil
		})
		_, err := Recover(t.Context(), w.d, WithFS(files))
		require.ErrorIs(t, err, errTest)
		assert.Equal(t, []string{w.quarantined("4.json"), filepath.Dir(w.quarantined("4.json")), w.in(quarantineName), w.s}, synced)
	}
}

// TestRecoverySyncsTheDirectoryBeforeItRemovesTheJournal, and the state directory
// before it removes the backup links.
func TestRecoverySyncsTheDirectoryBeforeItRemovesTheJournal(t *testing.T) {
	w := newWorld(t)
	var steps []string
	_, err := Recover(t.Context(), w.d, WithFS(before(func(s faultfs.Step) error {
		steps = append(steps, s.String())
		return nil
	})))
	require.NoError(t, err)
	i := slices.Index(steps, "sync list")
	assert.Equal(t, []string{"remove 5.json", "sync list", "remove S/journal", "sync S", "remove S/txn/new/4.json"}, steps[i-1:i+4])
}

func TestErrorsOfARollbackNameTheFile(t *testing.T) {
	for want, match := range map[string]func(w *world, s faultfs.Step) bool{
		"restore 2.json: ": func(w *world, s faultfs.Step) bool { return s.Op == "link" && s.To == w.file("2.json") },
		"restore 3.json: ": func(w *world, s faultfs.Step) bool { return s.Op == "lstat" && s.Path == w.file("3.json") },
		"remove 4.json: ":  func(w *world, s faultfs.Step) bool { return s.Op == "remove" && s.Path == w.file("4.json") },
		"remove 5.json: ":  func(w *world, s faultfs.Step) bool { return s.Op == "read" && s.Path == w.file("5.json") },
	} {
		w := newWorld(t)
		_, err := Recover(t.Context(), w.d, WithFS(failing(syscall.EIO, func(s faultfs.Step) bool { return match(w, s) })))
		require.ErrorIs(t, err, syscall.EIO)
		require.ErrorContains(t, err, want)
		assert.FileExists(t, w.in(journalName), "the journal stays for the next recovery")
		recovered(t, w.d)
		assert.Equal(t, w.before, tree(t, w.d))
	}
}

// TestRecoverySurvivesEveryFault makes each step of a recovery fail once.
func TestRecoverySurvivesEveryFault(t *testing.T) {
	for n := 0; ; n++ {
		w := newWorld(t)
		w.write(t, "tasks/list/2.json", "another program's")
		require.NoError(t, os.WriteFile(w.file("4.json"), []byte("modified"), 0o644))
		var failed *faultfs.Step
		r, err := Recover(t.Context(), w.d, WithFS(faultfs.Fail(vfs.OS{}, n, syscall.EIO, func(s faultfs.Step) { failed = &s })))
		if failed == nil {
			require.NoError(t, err)
			require.Greater(t, n, 50, "few steps")
			return
		}
		if err == nil {
			require.Equal(t, RolledBack, r.Outcome, "step %d, %s", n, failed)
		}
		recovered(t, w.d)
		require.Equal(t, w.before, tree(t, w.d), "step %d, %s", n, failed)
		require.Equal(t, "another program's", contents(t, filepath.Dir(w.quarantined("x")))["2.json"])
		require.Equal(t, "modified", contents(t, filepath.Dir(w.quarantined("x")))["4.json"])
		_ = os.RemoveAll(w.root)
	}
}

func TestSetAsideContinuesAfterAFault(t *testing.T) {
	w := newWorld(t)
	w.setJournal(t, nil)
	moved, err := SetAside(t.Context(), w.d, WithFS(failing(syscall.EIO, func(s faultfs.Step) bool {
		return s.Op == "remove" && s.Path == w.in(journalName)
	})))
	require.ErrorIs(t, err, syscall.EIO)
	require.Len(t, moved, 2)
	require.DirExists(t, moved[0])
	require.DirExists(t, w.in(txnPrefix+w.id), "nothing is removed before the journal")
	moved, err = SetAside(t.Context(), w.d)
	require.NoError(t, err)
	require.Len(t, moved, 2)
	require.NoFileExists(t, w.in(journalName))
	require.NoDirExists(t, w.in(txnPrefix+w.id))
}

// TestADirectoryInThePlaceOfAJournalIsSetAside with what is in it.
func TestADirectoryInThePlaceOfAJournalIsSetAside(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.Remove(w.in(journalName)))
	w.write(t, "tasks/.list.fsmtx/journal/in/it", "text")
	w.requireSetAside(t)
	found, err := filepath.Glob(w.in(quarantineName) + "/*/journal/in/it")
	require.NoError(t, err)
	require.Len(t, found, 1)
}

// TestSetAsideWithoutLinks: they are not needed to read the journal and what it names.
func TestSetAsideWithoutLinks(t *testing.T) {
	w := newWorld(t)
	w.setJournal(t, nil)
	moved, err := SetAside(t.Context(), w.d, WithFS(failing(syscall.EPERM, func(s faultfs.Step) bool { return s.Op == "link" })))
	require.NoError(t, err)
	require.Len(t, moved, 2)
	require.Equal(t, []string{".", "2.json", "3.json"}, names(t, filepath.Join(moved[0], backupName)))
	require.NoFileExists(t, w.in(journalName))
}

func TestSetAsideLeavesCommittedTransactions(t *testing.T) {
	w := newWorld(t)
	recovered(t, w.d)
	require.NoError(t, commit(t, w.d, create("9.json")))
	w.setJournal(t, nil)
	moved, err := SetAside(t.Context(), w.d)
	require.NoError(t, err)
	require.Len(t, moved, 1, "only the journal")
	require.Len(t, history(t, w.d), 1)
}

func TestSetAsideReportsFaults(t *testing.T) {
	for name, match := range map[string]func(w *world, s faultfs.Step) bool{
		"quarantine": func(w *world, s faultfs.Step) bool { return s.Op == "mkdir" && s.Path == w.in(quarantineName) },
		"list":       func(w *world, s faultfs.Step) bool { return s.Op == "readdir" && s.Path == w.s },
		"sync":       func(w *world, s faultfs.Step) bool { return s.Op == "sync" },
	} {
		w := newWorld(t)
		w.setJournal(t, nil)
		_, err := SetAside(t.Context(), w.d, WithFS(failing(syscall.EIO, func(s faultfs.Step) bool { return match(w, s) })))
		require.ErrorIs(t, err, syscall.EIO, name)
	}
}

// TestJournalThatCannotBeCheckedIsNeitherTrustedNorSetAside: an I/O error does not show that
// the journal is invalid.
func TestJournalThatCannotBeCheckedIsNeitherTrustedNorSetAside(t *testing.T) {
	for _, step := range []string{"lstat", "lstat /new", "lstat /old", "readdir /new", "readdir /old"} {
		w := newWorld(t)
		before := tree(t, w.root, lockFileName)
		op, path, _ := strings.Cut(step, " ")
		files := failing(syscall.EIO, func(s faultfs.Step) bool { return s.Op == op && s.Path == w.in(txnPrefix+w.id+path) })
		for name, call := range openers {
			err := call(t.Context(), w.d, WithFS(files))
			require.ErrorIs(t, err, syscall.EIO, "%s %s", name, step)
			require.False(t, as[*JournalError](err), "%s %s", name, step)
		}
		require.Equal(t, before, tree(t, w.root, lockFileName))
	}
}

func TestConflictSaysWhereTheFileIs(t *testing.T) {
	assert.Equal(t, "1.json: why; it is now /q/1.json", Conflict{"1.json", "/q/1.json", "why"}.String())
	assert.Equal(t, "1.json: why", Conflict{"1.json", "", "why"}.String())
}

func TestDirectoryThatCannotBeCreatedIsReported(t *testing.T) {
	dir := newList(t)
	_, err := Open(t.Context(), filepath.Join(dir, "1.json", "list"))
	require.ErrorIs(t, err, syscall.ENOTDIR)
	files := failing(fs.ErrPermission, func(s faultfs.Step) bool { return s.Op == "mkdir" && s.Path == filepath.Join(dir, "a") })
	_, err = Open(t.Context(), dir+"/a/b/list", WithFS(files))
	require.True(t, errors.Is(err, fs.ErrPermission))
	require.NoDirExists(t, dir+"/a")
}

func TestTimeInTheJournalIsUTC(t *testing.T) {
	w := newWorld(t)
	j, err := parseJournal(w.journal, "../list")
	require.NoError(t, err)
	assert.Equal(t, time.UTC, j.Time.Location())
	assert.False(t, j.Time.IsZero())
}

// TestADirectoryThatIsCreatedAgainIsSynced: the journal is removed only once the names in D
// and the name of D itself are durable.
func TestADirectoryThatIsCreatedAgainIsSynced(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.RemoveAll(w.d))
	var steps []string
	_, err := Recover(t.Context(), w.d, WithFS(before(func(s faultfs.Step) error {
		if s.Op == "sync" || s.Op == "remove" && filepath.Base(s.Path) == journalName {
			steps = append(steps, s.String())
		}
		return nil
	})))
	require.NoError(t, err)
	assert.Equal(t, []string{"sync list", "sync tasks", "remove S/journal", "sync S"}, steps)
}

// TestAfterADeathSIsSyncedFirst: the last process may have removed or renamed the journal without
// having synced S. Its text in the lock file shows that it has died.
func TestAfterADeathSIsSyncedFirst(t *testing.T) {
	dir := newList(t)
	synced := func() (n int) {
		_, err := Recover(t.Context(), dir, WithFS(before(func(s faultfs.Step) error {
			if s.Op == "sync" && s.Path == stateDirOf(dir) {
				n++
			}
			return nil
		})))
		require.NoError(t, err)
		return n
	}
	require.NoError(t, commit(t, dir, replacing))
	require.Zero(t, synced(), "the last process has closed S")
	d, err := Open(t.Context(), dir)
	require.NoError(t, err)
	d.unlock() // as the death of the process does
	require.Equal(t, 1, synced())
	require.Zero(t, synced())
	d, err = Open(t.Context(), dir)
	require.NoError(t, err)
	d.unlock()
	_, err = Recover(t.Context(), dir, WithFS(failing(syscall.EIO, func(s faultfs.Step) bool { return s.Op == "sync" })))
	require.ErrorIs(t, err, syscall.EIO, "nothing is answered without it")
	require.Equal(t, 1, synced())
}
