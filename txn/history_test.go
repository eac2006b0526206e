package txn

import (
	"fmt"
	"os"
	"path/filepath"
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
		ID: h[0].ID, Time: h[0].Time, Label: "a label", Created: []string{"3.json", "4.json"}, Deleted: []string{"2.json"},
		Backups: filepath.Join(stateDirOf(dir), "txn-"+h[0].ID, "old"),
	}, h[0])
	assert.False(t, h[0].Time.Before(earliest.Round(0)))
	assert.Equal(t, map[string]string{".": tree(t, h[0].Backups)["."], "2.json": deleted}, tree(t, h[0].Backups))
}

func TestHistoryHasTheLastTransactionsOldestFirst(t *testing.T) {
	for _, c := range []struct {
		opts []Option
		want int
	}{{nil, DefaultHistory}, {[]Option{WithHistory(3)}, 3}, {[]Option{WithHistory(1)}, 1}, {[]Option{WithHistory(0)}, 0}, {[]Option{WithHistory(-1)}, 0}} {
		dir := newList(t)
		var want []string
		for i := range DefaultHistory + 2 {
			label := fmt.Sprint(i)
			require.NoError(t, commit(t, dir, Change{Creates: []File{{label, nil, 0o644}}, Deletes: []string{nameOf(i - 1)}, Label: label}, c.opts...))
			want = append(want, label)
		}
		var got []string
		for _, e := range history(t, dir) {
			got = append(got, e.Label)
			assert.Equal(t, []string{".", e.Deleted[0]}, names(t, e.Backups))
		}
		if c.want == 0 {
			assert.Equal(t, []string{".", lockName}, names(t, stateDirOf(dir)), "nothing is kept")
		}
		assert.Equal(t, want[len(want)-c.want:], append([]string{}, got...))
	}
}

// nameOf returns the file that the transaction before created.
func nameOf(i int) string {
	if i < 0 {
		return "2.json"
	}
	return fmt.Sprint(i)
}

func TestHistoryLeavesOutRecordsThatCannotBeRead(t *testing.T) {
	dir := newList(t)
	require.NoError(t, commit(t, dir, replacing))
	s := stateDirOf(dir)
	require.NoError(t, os.WriteFile(filepath.Join(s, donePrefix+otherID), []byte("fsmtx"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(s, donePrefix+otherID+"1"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(s, donePrefix+"UPPER"), []byte("fsmtx"), 0o600))
	assert.Len(t, history(t, dir), 1)
}

func TestHistoryReportsThatItCannotBeRead(t *testing.T) {
	d, err := Open(t.Context(), newList(t))
	require.NoError(t, err)
	defer d.Close()
	d.files = failing(syscall.EIO, func(s faultfs.Step) bool { return s.Op == "readdir" })
	_, err = d.History()
	require.ErrorIs(t, err, syscall.EIO)
}

// TestTidyRemovesWhatInterruptedTransactionsLeft: neither needs a journal.
func TestTidyRemovesWhatInterruptedTransactionsLeft(t *testing.T) {
	dir := newList(t)
	require.NoError(t, commit(t, dir, replacing))
	committed := history(t, dir)[0]
	s := stateDirOf(dir)
	require.NoError(t, os.MkdirAll(filepath.Join(s, "txn-"+committed.ID, "new", "sub"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(s, "txn-"+committed.ID, "new", "sub", "3.json"), nil, 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(s, "txn-"+otherID, "new"), 0o700))
	want := Report{Outcome: Committed, ID: committed.ID}

	r, err := Inspect(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, want, r)
	r, err = Recover(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, want, r)
	assert.Equal(t, []string{".", "done-" + committed.ID, "lock", "txn-" + committed.ID, "txn-" + committed.ID + "/old", "txn-" + committed.ID + "/old/2.json"}, names(t, s))
	r, err = Recover(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, Report{Outcome: Clean}, r)
}

// TestTidyIsNotNeeded: a transaction succeeds when S cannot be listed after it.
func TestTidyIsNotNeeded(t *testing.T) {
	dir := newList(t)
	committed := false
	files := &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(s faultfs.Step) error {
		committed = committed || filepath.Base(s.Path) == journalName && s.Op == "rename"
		if committed && s.Op != "sync" && s.Op != "rename" {
			return syscall.EIO
		}
		return nil
	}}
	require.NoError(t, commit(t, dir, replacing, WithFS(files)))
	r, err := Recover(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, Committed, r.Outcome, "it is tidied by the next")
	assert.Contains(t, contents(t, dir), "3.json")
}

// TestIDsAreUniqueAndSortByTime: history is in the order of ids.
func TestIDsAreUniqueAndSortByTime(t *testing.T) {
	at := time.Date(2026, 11, 21, 20, 0, 0, 5, time.FixedZone("", 3600))
	early, late := newID(at), newID(at.Add(time.Nanosecond))
	assert.Less(t, early, late)
	assert.Less(t, late, newID(at.Add(time.Second)))
	assert.NotEqual(t, early, newID(at))
	assert.Regexp(t, `^20261121t190000-000000005-[0-9a-f]{8}$`, early)
	assert.True(t, isID(early))
}
