package txn

import (
	"bytes"
	"errors"
	"fmt"
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

func history(t testing.TB, dir string) []Entry {
	t.Helper()
	d, err := Open(t.Context(), dir, WithHistory(1<<20))
	require.NoError(t, err)
	defer d.Close()
	h, err := d.History()
	require.NoError(t, err)
	return h
}

func TestHistoryKeepsTheDeletedFiles(t *testing.T) {
	dir := newList(t)
	deleted := tree(t, dir)["2.json"]
	earliest := time.Now()
	require.NoError(t, commit(t, dir, replacing))
	h := history(t, dir)
	require.Len(t, h, 1)
	assert.Equal(t, Entry{
		ID: h[0].ID, Number: 1, Time: h[0].Time, Label: "a label", Record: "a record",
		Created: []EntryFile{{"3.json", 10, digest([]byte("new 3.json")), 0o644}, {"4.json", 10, digest([]byte("new 4.json")), 0o600}},
		Deleted: []EntryFile{{"2.json", 10, digest([]byte("old 2.json")), 0o640}},
		Backups: filepath.Join(stateDirOf(dir), "txn-"+h[0].ID, "old"),
	}, h[0])
	assert.False(t, h[0].Time.Before(earliest.Round(0)))
	assert.Equal(t, map[string]string{".": tree(t, h[0].Backups)["."], "2.json": deleted}, tree(t, h[0].Backups))
}

func TestHistoryHasTheLastTransactionsOldestFirst(t *testing.T) {
	for _, c := range []struct {
		opts []Option
		want int
	}{{nil, DefaultHistory}, {[]Option{WithHistory(3)}, 3}, {[]Option{WithHistory(1)}, 1}, {[]Option{WithHistory(0)}, 0},
		{[]Option{WithHistory(-1)}, 0}} {
		dir := newList(t)
		var want []string
		for i := range DefaultHistory + 2 {
			label := fmt.Sprint(i)
			require.NoError(t, commit(t, dir, Change{Creates: []File{{label, nil, 0o644}}, Deletes: []string{nameOf(i - 1)},
				Label: label}, c.opts...))
			want = append(want, label)
		}
		if c.want == 0 {
			assert.Equal(t, []string{".", lockName}, names(t, stateDirOf(dir)), "the transaction itself prunes")
		}
		var got []string
		for _, e := range history(t, dir) {
			got = append(got, e.Label)
			assert.Equal(t, []string{".", e.Deleted[0].Name}, names(t, e.Backups))
		}
		if c.want == 0 {
			assert.Equal(t, []string{".", lockName}, names(t, stateDirOf(dir)), "nothing is kept")
		}
		assert.Equal(t, want[len(want)-c.want:], append([]string{}, got...))
	}
}

// nameOf returns the file that transaction i created, or a file of newList for -1.
func nameOf(i int) string {
	if i < 0 {
		return "2.json"
	}
	return fmt.Sprint(i)
}

// TestHistoryHasTransactionsThatCannotBeRead, such as one of a newer version: a caller that knows of them can say so, and must not
// conclude that they do not exist.
func TestHistoryHasTransactionsThatCannotBeRead(t *testing.T) {
	for reason, spoil := range map[error]func(path string) error{
		ErrJournalVersion: func(path string) error {
			data, err := os.ReadFile(path)
			newer, found := bytes.CutPrefix(data, []byte("fsmtx-journal 4 "))
			require.True(t, found)
			return errors.Join(err, os.WriteFile(path, append([]byte("fsmtx-journal 5 "), newer...), 0o600))
		},
		ErrJournalTorn:    func(path string) error { return os.WriteFile(path, []byte("fsmtx"), 0o600) },
		vfs.ErrNotRegular: func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		ErrJournalInvalid: func(path string) error { // Backups would be the directory of another transaction
			data, err := os.ReadFile(filepath.Join(filepath.Dir(path), "another"))
			return errors.Join(err, os.WriteFile(path, data, 0o600))
		},
	} {
		dir := newList(t)
		s := stateDirOf(dir)
		require.NoError(t, commit(t, dir, create("another")))
		require.NoError(t, os.Rename(filepath.Join(s, donePrefix+history(t, dir)[0].ID), filepath.Join(s, "another")))
		require.NoError(t, os.WriteFile(filepath.Join(s, donePrefix+"UPPER"), []byte("fsmtx"), 0o600))
		require.NoError(t, commit(t, dir, replacing))
		id := history(t, dir)[0].ID
		path := filepath.Join(s, donePrefix+id)
		require.NoError(t, spoil(path))
		h := history(t, dir)
		require.Len(t, h, 1)
		require.ErrorIs(t, h[0].Err, reason)
		require.ErrorContains(t, h[0].Err, path+": ")
		assert.Equal(t, Entry{ID: id, Number: 1, Err: h[0].Err}, h[0])
		require.NoError(t, commit(t, dir, create("9.json")), "Commit works nevertheless")
		require.Len(t, history(t, dir), 2)
	}
}

// TestHistoryHasATransactionOnWhichTheDiskFails, with ENOENT, too: the journal is listed, and still there.
func TestHistoryHasATransactionOnWhichTheDiskFails(t *testing.T) {
	dir := newList(t)
	require.NoError(t, commit(t, dir, replacing))
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.EACCES, syscall.EMFILE, syscall.ENOENT} {
		all, err := ReadHistory(dir, WithFS(failing(errno, func(s faultfs.Step) bool { return s.Op == "read" })))
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.ErrorIs(t, all[0].Err, errno)
	}
}

// TestTidyRemovesWhatInterruptedTransactionsLeft: one was interrupted after its commit, the
// other before it had written its journal.
func TestTidyRemovesWhatInterruptedTransactionsLeft(t *testing.T) {
	dir := newList(t)
	require.NoError(t, commit(t, dir, replacing))
	committed := history(t, dir)[0]
	s := stateDirOf(dir)
	require.NoError(t, os.MkdirAll(filepath.Join(s, "txn-"+committed.ID, "new", "sub"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(s, "txn-"+committed.ID, "new", "sub", "3.json"), nil, 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(s, "txn-"+otherID, "new"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(s, tempName, "file"), 0o700))
	want := Report{Outcome: Committed, ID: committed.ID, Time: committed.Time, Label: committed.Label}

	r := inspected(t, dir)
	assert.Equal(t, want, r)
	r = recovered(t, dir)
	assert.Equal(t, want, r)
	assert.Equal(t, []string{".", "done-" + committed.ID, "lock", "txn-" + committed.ID, "txn-" + committed.ID + "/old",
		"txn-" + committed.ID + "/old/2.json"}, names(t, s))
	r = recovered(t, dir)
	assert.Equal(t, Report{Outcome: Clean}, r)
}

// TestRemoveTreeDoesNotFollowLinks uses a file system that does not hold S open, so that only
// removeTree prevents it.
func TestRemoveTreeDoesNotFollowLinks(t *testing.T) {
	w := newWorld(t)
	before := tree(t, w.path("outside"))
	d := newDir(newOptions(nil), w.d, w.s)
	w.plant(t, "TXN/new/4.json link dir")
	w.plant(t, "OTHER link .")
	d.discard(w.id)
	d.discard(otherID)
	assert.NoDirExists(t, w.in(txnPrefix+w.id))
	assert.Equal(t, before, tree(t, w.path("outside")))
}

// TestCommitSucceedsWhenTidyFails: S cannot be listed any more once the names are durable.
func TestCommitSucceedsWhenTidyFails(t *testing.T) {
	dir := newList(t)
	renamed, committed := false, false
	files := &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(s faultfs.Step) error {
		if committed {
			return syscall.EIO
		}
		renamed = renamed || s.Op == "rename" && filepath.Base(s.Path) == journalName
		committed = renamed && s.Op == "sync"
		return nil
	}}
	require.NoError(t, commit(t, dir, replacing, WithFS(files)))
	r := recovered(t, dir)
	assert.Equal(t, Committed, r.Outcome, "the next recovery tidies S")
	assert.Contains(t, contents(t, dir), "3.json")
}

// TestIDsAreUniqueAndSortByNumber: history is in the order of ids.
func TestIDsAreUniqueAndSortByNumber(t *testing.T) {
	at := time.Date(2026, 11, 21, 20, 0, 0, 5, time.FixedZone("", 3600))
	first := newID(1, at)
	assert.Regexp(t, `^n0000000001-20261121t190000-000000005-[0-9a-f]{8}$`, first)
	assert.True(t, isID(first))
	assert.NotEqual(t, first, newID(1, at))
	var ids []string
	for range 12 {
		at = at.Add(-time.Hour)
		ids = append(ids, newID(nextNumber(ids), at))
	}
	assert.True(t, slices.IsSorted(ids), "%q", ids)
	assert.EqualValues(t, 13, nextNumber(ids))
	assert.Less(t, newID(maxNumber-1, at), newID(nextNumber([]string{newID(maxNumber-1, at)}), at))
	assert.EqualValues(t, maxNumber, nextNumber([]string{newID(maxNumber, at)}))
}

// TestHistoryIsInTheOrderOfCommits, not in that of the times in the ids: the clock may be
// set back.
func TestHistoryIsInTheOrderOfCommits(t *testing.T) {
	dir := newList(t)
	for _, label := range []string{"a", "b", "c"} {
		require.NoError(t, commit(t, dir, Change{Label: label}))
	}
	s := stateDirOf(dir)
	for i, e := range history(t, dir) { // as if the clock had run backwards, first an hour ahead
		body := readBody(t, filepath.Join(s, donePrefix+e.ID))
		id := newID(int64(i+1), time.Now().Add(time.Hour*time.Duration(1-i)))
		sealed := sealed(strings.Replace(body, e.ID, id, 1))
		require.NoError(t, os.Remove(filepath.Join(s, donePrefix+e.ID)))
		require.NoError(t, os.Rename(filepath.Join(s, txnPrefix+e.ID), filepath.Join(s, txnPrefix+id)))
		require.NoError(t, os.WriteFile(filepath.Join(s, donePrefix+id), sealed, 0o600))
	}
	require.NoError(t, commit(t, dir, Change{Label: "d"}))
	assert.Equal(t, []string{"a", "b", "c", "d"}, labels(history(t, dir)))
	require.NoError(t, commit(t, dir, Change{Label: "e"}, WithHistory(2)))
	assert.Equal(t, []string{"d", "e"}, labels(history(t, dir)), "the oldest are pruned")
}

func readBody(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	_, body, _ := strings.Cut(string(data), "\n")
	return body
}

func labels(entries []Entry) []string {
	all := []string{}
	for _, e := range entries {
		all = append(all, e.Label)
	}
	return all
}

func TestWithKeepKeepsWhatHistoryWouldPrune(t *testing.T) {
	dir := newList(t)
	keep := WithKeep(func(history []Entry) map[string][]string {
		kept := map[string][]string{}
		for _, e := range history {
			if e.Record == "keep" {
				kept[e.ID] = nil
			}
			if e.Label == "2" {
				kept[e.ID] = []string{"1"}
			}
		}
		return kept
	})
	for i, record := range []string{"keep", "", "keep", "", "", ""} {
		require.NoError(t, commit(t, dir, Change{Creates: []File{{fmt.Sprint(i), nil, 0o644}}, Deletes: []string{nameOf(i - 1)},
			Label: fmt.Sprint(i), Record: record}, WithHistory(2), keep))
	}
	h := history(t, dir)
	assert.Equal(t, []string{"0", "2", "4", "5"}, labels(h))
	assert.Equal(t, []string{".", "2.json"}, names(t, h[0].Backups))
	assert.Equal(t, []string{"."}, names(t, h[1].Backups), "the file that keep has named")

	// A journal that cannot be read because of the disk is kept, an invalid one is not. Opening alone prunes nothing.
	path := filepath.Join(stateDirOf(dir), donePrefix+h[0].ID)
	more := func(label string, opts ...Option) {
		require.NoError(t, commit(t, dir, Change{Creates: []File{{label, nil, 0o644}}, Label: label}, append(opts, WithHistory(2))...))
	}
	unreadable := failing(syscall.EIO, func(s faultfs.Step) bool { return s.Op == "read" && s.Path == path })
	more("6", keep, WithFS(unreadable))
	assert.Equal(t, []string{"0", "2", "5", "6"}, labels(history(t, dir)))
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	recovered(t, dir, WithHistory(2), keep)
	assert.FileExists(t, path)
	more("7", keep)
	assert.NoFileExists(t, path)
	assert.Equal(t, []string{"2", "6", "7"}, labels(history(t, dir)))
	more("8")
	assert.Equal(t, []string{"7", "8"}, labels(history(t, dir)))
}

// TestReadHistoryTakesNoLock and creates nothing.
func TestReadHistoryTakesNoLock(t *testing.T) {
	dir := newList(t)
	before := tree(t, filepath.Dir(dir))
	h, err := ReadHistory(dir)
	require.NoError(t, err)
	assert.Empty(t, h)
	h, err = ReadHistory(filepath.Join(dir, "absent"))
	require.NoError(t, err)
	assert.Empty(t, h)
	assert.Equal(t, before, tree(t, filepath.Dir(dir)))

	require.NoError(t, commit(t, dir, replacing))
	want := history(t, dir)
	opened(t, dir)
	before = tree(t, filepath.Dir(dir))
	h, err = ReadHistory(dir)
	require.NoError(t, err)
	assert.Equal(t, want, h)
	assert.Equal(t, before, tree(t, filepath.Dir(dir)))
}

// replaced returns a list in which a transaction has replaced 2.json by 3.json and
// 4.json, the tree of the list before, and the change that takes that back.
func replaced(t *testing.T) (dir string, before map[string]string, undo Change) {
	dir = newList(t)
	before = tree(t, dir)
	require.NoError(t, commit(t, dir, replacing))
	undo = Change{Restores: []Restore{{history(t, dir)[0].ID, "2.json"}}, Deletes: []string{"3.json", "4.json"}, Label: "undo"}
	return dir, before, undo
}

func TestRestoreBringsBackTheSameFile(t *testing.T) {
	dir, before, undo := replaced(t)
	undo.Creates = []File{{"5.json", []byte("5"), 0o644}}
	require.NoError(t, commit(t, dir, undo))
	now := tree(t, dir)
	assert.Equal(t, before["2.json"], now["2.json"], "name, inode, mode, time and bytes")
	assert.Equal(t, []string{".", "1.json", "2.json", "5.json"}, names(t, dir))

	h := history(t, dir)
	require.Len(t, h, 2)
	assert.Equal(t, []EntryFile{{"5.json", 1, digest([]byte("5")), 0o644}, {"2.json", 10, digest([]byte("old 2.json")), 0o640}}, h[1].Created)
	assert.Equal(t, []string{".", "3.json", "4.json"}, names(t, h[1].Backups))
	assert.Equal(t, []string{"."}, names(t, h[0].Backups), "what is written to the file in place must not change a backup")
}

// TestARestoredFileIsSyncedBeforeItIsLinked: another program may have written to it after it was deleted.
func TestARestoredFileIsSyncedBeforeItIsLinked(t *testing.T) {
	dir, _, undo := replaced(t)
	var steps []string
	d, err := Open(t.Context(), dir, WithFS(before(func(s faultfs.Step) error {
		if strings.Contains(s.Path, filepath.Join(backupName, "2.json")) {
			steps = append(steps, s.Op)
		}
		return nil
	})))
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, d.Commit(t.Context(), undo))
	require.Subset(t, steps, []string{"sync", "link"})
	assert.Less(t, slices.Index(steps, "sync"), slices.Index(steps, "link"), steps)
}

// TestRestoreIsAllOrNothing fails each step of a transaction that restores, or stops before it.
func TestRestoreIsAllOrNothing(t *testing.T) {
	for _, dies := range []bool{false, true} {
		for n, met := 0, true; met; n++ {
			dir, _, undo := replaced(t)
			before, backups, left := tree(t, dir), tree(t, history(t, dir)[0].Backups), n
			met = false
			err := func() error {
				d, err := Open(t.Context(), dir, WithFS(&faultfs.Steps{FS: vfs.OS{}, Reads: !dies, Before: func(faultfs.Step) error {
					if left--; left == -1 || left < 0 && dies {
						met = true
						return syscall.EIO
					}
					return nil
				}}))
				if err != nil {
					return err
				}
				defer d.Close()
				return d.Commit(t.Context(), undo)
			}()
			if err != nil {
				require.ErrorIs(t, err, syscall.EIO)
				recovered(t, dir)
			}
			if h := history(t, dir); len(h) == 1 {
				require.Equal(t, before, tree(t, dir), "step %d", n)
				require.Equal(t, backups, tree(t, h[0].Backups), "step %d", n)
			} else {
				require.Equal(t, []string{".", "1.json", "2.json"}, names(t, dir), "step %d", n)
			}
		}
	}
}

// TestRestoreOfAFileThatWasWrittenSince: another program may have had the file open
// when it was deleted.
func TestRestoreOfAFileThatWasWrittenSince(t *testing.T) {
	dir, _, undo := replaced(t)
	backup := filepath.Join(history(t, dir)[0].Backups, "2.json")
	require.NoError(t, os.WriteFile(backup, []byte("written since"), 0o640))
	require.NoError(t, commit(t, dir, undo))
	assert.Equal(t, "written since", contents(t, dir)["2.json"])
	assert.EqualValues(t, 13, history(t, dir)[1].Created[0].Size)
}

func TestRestoreIsRefused(t *testing.T) {
	dir, _, undo := replaced(t)
	id := undo.Restores[0].ID
	s := stateDirOf(dir)
	before := tree(t, dir)
	for title, c := range map[string]struct {
		restore Restore
		plant   func()
		is      error
	}{
		"of an unknown transaction": {Restore{otherID, "2.json"}, nil, ErrNotKept},
		"of no id":                  {Restore{"", "2.json"}, nil, ErrNotKept},
		"of an id that leads out":   {Restore{"x/../" + id, "2.json"}, nil, ErrNotKept},
		"of a file not deleted":     {Restore{id, "1.json"}, nil, ErrNotKept},
		"of a file created":         {Restore{id, "5.json"}, nil, ErrNotKept},
		"of a path":                 {Restore{id, "../old/2.json"}, nil, ErrName},
		"of a link": {Restore{id, "l"}, func() {
			require.NoError(t, os.Symlink("2.json", filepath.Join(s, "txn-"+id, "old", "l")))
		}, vfs.ErrNotRegular},
		"of a directory": {Restore{id, "d"}, func() {
			require.NoError(t, os.Mkdir(filepath.Join(s, "txn-"+id, "old", "d"), 0o700))
		}, vfs.ErrNotRegular},
		"by a link to the backups": {Restore{otherID + "1", "2.json"}, func() {
			require.NoError(t, os.WriteFile(filepath.Join(s, "done-"+otherID+"1"), nil, 0o600))
			require.NoError(t, os.Symlink("txn-"+id, filepath.Join(s, "txn-"+otherID+"1")))
		}, ErrUntrustedDir},
	} {
		if c.plant != nil {
			c.plant()
		}
		bad := undo
		bad.Restores = []Restore{c.restore}
		err := commit(t, dir, bad)
		require.ErrorIs(t, err, c.is, title)
		file := new(FileError)
		require.ErrorAs(t, err, &file, title)
		assert.Equal(t, before, tree(t, dir), title)
	}
	twice := undo
	twice.Restores = append(twice.Restores, twice.Restores...)
	require.ErrorIs(t, commit(t, dir, twice), ErrName)
	twice = undo
	twice.Creates = create("2.json").Creates
	require.ErrorIs(t, commit(t, dir, twice), ErrName)
	assert.Equal(t, before, tree(t, dir))

	require.NoError(t, os.WriteFile(filepath.Join(dir, "2.json"), []byte("another's"), 0o644))
	err := commit(t, dir, undo)
	require.ErrorIs(t, err, ErrExists)
	require.ErrorContains(t, err, "restore 2.json: ")
	assert.Equal(t, "another's", contents(t, dir)["2.json"])
}

// TestTheHistoryIsReadOnce: an event and a commit ask for it several times, and an entry never changes. What cannot be read is tried again.
func TestTheHistoryIsReadOnce(t *testing.T) {
	dir := newList(t)
	for n := range 3 {
		require.NoError(t, commit(t, dir, create(fmt.Sprintf("%d.json", n+10)), WithHistory(2)))
	}
	reads, fails := map[string]int{}, true
	files := &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(s faultfs.Step) error {
		if s.Op == "read" && strings.HasPrefix(filepath.Base(s.Path), donePrefix) {
			if reads[s.Path]++; fails {
				return syscall.EIO
			}
		}
		return nil
	}}
	d, err := Open(t.Context(), dir, WithFS(files), WithHistory(2), WithKeep(func([]Entry) map[string][]string { return nil }))
	require.NoError(t, err)
	defer d.Close()
	history, err := d.History()
	require.NoError(t, err)
	require.ErrorIs(t, history[0].Err, syscall.EIO)
	clear(reads)
	fails = false
	for range 2 {
		history, err = d.History()
		require.NoError(t, err)
		require.Len(t, history, 2)
		require.NoError(t, history[0].Err)
	}
	require.NoError(t, d.Commit(t.Context(), create("20.json")))
	for path, n := range reads {
		assert.Equal(t, 1, n, path)
	}
	assert.Len(t, reads, 3, "two that were there, and the one that this commit has made")
	after, err := d.History()
	require.NoError(t, err)
	require.Len(t, after, 2)
	assert.Equal(t, history[1].ID, after[0].ID)
}

// TestHistoryFromReadsWhatIsAskedFor: the last transaction says which. Those before are not opened.
func TestHistoryFromReadsWhatIsAskedFor(t *testing.T) {
	dir := newList(t)
	for n := range 4 {
		require.NoError(t, commit(t, dir, create(fmt.Sprintf("%d.json", n+10))))
	}
	var reads []string
	files := &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(s faultfs.Step) error {
		if s.Op == "read" && strings.HasPrefix(filepath.Base(s.Path), donePrefix) {
			reads = append(reads, filepath.Base(s.Path)[len(donePrefix):])
		}
		return nil
	}}
	all := history(t, dir)
	for from, want := range map[int64][]Entry{0: all, 1: all, 3: all[2:], 4: all[3:], 9: all[3:]} {
		r, err := OpenReader(dir, WithFS(files))
		require.NoError(t, err)
		reads = nil
		got, err := r.HistoryFrom(func(last Entry) int64 {
			assert.Equal(t, all[3], last)
			return from
		})
		r.Close()
		require.NoError(t, err)
		assert.Equal(t, want, got, "%d", from)
		assert.Len(t, reads, len(want), "%d", from)
	}

	require.NoError(t, os.WriteFile(filepath.Join(stateDirOf(dir), donePrefix+all[3].ID), nil, 0o600))
	r, err := OpenReader(dir)
	require.NoError(t, err)
	defer r.Close()
	got, err := r.HistoryFrom(func(last Entry) int64 {
		require.ErrorIs(t, last.Err, ErrJournalTorn)
		return 0
	})
	require.NoError(t, err)
	assert.Equal(t, all[:3], got[:3])

	none, err := Open(t.Context(), newList(t))
	require.NoError(t, err)
	defer none.Close()
	got, err = none.HistoryFrom(nil)
	require.NoError(t, err)
	assert.Empty(t, got)
}
