package txn

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// recorder is a Locker that records its calls and returns the errors in fails, one
// for each call that begins with the key.
type recorder struct {
	calls []string
	fails map[string][]error
	kept  bool
	lock  func(ctx context.Context)
}

func (r *recorder) call(words ...string) error {
	r.calls = append(r.calls, strings.Join(words, " "))
	queue := r.fails[words[0]]
	if len(queue) == 0 {
		return nil
	}
	r.fails[words[0]] = queue[1:]
	return queue[0]
}

func (r *recorder) Bind(_ vfs.FS, dir, scratch string) {
	_ = r.call("bind", dir, scratch)
}

func (r *recorder) Lock(ctx context.Context, names []string) (bool, error) {
	if r.lock != nil {
		r.lock(ctx)
	}
	return r.kept, r.call(append([]string{"lock"}, names...)...)
}

func (r *recorder) Check() error  { return r.call("check") }
func (r *recorder) Unlock() error { return r.call("unlock") }
func (r *recorder) Reap() error   { return r.call("reap") }

// TestLockerIsCalledInOrder checks the order of calls that a Locker can rely on.
func TestLockerIsCalledInOrder(t *testing.T) {
	dir := filepath.Join(memoryDir(t), "list")
	l := &recorder{kept: true}
	d, err := Open(t.Context(), dir, WithLocker(l))
	require.NoError(t, err)
	assert.Equal(t, []string{"bind " + dir + " " + stateDirOf(dir) + "/locks", "reap"}, l.calls)
	require.NoDirExists(t, dir)

	l.lock = func(context.Context) { require.DirExists(t, dir) }
	kept, err := d.Lock(t.Context(), "1.json", "2.json")
	require.NoError(t, err)
	assert.True(t, kept)
	l.kept = false
	kept, err = d.Lock(t.Context())
	require.NoError(t, err)
	assert.False(t, kept)

	l.calls = nil
	require.NoError(t, d.Commit(t.Context(), create("1.json")))
	require.NoError(t, d.Close())
	assert.Equal(t, []string{"check", "check", "unlock", "unlock", "unlock"}, l.calls)
}

func TestRecoveryTakesTheLocksOfAllFiles(t *testing.T) {
	w := newWorld(t)
	l := &recorder{}
	_, err := Recover(t.Context(), w.d, WithLocker(l))
	require.NoError(t, err)
	assert.Equal(t, []string{"reap", "lock 4.json 5.json 2.json 3.json", "unlock", "unlock"}, l.calls[1:])

	l = &recorder{}
	_, err = Recover(t.Context(), w.d, WithLocker(l))
	require.NoError(t, err)
	assert.Equal(t, []string{"reap", "unlock"}, l.calls[1:], "there is nothing to recover")
}

// TestCommitChecksTheLocks: a lock is lost before D is changed, or while it is changed. The rollback locks what it removes, and goes ahead
// without those locks if they cannot be had.
func TestCommitChecksTheLocks(t *testing.T) {
	rollsBack := []string{"reap", "check", "check", "lock 3.json 4.json", "unlock", "unlock"}
	for name, c := range map[string]struct {
		fails map[string][]error
		calls []string
	}{
		"before":               {map[string][]error{"check": {errTest}}, []string{"reap", "check", "unlock", "unlock"}},
		"while":                {map[string][]error{"check": {nil, errTest}}, rollsBack},
		"while, without locks": {map[string][]error{"check": {nil, errTest}, "lock": {context.DeadlineExceeded}}, rollsBack},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newList(t)
			list := tree(t, dir)
			linked := false
			files := before(func(s faultfs.Step) error { linked = linked || linksInto(dir)(s); return nil })
			l := &recorder{fails: c.fails}
			require.Equal(t, errTest, commit(t, dir, replacing, WithLocker(l), WithFS(files)))
			requireRolledBack(t, dir, list)
			assert.Equal(t, c.calls, l.calls[1:])
			assert.Equal(t, name != "before", linked, "whether D was changed before the rollback")
		})
	}
}

// TestALockIsHeldAfterACommitThatLeftItsJournal: the recovery takes and releases locks of its own, and
// changes D, so it comes before those of the next change.
func TestALockIsHeldAfterACommitThatLeftItsJournal(t *testing.T) {
	dir, full := newList(t), true
	l := &recorder{kept: true}
	d, err := Open(t.Context(), dir, WithLocker(l), WithFS(before(func(s faultfs.Step) error {
		if linksInto(dir)(s) {
			_ = l.call("change")
		}
		if full && (strings.HasPrefix(filepath.Base(s.To), donePrefix) || s.Op == "remove") {
			return syscall.ENOSPC
		}
		return nil
	})))
	require.NoError(t, err)
	defer d.Close()
	require.ErrorIs(t, d.Commit(t.Context(), replacing), ErrRecoveryRequired)
	require.FileExists(t, filepath.Join(stateDirOf(dir), journalName))
	full, l.calls = false, nil
	kept, err := d.Lock(t.Context(), "1.json")
	require.NoError(t, err)
	require.False(t, kept)
	require.NoError(t, d.Commit(t.Context(), create("9.json")))
	locked := slices.Index(l.calls, "lock 1.json")
	require.GreaterOrEqual(t, locked, 0)
	require.Equal(t, []string{"lock 1.json", "check", "change", "check"}, l.calls[locked:locked+4])
}

// TestRollbackLocksTheFilesItRemoves: a program that has read a created file may be
// about to write it.
func TestRollbackLocksTheFilesItRemoves(t *testing.T) {
	dir := newList(t)
	list := tree(t, dir)
	ctx, cancel := context.WithCancelCause(t.Context())
	l := &recorder{}
	l.lock = func(ctx context.Context) {
		assert.NoError(t, ctx.Err(), "it waits although the transaction's context has ended")
		_, bounded := ctx.Deadline()
		assert.True(t, bounded, "it does not wait for ever")
		assert.Contains(t, contents(t, dir), "3.json", "it locks before it removes")
	}
	files := before(func(s faultfs.Step) error {
		if s.Op == "link" && s.To == filepath.Join(dir, "3.json") {
			cancel(errTest)
		}
		return nil
	})
	d := opened(t, dir, WithLocker(l), WithFS(files))
	require.Equal(t, errTest, d.Commit(ctx, replacing))
	assert.Equal(t, []string{"check", "lock 3.json", "unlock"}, l.calls[2:])
	requireRolledBack(t, dir, list)
}

func TestFailureToUnlockDoesNotFailTheTransaction(t *testing.T) {
	dir := newList(t)
	l := &recorder{fails: map[string][]error{"unlock": {errTest, errTest}}}
	require.NoError(t, commit(t, dir, replacing, WithLocker(l)))
	require.Contains(t, contents(t, dir), "3.json")

	d, err := Open(t.Context(), dir, WithLocker(&recorder{fails: map[string][]error{"unlock": {errTest}}}))
	require.NoError(t, err)
	require.ErrorIs(t, d.Close(), errTest, "Close returns the error")
	require.NoError(t, d.Close(), "closing again does nothing")

	d, err = Open(t.Context(), dir, WithLocker(&recorder{fails: map[string][]error{"unlock": {errTest}}}))
	require.NoError(t, err)
	require.NoError(t, d.Commit(t.Context(), create("5.json")))
	require.ErrorIs(t, d.Close(), errTest, "of an earlier Commit, too")

	r, err := Recover(t.Context(), dir, WithLocker(&recorder{fails: map[string][]error{"unlock": {errTest}}}))
	require.NoError(t, err)
	require.ErrorIs(t, r.Unreleased, errTest)
}

// TestLockerSeesOnlyATrustedDirectory: Open checks the Locker's directory before
// the Locker is asked to reap.
func TestLockerSeesOnlyATrustedDirectory(t *testing.T) {
	w := newWorld(t)
	replace(t, w.in(lockerName), "/")
	l := &recorder{}
	_, err := Open(t.Context(), w.d, WithLocker(l))
	require.ErrorIs(t, err, ErrUntrustedDir)
	assert.NotContains(t, l.calls, "reap")
}
