package tasks

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

func lookup(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

func TestID(t *testing.T) {
	for session, want := range map[string]string{
		"abc-123_X":      "abc-123_X",
		"../../etc":      "------etc",
		"a b\nc":         "a-b-c",
		"é":              "-",
		"𝄞":              "--", // two UTF-16 code units
		".":              "-",
		"a/b\x00c":       "a-b-c",
		"team.name@home": "team-name-home",
	} {
		assert.Equal(t, want, ID(lookup(nil), session), "%q", session)
	}
	assert.Equal(t, "my-list", ID(lookup(map[string]string{"CLAUDE_CODE_TASK_LIST_ID": "my list"}), "s"))
	assert.Equal(t, "s", ID(lookup(map[string]string{"CLAUDE_CODE_TASK_LIST_ID": ""}), "s"), "an empty variable is none")
}

func TestDir(t *testing.T) {
	dir, err := Dir(lookup(map[string]string{"HOME": "/home/u"}), "s")
	require.NoError(t, err)
	assert.Equal(t, "/home/u/.claude/tasks/s", dir)
	dir, err = Dir(lookup(map[string]string{"HOME": "/home/u", "CLAUDE_CONFIG_DIR": "/c"}), "s")
	require.NoError(t, err)
	assert.Equal(t, "/c/tasks/s", dir)
	_, err = Dir(lookup(map[string]string{"HOME": ""}), "s")
	assert.Error(t, err)
}

func TestNumber(t *testing.T) {
	for name, want := range map[string]int64{
		"5.json": 5, "007.json": 7, "5a.json": 5, "abc.json": 0, "-3.json": 0, "": 0,
		"99999999999999999999.json": math.MaxInt64,
	} {
		assert.Equal(t, want, number(name), name)
	}
	for name, want := range map[string]bool{"5.json": true, "abc.json": true, ".5.json": false, "5.json.tmp": false, "5": false} {
		assert.Equal(t, want, isTaskName(name), name)
	}
}

func TestHighWater(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]int64{"7": 7, " 7\n": 7, "7 trailing": 7, "+7": 7, "-7": 0, "x": 0, "": 0, "\ufeff9": 9} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, highWaterName), []byte(text), 0o644))
		got, err := readHighWater(vfs.OS{}, dir)
		require.NoError(t, err)
		assert.Equal(t, want, got, "%q", text)
	}
}

func TestHighWaterNeverFalls(t *testing.T) {
	dir, scratch := t.TempDir(), t.TempDir()
	for _, step := range []struct{ raise, want int64 }{{5, 5}, {3, 5}, {5, 5}, {9, 9}} {
		require.NoError(t, raiseHighWater(vfs.OS{}, dir, scratch, step.raise))
		got, err := readHighWater(vfs.OS{}, dir)
		require.NoError(t, err)
		assert.Equal(t, step.want, got)
	}
}

func newTestLocks(t *testing.T) (l *Locks, dir string) {
	root := t.TempDir()
	dir = filepath.Join(root, "list")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(root, "s"), 0o700))
	return boundLocks(dir, filepath.Join(root, "s/locks")), dir
}

func boundLocks(dir, scratch string) *Locks {
	l := new(Locks)
	l.Bind(vfs.OS{}, dir, scratch)
	return l
}

func take(t *testing.T, l *Locks, wait time.Duration, names ...string) error {
	_, err := l.Lock(within(t, wait), names)
	return err
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestLockTakesAllOrNone(t *testing.T) {
	l, dir := newTestLocks(t)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "2.json.lock"), 0o755))
	err := take(t, l, 30*time.Millisecond, "1.json", "2.json")
	var busy *BusyError
	require.ErrorAs(t, err, &busy)
	assert.Equal(t, filepath.Join(dir, "2.json.lock"), busy.Path)
	assert.NoDirExists(t, filepath.Join(dir, ".lock.lock"))
	assert.NoDirExists(t, filepath.Join(dir, "1.json.lock"))

	require.NoError(t, os.Remove(filepath.Join(dir, "2.json.lock")))
	require.NoError(t, take(t, l, time.Second, "1.json", "2.json"))
	assert.DirExists(t, filepath.Join(dir, ".lock.lock"))
	assert.DirExists(t, filepath.Join(dir, "2.json.lock"))
	require.NoError(t, l.Check())
	require.NoError(t, l.Unlock())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestLockReportsWhetherLocksWereKept(t *testing.T) {
	l, dir := newTestLocks(t)
	kept, err := l.Lock(within(t, time.Second), []string{"1.json"})
	require.NoError(t, err)
	assert.True(t, kept, "none were held before")
	kept, err = l.Lock(within(t, time.Second), []string{"2.json"})
	require.NoError(t, err)
	assert.True(t, kept, "no lock was held by another program")

	other := filepath.Join(dir, "3.json.lock")
	require.NoError(t, os.Mkdir(other, 0o755))
	files := &faultfs.Steps{FS: vfs.OS{}, Before: func(s faultfs.Step) error {
		if s.Op == "remove" && s.Path == filepath.Join(dir, ".lock.lock") {
			return os.Remove(other) // the other program is done once the list is unlocked
		}
		return nil
	}}
	l.files = files
	kept, err = l.Lock(within(t, time.Second), []string{"3.json"})
	require.NoError(t, err)
	assert.False(t, kept, "the list was unlocked in between")
	require.NoError(t, l.Unlock())
}

func TestStaleLockIsTakenOver(t *testing.T) {
	l, dir := newTestLocks(t)
	lock := filepath.Join(dir, ".lock.lock")
	require.NoError(t, os.Mkdir(lock, 0o755))
	long := time.Now().Add(-stale - time.Second)
	require.NoError(t, os.Chtimes(lock, long, long))
	require.NoError(t, take(t, l, time.Second))
	require.NoError(t, l.Unlock())
}

func TestLockOfTheFutureIsNotStale(t *testing.T) {
	l, dir := newTestLocks(t)
	lock := filepath.Join(dir, ".lock.lock")
	require.NoError(t, os.Mkdir(lock, 0o755))
	soon := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(lock, soon, soon))
	assert.Error(t, take(t, l, 30*time.Millisecond))
}

func TestStolenLockIsNoticed(t *testing.T) {
	l, dir := newTestLocks(t)
	require.NoError(t, take(t, l, time.Second))
	lock := filepath.Join(dir, ".lock.lock")
	require.NoError(t, os.Remove(lock))
	require.ErrorIs(t, l.Check(), ErrLockLost)
	require.NoError(t, os.Mkdir(lock, 0o755))
	require.ErrorIs(t, l.Check(), ErrLockLost)
	require.NoError(t, l.Unlock())
	assert.DirExists(t, lock, "another program's lock was released")
}

func TestRefreshKeepsTheLockOurs(t *testing.T) {
	l, dir := newTestLocks(t)
	require.NoError(t, take(t, l, time.Second))
	later := time.Now().Add(5 * time.Second)
	l.refresh(later)
	info, err := os.Stat(filepath.Join(dir, ".lock.lock"))
	require.NoError(t, err)
	assert.Equal(t, later.Unix(), info.ModTime().Unix())
	require.NoError(t, l.Check())
	require.NoError(t, l.Unlock())
	assert.NoDirExists(t, filepath.Join(dir, ".lock.lock"))
}

func TestFileInALocksPlaceIsNamed(t *testing.T) {
	l, dir := newTestLocks(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".lock.lock"), nil, 0o644))
	err := take(t, l, 30*time.Millisecond)
	require.ErrorContains(t, err, "is not a directory")
}

// TestReapLeavesOthersAlone: a record tells of a lock that was stolen since, and
// whose inode number the thief's lock may even have.
func TestReapLeavesOthersAlone(t *testing.T) {
	l, dir := newTestLocks(t)
	require.NoError(t, take(t, l, time.Second))
	lock := filepath.Join(dir, ".lock.lock")
	require.NoError(t, os.Chtimes(lock, time.Now(), time.Unix(time.Now().Unix(), int64((l.held[0].nanos+1)%1e9))))
	require.NoError(t, boundLocks(dir, l.scratch).Reap())
	assert.DirExists(t, lock)
}

func TestReapReleasesAtOnce(t *testing.T) {
	l, dir := newTestLocks(t)
	require.NoError(t, take(t, l, time.Second, "1.json"))
	require.NoError(t, boundLocks(dir, l.scratch).Reap())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestParseRecord(t *testing.T) {
	text := "12 34 5.json.lock\nnonsense\n1 2 ../x.lock\n1 2 5.json\n7 8 a b.json.lock\n"
	assert.Equal(t, []lock{{"5.json.lock", 12, 34}, {"a b.json.lock", 7, 8}}, parseRecord([]byte(text)))
}
