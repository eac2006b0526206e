package crash

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// TestDeathKeepsTasksAndRecordTogether stops the transaction of every workload before each
// of its steps. After the recovery the tasks and the record are of the same transaction.
func TestDeathKeepsTasksAndRecordTogether(t *testing.T) {
	for _, load := range workloads {
		if load.creates > 10 {
			continue // its steps are the same
		}
		for n, died := 0, true; died; n++ {
			tr := &trial{workload: load, t: t, base: worlds.MemoryDir(t)}
			home := filepath.Join(tr.base, "home")
			change := tr.prepare(home)
			died = tr.transact(home, change, faultfs.Freeze(vfs.OS{}, n, nil)) != nil
			allowed := equalTo(tr.before, tr.after)
			if !died {
				allowed = equalTo(tr.after)
			}
			tr.recoverOnce(home, allowed, &tr.result)
			require.Zero(t, tr.result.violations, "%s, step %d: %s", load.name, n, tr.result.first)
			require.NoError(t, os.RemoveAll(tr.base))
		}
	}
}

// stateWrites are calls that change state files, in order. The power is cut during each.
var stateWrites = []struct {
	do     func(d *txn.Dir) error
	before string // what a.json and b.jsonl hold, with a bar between them
	after  string
	lazy   bool // once the call has returned, a power cut may still leave before
}{
	{func(d *txn.Dir) error { return d.WriteState("a.json", []byte("first")) }, "|", "first|", false},
	{func(d *txn.Dir) error { return d.WriteState("a.json", []byte("second")) }, "first|", "second|", false},
	{func(d *txn.Dir) error { return d.AppendState("b.jsonl", []byte("one")) }, "second|", "second|one\n", false},
	{func(d *txn.Dir) error { return d.AppendState("b.jsonl", []byte("two")) }, "second|one\n", "second|one\ntwo\n", false},
	{func(d *txn.Dir) error { return d.RemoveState("a.json") }, "second|one\ntwo\n", "|one\ntwo\n", false},
	{func(d *txn.Dir) error { return d.RemoveState("b.jsonl") }, "|one\ntwo\n", "|", false},
	{func(d *txn.Dir) error { return d.AppendStateLazily("b.jsonl", []byte("three")) }, "|", "|three\n", true},
	{func(d *txn.Dir) error { return d.AppendState("b.jsonl", []byte("four")) }, "|", "|three\nfour\n", false},
}

// stateCuts cuts the power after every step of stateWrites. It returns the number of states
// and of violations: a state must be the one before or after the call, and once the call
// has returned the one after. first is the first violation. dropped is as in recorder.
func stateCuts(t *testing.T, dropped func(faultfs.Step) bool) (states, violations int, first string) {
	base, rng := worlds.MemoryDir(t), rand.New(rand.NewPCG(1, 2))
	home := filepath.Join(base, "home")
	list := filepath.Join(home, listPath)
	require.NoError(t, os.MkdirAll(list, 0o755))
	setup, err := txn.Open(t.Context(), list)
	require.NoError(t, err)
	require.NoError(t, setup.Close())
	d, err := load(home)
	require.NoError(t, err)
	var allowed func(string) bool
	look := func(faultfs.Step) {
		d.cuts(limits{exhaustive: 64, samples: 16}, rng, func(c *disk) {
			states++
			state, err := os.MkdirTemp(base, "state-")
			require.NoError(t, err)
			defer os.RemoveAll(state)
			require.NoError(t, c.build(state))
			if got := stateFiles(t, filepath.Join(state, listPath)); !allowed(got) {
				if violations++; first == "" {
					first = got
				}
			}
		})
	}
	allowed = func(got string) bool { return got == "|" }
	dir, err := txn.Open(context.Background(), list, txn.WithFS(recorder(vfs.OS{}, home, d, dropped, look)))
	require.NoError(t, err)
	defer dir.Close()
	for _, w := range stateWrites {
		allowed = func(got string) bool {
			// Of a line that is being added there may be nothing, some, or all.
			return got == w.before || got == w.after || strings.HasPrefix(w.after, got) && strings.HasPrefix(got, w.before)
		}
		require.NoError(t, w.do(dir))
		if !w.lazy {
			allowed = func(got string) bool { return got == w.after }
		}
		look(faultfs.Step{})
	}
	return states, violations, first
}

func stateFiles(t *testing.T, list string) string {
	_, err := txn.Recover(t.Context(), list)
	require.NoError(t, err)
	a, err := txn.ReadState(list, "a.json")
	require.NoError(t, err)
	b, err := txn.ReadState(list, "b.jsonl")
	require.NoError(t, err)
	return string(a) + "|" + string(b)
}

// TestPowerLossLeavesStateFilesWhole: a state file has the old or the new content, and the
// new one once the call has returned. If any of the syncs is dropped, some power cut
// violates that.
func TestPowerLossLeavesStateFilesWhole(t *testing.T) {
	states, violations, first := stateCuts(t, nil)
	assert.Zero(t, violations, "%q", first)
	t.Logf("%d states", states)
	for name, is := range map[string]func(string) bool{
		"S":                 func(path string) bool { return strings.HasSuffix(path, ".fsmtx") },
		"the written file":  func(path string) bool { return strings.Contains(path, "/tmp/") },
		"the appended file": func(path string) bool { return strings.HasSuffix(path, "b.jsonl") },
	} {
		_, violations, _ := stateCuts(t, func(s faultfs.Step) bool { return s.Op == "sync" && is(s.Path) })
		assert.NotZero(t, violations, "no power cut shows that %s is not synced", name)
	}
}
