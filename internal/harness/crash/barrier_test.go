//go:build unix

package crash

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// barrier is a sync of a transaction or of a recovery.
type barrier struct {
	name string
	is   func(d *dropper, s faultfs.Step) bool
}

func syncs(is func(path string) bool) func(*dropper, faultfs.Step) bool {
	return func(_ *dropper, s faultfs.Step) bool { return s.Op == "sync" && is(s.Path) }
}

func named(name string) func(*dropper, faultfs.Step) bool {
	return syncs(func(path string) bool { return filepath.Base(path) == name })
}

// unnamed matches the sync of a file that gets this name later.
func unnamed(name string) func(*dropper, faultfs.Step) bool {
	return syncs(func(path string) bool { return strings.HasPrefix(filepath.Base(path), "."+name) })
}

func below(part string) func(*dropper, faultfs.Step) bool {
	return syncs(func(path string) bool { return strings.Contains(path, part) })
}

// barriers are the syncs of a transaction and of a rollback. S is synced three times: before D is
// changed, at the commit point, and at the end of a rollback.
var barriers = []barrier{
	{"B1 staged files", below("/new/")},
	{"B1 backups", below("/list/")},
	{"B1 restored files", below("/old/")},
	{"B1 journal", unnamed("draft")},
	{"B1 mark", unnamed("mark")},
	{"B2 new/", named("new")},
	{"B2 old/", named("old")},
	{"B2 txn-<id>/", syncs(func(path string) bool { return strings.HasPrefix(filepath.Base(path), "txn-") })},
	{"B2 S", func(d *dropper, s faultfs.Step) bool { return isSyncOfS(s) && !d.renamed && !d.withdrawn }},
	{"B2 the parent of D and S", named("tasks")},
	{"B2 the parent of that", named("home")},
	{"B3 D", func(d *dropper, s faultfs.Step) bool {
		return s.Op == "sync" && filepath.Base(s.Path) == "list" && !d.recovering
	}},
	{"B4 S", func(d *dropper, s faultfs.Step) bool { return isSyncOfS(s) && d.renamed }},
	{"recovery: D", func(d *dropper, s faultfs.Step) bool {
		return s.Op == "sync" && filepath.Base(s.Path) == "list" && d.recovering
	}},
}

func isSyncOfS(s faultfs.Step) bool {
	return s.Op == "sync" && strings.HasSuffix(s.Path, ".fsmtx")
}

// dropper tracks how far a run is, because S and D are synced at several points of it.
type dropper struct {
	is                             func(*dropper, faultfs.Step) bool
	renamed, withdrawn, recovering bool
}

func (d *dropper) drop(s faultfs.Step) bool {
	switch {
	case s.Op == "rename" && strings.HasPrefix(filepath.Base(s.To), "done-"):
		d.renamed = true
	case s.Op == "remove" && filepath.Base(s.Path) == "journal":
		d.withdrawn = true
	case s.Op == "overwrite":
		d.renamed, d.withdrawn = false, false
	}
	return d.is(d, s)
}

// TestEveryBarrierIsNecessary drops each barrier in turn and requires that some power cut
// then breaks the contract: the model notices a missing barrier. With -every it tries all
// workloads, and does not stop at the first violation.
func TestEveryBarrierIsNecessary(t *testing.T) {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "dropped\tdistinct states\tviolations\tof recovery: distinct\tviolations")
	for _, b := range barriers {
		var sum, again outcome
		inRecovery := strings.HasPrefix(b.name, "recovery")
		for _, load := range slices.Concat(workloads[8:9], workloads[:5], workloads[6:8]) {
			if !*every && (inRecovery || sum.violations > 0) {
				break
			}
			load.limits = limits{exhaustive: 128, samples: 24}
			tr := &trial{workload: load, t: t, first: !*every, dropped: (&dropper{is: b.is}).drop}
			sum.add(tr.run().result)
		}
		for _, load := range workloads[3:5] {
			if !*every && (!inRecovery || again.violations > 0) {
				break
			}
			load.limits = limits{exhaustive: 64, samples: 8}
			tr := &trial{workload: load, t: t, again: 20, first: !*every, inRecover: (&dropper{is: b.is, recovering: true}).drop}
			again.add(tr.run().recovered)
		}
		assert.NotZero(t, sum.violations+again.violations, "no power cut shows that %s was dropped", b.name)
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\n", b.name, sum.distinct, sum.violations, again.distinct, again.violations)
	}
	require.NoError(t, w.Flush())
	t.Log("\n" + table.String())
}
