package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// forgetProcesses makes the processes that are at work others than this one: after a power cut
// none of them is left.
func (w *flow) forgetProcesses() error {
	path := filepath.Join(w.home, "tasks/.list.fsmtx/pending.json")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return os.WriteFile(path, regexp.MustCompile(`"start":"[^"]*"`).ReplaceAll(data, []byte(`"start":"1"`)), 0o600)
}

// TestTransitionAfterEveryPowerCut cuts the power at each step of each transition: whatever
// was not synced by then is lost, kept or torn. The client's own writes are durable here,
// because a task that the client has torn is no list that anybody could show.
func TestTransitionAfterEveryPowerCut(t *testing.T) {
	var states, cases atomic.Int64
	t.Run("each", func(t *testing.T) { // at the same time, because much of it is waiting for locks
		for tr := range chosen(t) {
			t.Run(tr.name, func(t *testing.T) {
				t.Parallel()
				c := &cutter{tried: tr.prepare(t), rng: rand.New(rand.NewPCG(9, 10)), seen: map[[32]byte]bool{}, stride: tr.sampled(500)}
				require.NoError(t, c.run(nil))
				states.Add(int64(c.states))
				cases.Add(int64(c.cases))
			})
		}
	})
	t.Logf("%d transitions, %d states after power cuts, %d events after them", len(transitions), states.Load(), cases.Load())
	require.Greater(t, states.Load(), int64(2))
}

// TestTransitionPowerCutsFindAMissingSync: without the sync of the evidence a transition that
// was answered may be forgotten.
func TestTransitionPowerCutsFindAMissingSync(t *testing.T) {
	for tr := range chosen(t) {
		if !tr.atOnce || tr.acting || tr.isList || !*every && tr.spec != "" && tr.name != "an expansion" {
			continue
		}
		c := &cutter{tried: tr.prepare(t), rng: rand.New(rand.NewPCG(9, 10)), seen: map[[32]byte]bool{}, stride: 1 << 30}
		err := c.run(func(s faultfs.Step) bool {
			return s.Op == "sync" && (strings.HasSuffix(s.Path, "steps.jsonl") || strings.Contains(filepath.Base(s.Path), ".steps.jsonl"))
		})
		require.ErrorContains(t, err, "half done", tr.name)
	}
}

// cutter cuts the power of a transition.
type cutter struct {
	*tried
	rng           *rand.Rand
	seen          map[[32]byte]bool
	stride        int // one of so many states is tried, and all that a power cut after the end may leave
	all           int
	states, cases int
}

// run makes the transition, and cuts the power at each step. The model ignores the syncs for
// which dropped, if not nil, returns true.
func (x *cutter) run(dropped func(faultfs.Step) bool) (err error) {
	w := x.before.copy(x.t)
	d, failed := load(w.home)
	require.NoError(x.t, failed)
	want := x.want
	look := func(after string, l limits) {
		d.cuts(l, x.rng, func(c *disk) {
			if err == nil {
				if err = x.examine(w, c, want, after == "its end"); err != nil {
					err = fmt.Errorf("power cut after %s: %w", after, err)
				}
			}
		})
	}
	l := limits{exhaustive: 64, samples: 16}
	if x.stride > 1 {
		l = limits{exhaustive: 4, samples: 1}
	}
	files := recorder(vfs.OS{}, w.home, d, dropped, func(s faultfs.Step) { look(s.String(), l) })
	w.files, w.wrote = files, func(path string, data []byte) {
		in, _ := relative(w.home, path)
		d.apply(faultfs.Step{Op: "overwrite", Path: in, Data: data})
		d.apply(faultfs.Step{Op: "sync", Path: in})
		look("the client's write", l)
	}
	x.act(w)
	if x.atOnce {
		want = want[len(want)-1:] // it was answered, so it stands
	}
	look("its end", limits{})
	return err
}

// examine lets the next events happen after a power cut that leaves this disk.
func (x *cutter) examine(w *flow, c *disk, want []string, end bool) error {
	_, isCall := w.interrupted()
	key := c.key()
	key[0] ^= byte(b2i(isCall) | b2i(end)<<1)
	if x.seen[key] {
		return nil
	}
	x.seen[key] = true
	if x.all++; x.all%x.stride != 0 && !end {
		return nil
	}
	x.states++
	home, err := os.MkdirTemp(x.base, "state-")
	require.NoError(x.t, err)
	require.NoError(x.t, c.build(home))
	cut := openFlow(home)
	defer cut.remove(x.t)
	require.NoError(x.t, cut.forgetProcesses())
	require.NoError(x.t, os.MkdirAll(home+"/project", 0o755))
	_ = os.Remove(cut.call())
	if isCall {
		data, err := os.ReadFile(w.call())
		require.NoError(x.t, err)
		require.NoError(x.t, os.WriteFile(cut.call(), data, 0o600))
	}
	cases, err := x.tryOn(cut, want, x.states)
	x.cases += cases
	return err
}
