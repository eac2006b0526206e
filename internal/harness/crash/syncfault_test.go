//go:build unix

package crash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// After a sync has failed there is nothing left to sync: some of what it covered has
// reached the disk and the rest never will. Processes still see all of it, and the
// next sync succeeds.

// fail does to the model what a failed sync does. reached decides whether an effect
// has reached the disk.
func (d *disk) fail(at inode, reached func() bool) {
	rest := d.pending[:0:0]
	for _, e := range d.pending {
		switch {
		case at == 0 || e.file != at && e.dir != at:
			rest = append(rest, e)
		case reached():
			d.commit(e, true)
		}
	}
	d.pending = rest
}

// syncFault is a sync that fails.
type syncFault struct {
	home    string
	disk    *disk
	left    int // syncs until then
	reached func() bool
	failed  *faultfs.Step
	stop    func(faultfs.Step) bool // the first step for which it returns true fails, and all later ones; nil for none
}

func (f *syncFault) before(s faultfs.Step) error {
	if f.stop != nil && f.stop(s) {
		f.stop = func(faultfs.Step) bool { return true }
		return faultfs.ErrFrozen
	}
	step, ok := within(f.home, s)
	if !ok {
		return nil
	}
	if s.Op != "sync" {
		f.disk.apply(step)
		return nil
	}
	if f.left--; f.left != -1 {
		f.disk.apply(step)
		return nil
	}
	f.failed = &s
	_, _, at := f.disk.find(step.Path)
	f.disk.fail(at, f.reached)
	return &fs.PathError{Op: s.Op, Path: s.Path, Err: syscall.EIO}
}

// fates returns what may happen to the effects that a failed sync covered.
func fates() []func() bool {
	rng := rand.New(rand.NewPCG(7, 8))
	return []func() bool{
		func() bool { return false },
		func() bool { return true },
		func() bool { return rng.IntN(2) == 0 },
	}
}

// withSyncFault makes the nth sync of the workload fail, or of the recovery from its death
// just before the commit, and cuts the power afterwards. It counts the states in tr.result.
// It returns false if there are fewer syncs.
func (tr *trial) withSyncFault(n int, reached func() bool, inRecovery bool) bool {
	t := tr.t
	tr.base, tr.seen, tr.rng = worlds.MemoryDir(t), map[[32]byte]bool{}, rand.New(rand.NewPCG(1, 2))
	defer os.RemoveAll(tr.base)
	home := filepath.Join(tr.base, "home")
	change := tr.prepare(home)
	d, err := load(home)
	require.NoError(t, err)
	f := &syncFault{home: home, disk: d, left: n, reached: reached}
	files := &faultfs.Steps{FS: vfs.OS{}, Before: f.before}
	if inRecovery {
		tr.interrupt(home, d, change)
		_, err = txn.Recover(context.Background(), filepath.Join(home, listPath), txn.WithFS(files))
	} else {
		err = tr.transact(home, change, files)
	}
	if f.failed == nil {
		return false
	}
	tr.cutAfter(d, err, inRecovery, f.failed)
	return true
}

func (tr *trial) transact(home string, change txn.Change, files vfs.FS) error {
	dir, err := txn.Open(context.Background(), filepath.Join(home, listPath), txn.WithFS(files))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Commit(context.Background(), change)
}

// interrupt stops the transaction just before its commit.
func (tr *trial) interrupt(home string, d *disk, change txn.Change) {
	f := &syncFault{home: home, disk: d, left: 1 << 30, stop: func(s faultfs.Step) bool {
		return s.Op == "rename" && strings.HasPrefix(filepath.Base(s.To), "done-")
	}}
	require.ErrorIs(tr.t, tr.transact(home, change, &faultfs.Steps{FS: vfs.OS{}, Before: f.before}), faultfs.ErrFrozen)
}

// cutAfter tries every power cut after the call and compares the recovered state with the
// error that the call returned.
func (tr *trial) cutAfter(d *disk, err error, inRecovery bool, failed *faultfs.Step) {
	allowed := equalTo(tr.before)
	switch {
	case errors.Is(err, txn.ErrUnknown):
		allowed = equalTo(tr.before, tr.after)
	case err == nil && !inRecovery:
		allowed = equalTo(tr.after)
	}
	d.cuts(tr.limits, tr.rng, func(c *disk) {
		tr.result.states++
		if tr.seen[c.key()] {
			return
		}
		tr.seen[c.key()] = true
		tr.result.distinct++
		was := tr.result.first
		c.built(tr.t, tr.base, func(home string) { tr.recoverOnce(home, allowed, &tr.result) })
		if was == "" && tr.result.first != "" {
			tr.result.first = fmt.Sprintf("%s failed: %s", failed, tr.result.first)
		}
	})
}

// TestPowerLossAfterFailedSync makes every sync fail once. What the sync covered is lost, kept, or partly lost, and the power is cut once
// the transaction or the recovery has returned: the state on the disk must match the returned error.
func TestPowerLossAfterFailedSync(t *testing.T) {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "workload\tsyncs\tstates\tdistinct\tviolations")
	loads := slices.Concat(workloads[:5], workloads[6:7])
	if !*every {
		loads = workloads[2:4]
	}
	for _, load := range loads {
		load.limits = limits{exhaustive: 32, samples: 8}.usual()
		for _, inRecovery := range []bool{false, true} {
			name := load.name + map[bool]string{true: ", recovery"}[inRecovery]
			var total outcome
			syncs := 0
			for _, reached := range fates() {
				tr := &trial{workload: load, t: t}
				for syncs = 0; tr.withSyncFault(syncs, reached, inRecovery); syncs++ {
				}
				total.add(tr.result)
				assert.Zero(t, tr.result.violations, "%s: %s", name, tr.result.first)
			}
			assert.NotZero(t, syncs, name)
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\n", name, syncs, total.states, total.distinct, total.violations)
		}
	}
	require.NoError(t, w.Flush())
	t.Log("\n" + table.String())
}
