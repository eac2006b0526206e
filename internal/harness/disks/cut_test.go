//go:build disks && linux

package disks_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/medium"
	"github.com/fsmtx/fsmtx/internal/harness/overseer"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// Limits of the subsets of unflushed writes that are built at one point.
const (
	exhaustive = 64 // up to so many, all of them
	singles    = 8  // otherwise so many writes are lost or kept alone
	samples    = 24 // and so many subsets at random
)

// trial is an operation on a drive, recorded, with what may be there after a cut.
type trial struct {
	*drive
	operation
	home          worlds.Home
	base          medium.Image
	events        []medium.Event
	before, after map[string]worlds.File
	rng           *rand.Rand
	row
}

// row counts the states of an operation.
type row struct {
	flushes, writes         int
	states, distinct, tried int
	unlike, lost, unusable  int    // violations: neither before nor after, acknowledged and lost, not to be recovered or used
	refused                 int    // not violations: the kernel does not mount what its own file system has left
	byHand                  int    // recoveries before which a person had to remove a lock
	first                   string // the first violation
	why                     string // the first state was refused
}

func (r *row) violations() int { return r.unlike + r.lost + r.unusable }

// acked marks the moment at which the operation has reported success.
const acked = "acked"

// play prepares the operation, runs it and records what reaches the device until the
// file system is unmounted.
func (d *drive) play(t *testing.T, empty medium.Image, op operation, decide overseer.Decide, rng *rand.Rand) *trial {
	t.Helper()
	tr := &trial{drive: d, operation: op, rng: rng}
	d.Load(empty)
	require.NoError(t, d.Mount())
	tr.home = d.newHome(t)
	op.prepare(t, tr.home)
	tr.before = content(t, tr.home)
	if op.interrupted != nil {
		op.interrupted(t, tr.home)
		require.NotEqual(t, tr.before, content(t, tr.home))
	}
	require.NoError(t, d.Sync())
	tr.base = d.Save()
	d.Record()
	r, err := runProgram(tr.home.Dir, decide, op.stdin, op.args...)
	require.NoError(t, err)
	require.Zero(t, r.code, r.output)
	d.Mark(acked)
	tr.after = content(t, tr.home)
	require.NoError(t, d.Unmount())
	tr.events = d.Recorded()
	if op.interrupted != nil {
		require.Equal(t, tr.before, tr.after, "it was not rolled back: %s", r.output)
	} else {
		require.NotEqual(t, tr.before, tr.after, "it did nothing: %s", r.output)
	}
	return tr
}

// cut is a state that a power cut may leave.
type cut struct {
	above medium.Image // what differs from the base
	acked bool
	least bool // only what had been flushed when the operation was acknowledged
}

// cuts returns the distinct states after a power cut at each flush, at the acknowledgement
// and at the end, each with many subsets of the writes that were not flushed.
func (tr *trial) cuts() (all []cut) {
	type id struct {
		sum   [32]byte
		acked bool
	}
	seen := map[id]bool{}
	durable, pending, done, least := medium.Image{}, []medium.Write(nil), false, false
	look := func() {
		tr.subsets(pending, func(kept []medium.Write) {
			tr.states++
			above := maps.Clone(durable)
			for _, w := range kept {
				w.Apply(above)
			}
			if this := (id{above.Sum(), done}); !seen[this] {
				seen[this] = true
				all = append(all, cut{above, done, least})
			}
			least = false
		})
	}
	look()
	for _, e := range tr.events {
		switch {
		case e.Write != nil:
			tr.writes++
			pending = append(pending, *e.Write)
			continue
		case e.What == medium.Flush:
			tr.flushes++
			look()
			for _, w := range pending {
				w.Apply(durable)
			}
			pending = nil
		case e.What == acked:
			look()
			done, least = true, true // the first subset is the empty one
			look()
		}
	}
	look()
	tr.distinct += len(all)
	return all
}

// subsets yields all subsets of the writes if there are few. If there are many: none,
// all, some with one lost or one kept, and a sample in which writes may be torn.
func (tr *trial) subsets(writes []medium.Write, yield func([]medium.Write)) {
	n := len(writes)
	if n < 16 && 1<<n <= exhaustive {
		for mask := range 1 << n {
			yield(chosen(writes, func(i int) bool { return mask>>i&1 == 1 }))
		}
	} else {
		yield(nil)
		yield(writes)
		for range singles {
			one := tr.rng.IntN(n)
			yield(chosen(writes, func(i int) bool { return i == one }))
			yield(chosen(writes, func(i int) bool { return i != one }))
		}
		for range samples {
			yield(tr.torn(chosen(writes, func(int) bool { return tr.rng.IntN(2) == 0 })))
		}
	}
	for range min(n, singles) {
		yield(tr.torn(writes[:tr.rng.IntN(n)+1]))
	}
}

func chosen(writes []medium.Write, keep func(i int) bool) (kept []medium.Write) {
	for i, w := range writes {
		if keep(i) {
			kept = append(kept, w)
		}
	}
	return kept
}

// torn keeps only the first blocks of the last write.
func (tr *trial) torn(writes []medium.Write) []medium.Write {
	if len(writes) == 0 {
		return nil
	}
	last := writes[len(writes)-1]
	last.Blocks = last.Blocks[:tr.rng.IntN(len(last.Blocks))+1]
	return append(writes[:len(writes)-1:len(writes)-1], last)
}

// try tries n of the states, or all if n is 0. It always tries the state with only what had
// been flushed when the operation was acknowledged.
func (tr *trial) try(n int) {
	all := tr.cuts()
	tr.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	i := slices.IndexFunc(all, func(c cut) bool { return c.least })
	all[0], all[i] = all[i], all[0]
	if n > 0 {
		all = all[:min(n, len(all))]
	}
	for _, c := range all {
		tr.tried++
		if problem := tr.examine(c); problem != "" && tr.first == "" {
			tr.first = fmt.Sprintf("%s on %s, acknowledged %v: %s\n%s", tr.operation.name, tr.FileSystem.Name, c.acked, problem, tr.Checked)
		}
	}
}

// examine mounts a state, recovers it and compares.
func (tr *trial) examine(c cut) (problem string) {
	now := maps.Clone(tr.base)
	maps.Copy(now, c.above)
	tr.Load(now)
	if err := tr.Mount(); err != nil {
		tr.refused++
		tr.why = cmp.Or(tr.why, err.Error())
		return ""
	}
	defer func() {
		if err := tr.Unmount(); err != nil {
			panic(err)
		}
	}()
	reboot(tr.home)
	if problem := tr.program("", "recover"); problem != "" {
		return problem
	}
	got, problem := look(tr.home)
	switch {
	case problem != "":
		tr.unusable++
		return problem
	case maps.Equal(got, tr.after):
		return tr.next()
	case !maps.Equal(got, tr.before):
		tr.unlike++
		return fmt.Sprintf("neither before nor after: %v", got)
	case c.acked:
		tr.lost++
		return "acknowledged, and not there"
	}
	return tr.next()
}

// next checks for every fourth state that the next hydration works.
func (tr *trial) next() (problem string) {
	if tr.tried%4 != 1 {
		return ""
	}
	return tr.program(skillEvent("three"), "hydrate")
}

// program runs fsmtx, and again after a person has done what it asks for. It returns why that does not end well.
func (tr *trial) program(stdin, command string) (problem string) {
	r, err := runProgram(tr.home.Dir, nil, stdin, command)
	for first := true; err == nil && tr.Check != nil && tr.removedLock(r); first = false {
		if first {
			tr.byHand++
		}
		r, err = runProgram(tr.home.Dir, nil, stdin, command)
	}
	if err == nil && r.code == 0 {
		return ""
	}
	tr.unusable++
	return fmt.Sprintf("%s: %v: exit code %d: %s", command, err, r.code, r.output)
}

// removedLock removes the lock that the output of a command asks a person to remove, and
// reports whether it did. Locks are never synced: on a file system without a journal the
// name of a lock may be durable while its inode has become another file.
func (tr *trial) removedLock(r result) bool {
	rest, _, named := strings.Cut(r.output, " is not a directory, so neither this program nor the client can take that lock; remove it")
	words := strings.Fields(rest)
	return r.code != 0 && named && os.Remove(words[len(words)-1]) == nil
}

// reboot makes the client's locks as old as after a restart of the machine. A lock may be
// durable without the record that shows that its process is dead; then it is stale only
// after ten seconds.
func reboot(w worlds.Home) {
	locks, _ := filepath.Glob(w.InList("*.lock"))
	hidden, _ := filepath.Glob(w.InList(".*.lock"))
	past := time.Now().Add(-time.Minute)
	for _, name := range append(locks, hidden...) {
		_ = os.Chtimes(name, past, past)
	}
}

// look returns the content, or why it cannot be read.
func look(w worlds.Home) (got map[string]worlds.File, problem string) {
	var seen failures
	defer func() { problem = strings.Join(seen, "\n") }()
	defer func() {
		if r := recover(); r != nil && len(seen) == 0 {
			panic(r)
		}
	}()
	return content(&seen, w), ""
}

// failures collects what would fail a test.
type failures []string

func (f *failures) Errorf(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }
func (f *failures) FailNow()                          { panic(f) }
