package crash

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// Each file system in this file breaks a transaction in one way, as a mistake in the code
// would. The tests must notice it, which shows that they can fail.

func isTask(path string) bool {
	return strings.HasSuffix(path, ".json") && filepath.Base(filepath.Dir(path)) == "list"
}
func isJournal(path string) bool { return filepath.Base(path) == "journal" }

// delayedLinks delays links into the list until the list is synced, so that files are
// deleted before their replacements exist.
type delayedLinks struct {
	vfs.FS
	links *[][2]string
}

func (l delayedLinks) Link(from, to string) error {
	if !isTask(to) {
		return l.FS.Link(from, to)
	}
	*l.links = append(*l.links, [2]string{from, to})
	return nil
}

func (l delayedLinks) Sync(name string) error {
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

// withoutJournal puts no journal in place, and still lets the transaction commit.
type withoutJournal struct {
	vfs.FS
	journal *string
}

func (s withoutJournal) Rename(from, to string) error {
	if isJournal(to) && strings.HasSuffix(filepath.Dir(to), ".fsmtx") {
		*s.journal = from
		return nil
	}
	if isJournal(from) && strings.HasSuffix(filepath.Dir(from), ".fsmtx") {
		from = *s.journal
	}
	return s.FS.Rename(from, to)
}

// journalFirst removes the journal before the recovery changes the list.
type journalFirst struct{ vfs.FS }

func (h journalFirst) Link(from, to string) error {
	h.forget(to)
	return h.FS.Link(from, to)
}

func (h journalFirst) Remove(name string) error {
	h.forget(name)
	if err := h.FS.Remove(name); !isJournal(name) || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (h journalFirst) forget(path string) {
	if isTask(path) {
		_ = h.FS.Remove(filepath.Join(filepath.Dir(filepath.Dir(path)), ".list.fsmtx/journal"))
	}
}

// problemsAfterDeath freezes the disk at every step of a hydration on a broken file
// system, recovers on an intact one, and returns what is wrong then.
func (d scenario) problemsAfterDeath(t *testing.T, broken func() vfs.FS) (problems []string) {
	created := d.creations(t)
	for n := range d.steps(t) {
		w := d.world(t)
		before := w.Tasks(t)
		_, _ = w.hydrate("first", faultfs.Freeze(broken(), n, nil))
		problems = append(problems, readerProblem(before, w.Tasks(t), created), w.continueBy(t, "recover", before, created))
		require.NoError(t, os.RemoveAll(w.Dir))
	}
	return problems
}

// problemsAfterSecondDeath freezes the disk just before a hydration commits, then at every
// step of a recovery on a broken file system, recovers on an intact one, and returns what
// is wrong then.
func (d scenario) problemsAfterSecondDeath(t *testing.T, broken func() vfs.FS) (problems []string) {
	created, steps := d.creations(t), d.steps(t)
	for m, done := 0, false; !done; m++ {
		w := d.world(t)
		before := w.Tasks(t)
		for n, step := range steps {
			if step == "rename S/journal to S/done" {
				_, _ = w.hydrate("first", faultfs.Freeze(vfs.OS{}, n, nil))
			}
		}
		taken := 0
		_, _ = tasks.List{Dir: w.List(), FS: faultfs.Freeze(broken(), m, func(faultfs.Step) { taken++ })}.Recover(context.Background())
		done = taken < m
		problems = append(problems, readerProblem(before, w.Tasks(t), created), w.continueBy(t, "recover", before, created))
		require.NoError(t, os.RemoveAll(w.Dir))
	}
	return problems
}

// TestDeathTestsNoticeBrokenTransactions breaks the transaction or the recovery in one way
// at a time. Each way has its own symptom, and an intact file system has none.
func TestDeathTestsNoticeBrokenTransactions(t *testing.T) {
	whole := func() vfs.FS { return vfs.OS{} }
	tooLate := func() vfs.FS { return delayedLinks{vfs.OS{}, new([][2]string)} }
	replacing := scenarios[3]
	for _, c := range []struct {
		name    string
		find    func(*testing.T, func() vfs.FS) []string
		broken  func() vfs.FS
		symptom string
	}{
		{"creates come after deletes", replacing.problemsAfterDeath, tooLate, "a reader sees only"},
		{"there is no journal", replacing.problemsAfterDeath, func() vfs.FS { return withoutJournal{vfs.OS{}, new(string)} },
			"not the list before, and"},
		{"recovery deletes before it creates", replacing.problemsAfterSecondDeath, tooLate, "a reader sees only"},
		{"recovery forgets the journal first", replacing.problemsAfterSecondDeath, func() vfs.FS { return journalFirst{vfs.OS{}} },
			"not the list before, and"},
	} {
		assert.Empty(t, strings.Join(c.find(t, whole), ""), "nothing is broken")
		count := 0
		for _, problem := range c.find(t, c.broken) {
			if strings.Contains(problem, c.symptom) {
				count++
			}
		}
		assert.NotZero(t, count, "not noticed: %s", c.name)
		t.Logf("%s: noticed at %d points", c.name, count)
	}
}

// withoutReap does not release the locks of a dead process.
type withoutReap struct{ *tasks.Locks }

func (withoutReap) Reap() error { return nil }

// TestLocksAreReleasedAfterDeath kills a hydration that holds the client's locks. The next
// process gets the locks at once; without Reap it waits.
func TestLocksAreReleasedAfterDeath(t *testing.T) {
	for _, broken := range []bool{false, true} {
		w := scenarios[3].world(t)
		for n, step := range scenarios[3].steps(t) {
			if strings.HasPrefix(step, "link S/txn/new/") {
				w.kill(t, n)
				break
			}
		}
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			var locker txn.Locker = new(tasks.Locks)
			if broken {
				locker = withoutReap{new(tasks.Locks)}
			}
			r, err := txn.Recover(ctx, w.List(), txn.WithLocker(locker))
			if broken {
				_, busy := errors.AsType[*tasks.BusyError](err)
				require.True(t, busy, "no lock was held: %v", err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, txn.RolledBack, r.Outcome)
		})
	}
}

var errSwallowed = errors.New("swallowed")

// swallowing reports success for a call that failed.
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

// TestFaultTestsNoticeSwallowedErrors makes each call that changes the list fail and report
// success. The check of TestEveryFaultIsRolledBack must notice it.
func TestFaultTestsNoticeSwallowedErrors(t *testing.T) {
	d := scenarios[3]
	created := d.creations(t)
	found := map[string]int{}
	for n, more := 0, true; more; n++ {
		w := d.world(t)
		before := w.Tasks(t)
		more = false
		var step faultfs.Step
		_, err := w.hydrate("first", swallowing{faultfs.Fail(vfs.OS{}, n, errSwallowed, func(s faultfs.Step) { step, more = s, true })})
		if step.Op == "link" && isTask(step.To) || step.Op == "remove" && isTask(step.Path) {
			assert.NotEmpty(t, w.contradicts(t, err, before, created), "not noticed: %s did not happen", step)
			found[step.Op]++
		}
		require.NoError(t, os.RemoveAll(w.Dir))
	}
	assert.Equal(t, map[string]int{"link": d.creates, "remove": d.tagged}, found)
}
