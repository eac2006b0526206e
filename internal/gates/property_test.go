package gates

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestAnyWorkflowAnyUpdates checks the promises of this package for any workflow and any
// sequence of updates by the agent, changes by other programs and overrides by a person:
//
//   - No step is done before its blockers unless an override is recorded or the workflow
//     was hydrated so. (Not detected: another program carries out an allowed update after
//     a blocker was reopened.)
//   - No call changes a task of the user.
//   - The agent is never stuck: each denial names the step that a person can go past, and
//     going past it works.
func TestAnyWorkflowAnyUpdates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newRandom(t)
		for range rapid.IntRange(0, 12).Draw(t, "operations") {
			w.operate()
			w.checkPromises()
		}
		w.finish()
	})
}

// random is a list with a workflow of random shape.
type random struct {
	*Frame
	t       *rapid.T
	project string
	steps   []workflow.Step
	dropped map[int64]bool // completions that were allowed and not carried out
	manual  string
	hinted  bool // a refusal has said what a person can do
}

func newRandom(t *rapid.T) *random {
	root := worlds.MemoryDir(t)
	w := &random{t: t, project: filepath.Join(root, "project"), dropped: map[int64]bool{},
		manual: `{"id":"99","status":"pending","subject":"mine","description":"","blocks":[],"blockedBy":[]}`}
	w.Frame = &Frame{Store: state.Store{List: tasks.List{Dir: filepath.Join(root, "tasks", "s1"), Wait: time.Minute}, Session: "s1"}}
	n := rapid.IntRange(1, 5).Draw(t, "steps")
	for id := int64(1); id <= int64(n); id++ {
		s := workflow.Step{ID: id, Status: rapid.SampledFrom([]string{workflow.Pending, workflow.Pending, workflow.Pending, workflow.InProgress,
			workflow.Completed}).Draw(t, "status")}
		for other := int64(1); other <= int64(n); other++ {
			// Most workflows have an order; some have cycles.
			if other < id && rapid.Bool().Draw(t, "after") || rapid.IntRange(0, 20).Draw(t, "cycle") == 0 {
				s.BlockedBy = append(s.BlockedBy, other)
			}
		}
		switch rapid.IntRange(0, 5).Draw(t, "gate") {
		case 0:
			s.Produces = []string{"out"}
		case 1:
			s.Approval = "Yes?"
		case 2:
			s.Ready = []string{"out"}
		case 3:
			s.Produces, s.Approval = []string{"out"}, "Yes?"
		}
		w.steps = append(w.steps, s)
	}
	require.NoError(t, os.Mkdir(w.project, 0o755))
	hydrate(t, w.List.Dir, w.project, w.steps)
	require.NoError(t, os.WriteFile(w.path(99), []byte(w.manual), 0o644))
	return w
}

func (w *random) path(id int64) string { return filepath.Join(w.List.Dir, fileName(id)) }

func (w *random) state() *state.State {
	s, err := state.Load(context.Background(), w.List.Dir)
	require.NoError(w.t, err)
	return s
}

// set changes the status of a task as another program does. It does nothing if the task is
// gone.
func (w *random) set(id int64, status string) {
	if _, err := os.Stat(w.path(id)); err == nil {
		writeStatus(w.t, w.path(id), status)
	}
}

func (w *random) operate() {
	t := w.t
	id := rapid.Int64Range(1, int64(len(w.steps))).Draw(t, "id")
	status := rapid.SampledFrom([]string{workflow.Pending, workflow.InProgress, workflow.Completed, workflow.Completed}).Draw(t, "to")
	switch rapid.IntRange(0, 9).Draw(t, "operation") {
	case 0:
		if status != workflow.Completed || !w.dropped[id] {
			w.set(id, status)
		}
	case 1:
		out := filepath.Join(w.project, "out")
		if os.Remove(out) != nil {
			require.NoError(t, os.WriteFile(out, []byte("x"), 0o644))
		}
	case 2:
		_, err := w.GoPast(context.Background(), Past{Step: id, Done: rapid.Bool().Draw(t, "done"), Because: "so"}, state.By{})
		require.True(t, err == nil || errors.Is(err, errIsDone) || errors.Is(err, errNoStep) || errors.Is(err, errBlocked), "%v", err)
	case 3:
		v := w.Update(context.Background(), Update{Task: "99",
			Status: rapid.SampledFrom([]string{workflow.Completed, workflow.Deleted}).Draw(t, "mine")})
		require.Equal(t, Verdict{}, v)
	case 4:
		v := w.Update(context.Background(), Update{Task: message.Itoa(id), Status: workflow.Deleted})
		require.Equal(t, state.Deny, v.Decision)
		if rapid.IntRange(0, 3).Draw(t, "gone") == 0 {
			require.NoError(t, os.RemoveAll(w.path(id))) // another program
		}
	default:
		w.ask(id, status, rapid.Bool().Draw(t, "carried out"))
	}
}

// ask requests an update and, with carryOut, carries out what is allowed or what a person is
// asked for.
func (w *random) ask(id int64, status string, carryOut bool) Verdict {
	v := w.Update(context.Background(), Update{Task: message.Itoa(id), Status: status})
	require.True(w.t, v.Trouble == "" || len(w.state().Missing()) > 0, v.Trouble)
	switch {
	case v.Decision == state.Deny:
		hinted := strings.Contains(v.Reason, " in a terminal outside the client: fsmtx step skip ") || v.Why == "it is done"
		require.True(w.t, hinted || w.hinted, v.Reason)
		require.True(w.t, hinted || !strings.Contains(v.Reason, "only a person"), v.Reason)
		w.hinted = true
	case carryOut:
		if status == workflow.Completed { // the client sends TaskCompleted, after a yes if it asked
			require.True(w.t, w.Completed(context.Background(), Update{Task: message.Itoa(id), Status: workflow.Completed}).Allowed())
		}
		w.set(id, status)
		w.dropped[id] = false
	case status == workflow.Completed:
		w.dropped[id] = true
	}
	return v
}

func (w *random) checkPromises() {
	s := w.state()
	for _, c := range s.Steps {
		if c.Gone() || !c.Done() || c.Step.Status == workflow.Completed || w.excused(s, c) {
			continue
		}
		require.Empty(w.t, s.OpenBlockers(c), "#%d is done before its blockers", c.ID)
	}
	mine, err := os.ReadFile(w.path(99))
	require.NoError(w.t, err)
	require.Equal(w.t, w.manual, string(mine))
}

// excused reports whether a person went past the step, or one of its blockers was reopened.
func (w *random) excused(s *state.State, c *state.Current) bool {
	return slices.ContainsFunc(s.Evidence, func(e state.Evidence) bool {
		past := e.Step == c.ID && e.Verdict == state.Override
		return past || slices.Contains(c.BlockedBy, e.Step) && e.Verdict != state.Deny && e.From == workflow.Completed &&
			e.To != workflow.Completed
	}) || slices.ContainsFunc(c.BlockedBy, func(id int64) bool { return s.Step(id).Done() }) // reopened by another program
}

var goPast = regexp.MustCompile(`fsmtx step skip (\d+) `)

// finish completes the remaining steps, like an agent that asks a person when it is told to.
func (w *random) finish() {
	for range 12 * len(w.steps) {
		s := w.state()
		i := slices.IndexFunc(s.Steps, func(c *state.Current) bool { return !c.Done() })
		if i < 0 {
			return
		}
		v := w.ask(s.Steps[i].ID, workflow.Completed, true)
		w.checkPromises()
		if v.Decision != state.Deny {
			continue
		}
		hint := goPast.FindStringSubmatch(v.Reason)
		if hint == nil {
			continue // it was said before, and is said again to who asks a third time
		}
		id, err := strconv.ParseInt(hint[1], 10, 64)
		require.NoError(w.t, err)
		_, err = w.GoPast(context.Background(), Past{Step: id, Because: "stuck"}, state.By{})
		require.NoError(w.t, err, v.Reason)
		w.checkPromises()
	}
	require.Fail(w.t, "stuck", fmt.Sprint(w.state().Evidence))
}
