//go:build unix

package crash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// other is the flow in another list of the same home, in which largest is the largest number that was ever given.
func (w *flow) other(t require.TestingT, largest int) *flow {
	o := openFlow(w.home)
	o.name = "other"
	if largest > 0 {
		require.NoError(t, os.MkdirAll(o.dir(), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(o.dir(), ".highwatermark"), fmt.Append(nil, largest), 0o644))
	}
	return o
}

// first returns the number of the first step of the outermost workflow.
func (w *flow) first() int64 {
	s, err := state.LoadNow(context.Background(), w.dir())
	if err != nil || len(s.Steps) == 0 {
		return 0
	}
	return s.Root(s.Steps[0].Workflow).Steps[0].ID
}

// continues makes the workflow of w go on in the list of o.
func (w *flow) continues(o *flow, files vfs.FS) (*workflow.Workflow, error) {
	w.files, o.files = files, files
	defer func() { w.files, o.files = nil, nil }()
	from := w.frame().Store
	to := o.frame().Store
	return to.Continue(context.Background(), state.Continuing{From: &from, Root: w.first(), Session: filepath.Base(o.dir()),
		Place: func(dir string) string { return dir }})
}

// shown returns the state of the workflow, and checks that the tasks show it.
func (w *flow) shown(t require.TestingT) string {
	text, s, err := w.stateOf()
	require.NoError(t, err)
	if len(s.Steps) > 0 {
		require.Empty(t, w.shows(s, nil))
	}
	return text
}

// TestDeathOrAFaultWhileAWorkflowIsContinued stops a continuation before each step of both transactions, or makes that
// step alone fail. The workflow is then in one of the lists, as it was, for a reader and after the next event of the old list, and it is
// in the one that was answered.
func TestDeathOrAFaultWhileAWorkflowIsContinued(t *testing.T) {
	for tr := range chosen(t) {
		t.Run(tr.name, func(t *testing.T) {
			before := newFlow(t, worlds.MemoryDir(t), tr.spec)
			tr.before(t, before)
			want, _, err := before.stateOf()
			require.NoError(t, err)
			ends := map[bool]int{}
			for _, dies := range []bool{true, false} {
				for n, failed := len(tr.name)%sampled(37), true; failed; n += sampled(37) {
					w := before.copy(t)
					o, step, first := w.other(t, 40), 0, w.first()
					failed = false
					_, err := w.continues(o, &faultfs.Steps{FS: vfs.OS{}, Before: func(faultfs.Step) error {
						if step++; step == n+1 || step > n && dies {
							failed = true
							return map[bool]error{true: faultfs.ErrFrozen, false: syscall.ENOSPC}[dies]
						}
						return nil
					}})
					about := fmt.Sprintf("dies %t, step %d: %v", dies, n, err)
					require.True(t, failed || err == nil, about)
					elsewhere := w.oneTruth(t, o, first, want, about)
					if err == nil {
						require.True(t, elsewhere, about)
					}
					ends[elsewhere]++
					w.remove(t)
				}
			}
			require.Len(t, ends, 2, "the workflow has always been in the same list")
		})
	}
}

// oneTruth checks that the workflow, whose first step had this number, is in one of the two lists, and in which.
func (w *flow) oneTruth(t require.TestingT, o *flow, first int64, want, about string) (elsewhere bool) {
	interrupted := false
	lists := func() string {
		here, s, err := w.stateOf()
		require.NoError(t, err, about)
		there, other, err := o.stateOf()
		require.NoError(t, err, about)
		interrupted = s.Interrupted || other.Interrupted
		return here + "|" + there
	}
	seen := lists()
	if interrupted { // it is decided by the next event
		seen = ""
	} else {
		require.Contains(t, []string{want + "|", "|" + want}, seen, about)
	}
	for _, f := range []*flow{w, o} {
		st := f.frame().Store
		_, err := st.Resolve(context.Background())
		require.NoError(t, err, about)
	}
	now := lists()
	require.Contains(t, []string{want + "|", "|" + want}, now, about)
	if seen != "" {
		require.Equal(t, seen, now, about)
	}
	v := w.frame().Update(context.Background(), gates.Update{Task: fmt.Sprint(first), Status: inProgress})
	if elsewhere = strings.HasPrefix(now, "|"); elsewhere {
		require.False(t, v.Allowed(), about)
		require.Contains(t, v.Reason, filepath.Base(o.dir()), about)
		require.Empty(t, w.shown(t), about)
	}
	return elsewhere
}

// TestALineThatComesDuringAContinuationIsNotLost: evidence that is written without the lock, before any step of a continuation, is in
// the list that has the workflow, or whoever wrote it is told.
func TestALineThatComesDuringAContinuationIsNotLost(t *testing.T) {
	base := worlds.MemoryDir(t)
	before := newFlow(t, base, transitions[0].spec)
	told := map[bool]int{}
	for n, came := 0, true; came; n += sampled(3) {
		w := before.copy(t)
		o := w.other(t, 40)
		st, step := w.frame().Store, w.first()
		came = false
		var err error
		steps := 0
		_, failed := w.continues(o, &faultfs.Steps{FS: vfs.OS{}, Before: func(faultfs.Step) error {
			if steps++; steps == n+1 {
				came = true
				err = st.WriteLate([]state.Evidence{{Time: time.Now(), Step: step, Verdict: state.Deny, Why: "late"}})
			}
			return nil
		}})
		require.NoError(t, failed)
		_, s, failed := o.stateOf()
		require.NoError(t, failed)
		there := slices.ContainsFunc(s.Evidence, func(e state.Evidence) bool { return e.Why == "late" })
		if came {
			_, elsewhere := errors.AsType[*state.ElsewhereError](err)
			require.True(t, there || elsewhere, "step %d: the line is lost, and the error is %v", n, err)
			told[elsewhere]++
		}
		w.remove(t)
	}
	require.Len(t, told, 2)
}

// TestPowerCutWhileAWorkflowIsContinued cuts the power at each step of a continuation: what was not synced by then
// is lost, kept or torn. The workflow is in one of the lists, as it was; at the end in the one that was answered.
func TestPowerCutWhileAWorkflowIsContinued(t *testing.T) {
	for tr := range chosen(t) {
		if !*every && tr.name != "an expansion" {
			continue
		}
		require.NoError(t, cutContinuation(t, tr, nil), tr.name)
	}
}

// TestPowerCutsFindThatAContinuationDoesNotWait: without the sync of the note in the old list both have the workflow, or none.
func TestPowerCutsFindThatAContinuationDoesNotWait(t *testing.T) {
	err := cutContinuation(t, transitions[0], func(s faultfs.Step) bool {
		return s.Op == "sync" && strings.HasSuffix(s.Path, ".list.fsmtx") && !strings.Contains(s.Path, "txn-")
	})
	require.ErrorContains(t, err, "not one of")
}

func cutContinuation(t *testing.T, tr transition, dropped func(faultfs.Step) bool) (err error) {
	base, rng := worlds.MemoryDir(t), rand.New(rand.NewPCG(11, 12))
	w := newFlow(t, base, tr.spec)
	tr.before(t, w)
	want, _, failed := w.stateOf()
	require.NoError(t, failed)
	o := w.other(t, 40)
	d, failed := load(w.home)
	require.NoError(t, failed)
	states, seen, allowed := 0, map[[32]byte]bool{}, []string{want + "|", "|" + want}
	look := func(about string, l limits) {
		d.cuts(l, rng, func(c *disk) {
			if states++; err != nil || seen[c.key()] || states%sampled(13) != 0 && len(allowed) > 1 {
				return
			}
			seen[c.key()] = true
			c.built(t, base, func(home string) {
				if got := after(t, w.home, home); !slices.Contains(allowed, got) {
					err = fmt.Errorf("power cut after %s: %s, not one of %q", about, got, allowed)
				}
			})
		})
	}
	files := recorder(vfs.OS{}, w.home, d, dropped, func(s faultfs.Step) { look(s.String(), limits{exhaustive: 4, samples: 1}) })
	_, failed = w.continues(o, files)
	require.NoError(t, failed)
	allowed = []string{"|" + want}
	look("the end", limits{exhaustive: 64, samples: 16})
	return err
}

// after returns what the lists in a copy of a home have after the next event.
func after(t *testing.T, original, home string) string {
	w := openFlow(home)
	o := w.other(t, 0)
	_ = os.MkdirAll(filepath.Join(home, "project"), 0o755)
	note := filepath.Join(home, "tasks/.list.fsmtx", state.MovingFile)
	if data, err := os.ReadFile(note); err == nil { // which names the other list
		require.NoError(t, os.WriteFile(note, bytes.ReplaceAll(data, []byte(original), []byte(home)), 0o600))
	}
	require.NoError(t, errors.Join(w.adopt(), o.adopt()))
	var texts []string
	for _, l := range []*flow{w, o} {
		st := l.frame().Store
		if _, err := st.Resolve(t.Context()); err != nil {
			return err.Error()
		}
		if _, err := st.List.Recover(t.Context()); err != nil {
			return err.Error()
		}
		text, _, err := l.stateOf()
		if err != nil {
			return err.Error()
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "|")
}

// TestAWorkflowThatWandersIsAsOneThatStays draws what is done to a workflow, perhaps with copies or another one under a step: updates, what
// a person decides, calls of a skill, continuations in other lists, and back, and deaths at any step of these. After each the workflow
// is in exactly one list, as it is in a list that was never left, and whatever was done has had the same answer.
func TestAWorkflowThatWandersIsAsOneThatStays(t *testing.T) {
	base := worlds.MemoryDir(t)
	begins := slices.DeleteFunc(slices.Clone(transitions), func(tr transition) bool { return strings.Contains(tr.name, "script") })
	rapid.Check(t, func(t *rapid.T) {
		stays, wanders := openFlow(""), openFlow("")
		begin := rapid.SampledFrom(begins).Draw(t, "begin")
		for _, w := range []**flow{&stays, &wanders} {
			*w = newFlow(t, base, begin.spec)
			begin.before(t, *w)
		}
		lists := []*flow{wanders}
		for _, name := range []string{"second", "third"} {
			l := openFlow(wanders.home)
			l.name = name
			lists = append(lists, l)
		}
		if rapid.Bool().Draw(t, "other numbers") { // in the second list
			require.NoError(t, os.MkdirAll(lists[1].dir(), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(lists[1].dir(), ".highwatermark"), []byte("40"), 0o644))
		}
		now := 0
		compare := func(about string) {
			want, there, err := stays.stateOf()
			require.NoError(t, err)
			require.Empty(t, stays.shows(there, nil), about)
			for i, l := range lists {
				st := l.frame().Store
				_, err := st.Resolve(t.Context())
				require.NoError(t, err, about)
				got, s, err := l.stateOf()
				require.NoError(t, err, about)
				if i == now {
					require.Equal(t, want, got, about)
					require.Empty(t, l.shows(s, nil), about)
				} else {
					require.Empty(t, got, "%s: it is in %s, too", about, filepath.Base(l.dir()))
				}
			}
		}
		// moved finds the list in which the workflow is after a death.
		moved := func() {
			for i, l := range lists {
				st := l.frame().Store
				_, err := st.Resolve(t.Context())
				require.NoError(t, err)
				if s, err := state.LoadNow(t.Context(), l.dir()); err == nil && len(s.Steps) > 0 {
					now = i
				}
			}
		}
		files := func() vfs.FS {
			if rapid.Bool().Draw(t, "lives") {
				return vfs.OS{}
			}
			return faultfs.Freeze(vfs.OS{}, rapid.IntRange(0, 140).Draw(t, "dies"), nil)
		}
		for i := range rapid.IntRange(1, 12).Draw(t, "events") {
			_, s, err := stays.stateOf()
			require.NoError(t, err)
			c := rapid.SampledFrom(s.Steps).Draw(t, "step")
			path := pathOf(s, c)
			both := func(do func(w *flow, step int64) bool) {
				require.Equal(t, do(stays, c.ID), do(lists[now], lists[now].at(path)), path)
			}
			switch rapid.SampledFrom([]string{"update", "update", "update", "person", "skill", "continue"}).Draw(t, "event") {
			case "update":
				status, outcome := rapid.SampledFrom([]string{inProgress, completed, completed}).Draw(t, "status"), ""
				if status == completed && len(c.Outcomes) > 0 {
					outcome = rapid.SampledFrom(c.Outcomes).Draw(t, "outcome").Name
				}
				both(func(w *flow, step int64) bool { return w.update(step, status, outcome) })
			case "person":
				what := rapid.SampledFrom([]string{"reopen", "end", "skip"}).Draw(t, "what")
				both(func(w *flow, step int64) bool {
					var err error
					switch what {
					case "reopen":
						_, err = w.frame().Reopen(t.Context(), step, "wrong", person)
					case "end":
						_, err = w.frame().End(t.Context(), step, "enough", person)
					default:
						_, err = w.frame().GoPast(t.Context(), gates.Past{Step: step, Because: "late", WithBlockers: true}, person)
					}
					return err == nil
				})
			case "skill":
				both(func(w *flow, _ int64) bool { return w.calls("notes") == nil })
			case "continue":
				to := rapid.IntRange(0, len(lists)-1).Draw(t, "to")
				if to != now {
					_, _ = lists[now].continues(lists[to], files())
					moved()
				}
			}
			compare(fmt.Sprintf("event %d", i))
		}
	})
}
