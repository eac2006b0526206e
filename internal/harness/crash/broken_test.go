package crash_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/claude/tasks"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// The file systems here break a transaction in one way each, as a mistake in it
// would. That a death is then found out shows that the tests of deaths can fail.

func isTask(path string) bool {
	return strings.HasSuffix(path, ".json") && filepath.Base(filepath.Dir(path)) == "list"
}
func isJournal(path string) bool { return filepath.Base(path) == "journal" }

// late makes links into the list only when the list is synced: files are deleted
// before those are there that replace them.
type late struct {
	vfs.FS
	links *[][2]string
}

func (l late) Link(from, to string) error {
	if !isTask(to) {
		return l.FS.Link(from, to)
	}
	*l.links = append(*l.links, [2]string{from, to})
	return nil
}

func (l late) Sync(name string) error {
	for _, link := range *l.links {
		if filepath.Dir(link[1]) == name {
			if err := l.FS.Link(link[0], link[1]); err != nil {
				return err
			}
		}
	}
	*l.links = nil
	return l.FS.Sync(name)
}

// forgetful keeps no file that it deletes.
type forgetful struct{ vfs.FS }

func (f forgetful) Remove(name string) error {
	if isTask(name) {
		kept, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(name)), ".list.fsmtx/txn-*/old", filepath.Base(name)))
		for _, path := range kept {
			_ = f.FS.Remove(path)
		}
	}
	return f.FS.Remove(name)
}

// silent has a journal only once all is done.
type silent struct {
	vfs.FS
	journal *string
}

func (s silent) Rename(from, to string) error {
	if isJournal(to) {
		*s.journal = from
		return nil
	}
	if isJournal(from) {
		from = *s.journal
	}
	return s.FS.Rename(from, to)
}

// hasty has its journal go before it undoes what the journal says.
type hasty struct{ vfs.FS }

func (h hasty) Link(from, to string) error {
	h.forget(to)
	return h.FS.Link(from, to)
}

func (h hasty) Remove(name string) error {
	h.forget(name)
	if err := h.FS.Remove(name); !isJournal(name) || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (h hasty) forget(path string) {
	if isTask(path) {
		_ = h.FS.Remove(filepath.Join(filepath.Dir(filepath.Dir(path)), ".list.fsmtx/journal"))
	}
}

// findDeaths freezes the disk at every step of a hydration on a broken file
// system, recovers on a good one, and returns what is wrong with that.
func (d death) findDeaths(t *testing.T, broken func() vfs.FS) (problems []string) {
	created := d.creations(t)
	for n := range d.steps(t) {
		w := d.world(t)
		before := w.tasks(t)
		_, _ = w.hydrate("first", faultfs.Freeze(broken(), n, nil))
		problems = append(problems, gap(before, w.tasks(t), created), w.goOn(t, "recover", before, created))
		require.NoError(t, os.RemoveAll(w.home))
	}
	return problems
}

// findSecondDeaths has a hydration die just ahead of its commit, freezes the disk
// at every step of a recovery on a broken file system, and recovers on a good one.
func (d death) findSecondDeaths(t *testing.T, broken func() vfs.FS) (problems []string) {
	created, steps := d.creations(t), d.steps(t)
	for m, done := 0, false; !done; m++ {
		w := d.world(t)
		before := w.tasks(t)
		for n, step := range steps {
			if strings.HasPrefix(step, "rename S/journal") {
				_, _ = w.hydrate("first", faultfs.Freeze(vfs.OS{}, n, nil))
			}
		}
		taken := 0
		_, _ = tasks.List{Dir: w.list(), FS: faultfs.Freeze(broken(), m, func(faultfs.Step) { taken++ })}.Recover(context.Background())
		done = taken < m
		problems = append(problems, gap(before, w.tasks(t), created), w.goOn(t, "recover", before, created))
		require.NoError(t, os.RemoveAll(w.home))
	}
	return problems
}

// TestDeathFindsBrokenTransactions breaks the transaction, and the recovery, in
// one way after the other. Each has to be found out by its own symptom; whole,
// neither has one.
func TestDeathFindsBrokenTransactions(t *testing.T) {
	whole := func() vfs.FS { return vfs.OS{} }
	tooLate := func() vfs.FS { return late{vfs.OS{}, new([][2]string)} }
	replacing := deaths[3]
	for _, c := range []struct {
		name    string
		find    func(*testing.T, func() vfs.FS) []string
		broken  func() vfs.FS
		symptom string
	}{
		{"creates come after deletes", replacing.findDeaths, tooLate, "a reader sees only"},
		{"nothing is kept", replacing.findDeaths, func() vfs.FS { return forgetful{vfs.OS{}} }, "not the list before, and"},
		{"there is no journal", replacing.findDeaths, func() vfs.FS { return silent{vfs.OS{}, new(string)} }, "not the list before, and"},
		{"recovery removes before it restores", replacing.findSecondDeaths, tooLate, "a reader sees only"},
		{"recovery forgets the journal first", replacing.findSecondDeaths, func() vfs.FS { return hasty{vfs.OS{}} }, "not the list before, and"},
	} {
		assert.Empty(t, strings.Join(c.find(t, whole), ""), "nothing is broken")
		count := 0
		for _, problem := range c.find(t, c.broken) {
			if strings.Contains(problem, c.symptom) {
				count++
			}
		}
		assert.NotZero(t, count, "it goes unnoticed that %s", c.name)
		t.Logf("%s: found out at %d points", c.name, count)
	}
}

// deaf does not release what a dead process held.
type deaf struct{ *tasks.Locks }

func (deaf) Reap() error { return nil }

// TestDeathLeavesLocksThatAreReleased has a hydration die while it holds the
// client's locks. Whoever comes next has them at once; without Reap it waits.
func TestDeathLeavesLocksThatAreReleased(t *testing.T) {
	for _, broken := range []bool{false, true} {
		w := deaths[3].world(t)
		for n, step := range deaths[3].steps(t) {
			if strings.HasPrefix(step, "rename S/journal") {
				w.kill(t, n)
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		var locker txn.Locker = new(tasks.Locks)
		if broken {
			locker = deaf{new(tasks.Locks)}
		}
		r, err := txn.Recover(ctx, w.list(), txn.WithLocker(locker))
		if broken {
			_, busy := errors.AsType[*tasks.BusyError](err)
			require.True(t, busy, "nobody held a lock: %v", err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, txn.RolledBack, r.Outcome)
	}
}

var errSwallowed = errors.New("swallowed")

// swallowing reports success for the call that fails.
type swallowing struct{ vfs.FS }

func swallow(err error) error {
	if errors.Is(err, errSwallowed) {
		return nil
	}
	return err
}

func (s swallowing) Link(from, to string) error   { return swallow(s.FS.Link(from, to)) }
func (s swallowing) Rename(from, to string) error { return swallow(s.FS.Rename(from, to)) }
func (s swallowing) Remove(name string) error     { return swallow(s.FS.Remove(name)) }

// TestFaultFindsSwallowedErrors has calls that change the list not happen and not
// be reported: what TestFaultOnce looks at tells each of them.
func TestFaultFindsSwallowedErrors(t *testing.T) {
	d := deaths[3]
	created := d.creations(t)
	found := map[string]int{}
	for n, more := 0, true; more; n++ {
		w := d.world(t)
		before := w.tasks(t)
		more = false
		var step faultfs.Step
		_, err := w.hydrate("first", swallowing{faultfs.Fail(vfs.OS{}, n, errSwallowed, func(s faultfs.Step) { step, more = s, true })})
		if step.Op == "link" && isTask(step.To) || step.Op == "remove" && isTask(step.Path) {
			assert.NotEmpty(t, w.belies(t, err, before, created), "it goes unnoticed that %s did not happen", step)
			found[step.Op]++
		}
		require.NoError(t, os.RemoveAll(w.home))
	}
	assert.Equal(t, map[string]int{"link": d.creates, "remove": d.tagged}, found)
}
