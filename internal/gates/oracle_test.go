//go:build oracle

package gates

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/harness/oracle"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// The oracle is an independent program in Python with the same rules. It says what a random
// workflow does with the updates that this package decided, as hooks of a client: which ones
// are refused, how steps ended, what is ready, and the counters of the loops.
//
// The oracle itself knows no updates, and in two places it says something else than the rules:
// it chooses failed and late as if they were words of an agent, and it lets a done be chosen
// that is what comes when another outcome is spent. testdata/replay.py of package machine asks
// it accordingly.

// oracleFlows generates the steps of valid workflows: with checks, thens, a person.
var oracleFlows = rapid.Custom(func(t *rapid.T) []workflow.Step {
	all := make([]workflow.Step, rapid.IntRange(1, 7).Draw(t, "steps"))
	chance := func(n int) bool { return rapid.IntRange(1, n).Draw(t, "chance") == 1 }
	person := false
	for i := range all {
		s := &all[i]
		s.ID, s.Subject = int64(i+1), fmt.Sprint("Step ", i+1)
		if i > 0 {
			s.BlockedBy = rapid.SliceOfNDistinct(rapid.Int64Range(1, int64(i)), 0, 2, rapid.ID[int64]).Draw(t, "blockedBy")
		}
		names := []string{"a", "b", "c"}
		if chance(3) {
			s.Check = &workflow.Check{Run: "test -e passes", Timeout: 20}
			names = append(names, "failed", "failed")
		}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 4, rapid.ID[string]).Draw(t, "outcomes") {
			o := workflow.Outcome{Name: name}
			switch rapid.IntRange(0, 3).Draw(t, "effect") {
			case 0, 1:
				if chance(2) || name == "failed" {
					o.Back, o.Max = rapid.Int64Range(1, s.ID).Draw(t, "back"), rapid.IntRange(1, 2).Draw(t, "max")
				}
			case 2:
				o.Stop = chance(4)
			}
			s.Outcomes = append(s.Outcomes, o)
		}
		for k := range s.Outcomes {
			if s.Outcomes[k].Back != 0 && chance(2) {
				s.Outcomes[k].Then = rapid.SampledFrom(s.Outcomes).Draw(t, "then").Name
			}
		}
		if !person && s.Check == nil && len(s.Outcomes) > 1 && chance(4) {
			s.Decides, person = "person", true
		}
		if i > 0 && len(all[i-1].Outcomes) > 1 && chance(2) {
			s.When = []workflow.Condition{{Step: s.ID - 1, Outcomes: []string{all[i-1].Outcomes[0].Name}}}
			s.BlockedBy = append(slices.DeleteFunc(s.BlockedBy, func(id int64) bool { return id == s.ID-1 }), s.ID-1)
		}
	}
	return all
}).Filter(isFlow)

type oracleEvent struct {
	Kind    string `json:"kind"`
	Step    int64  `json:"step"`
	Outcome string `json:"outcome"`
	Passes  bool   `json:"passes"` // the check of the step
}

// oracleState is a state as the oracle and this package tell it.
type oracleState struct {
	Refused  bool              `json:"refused"`
	Outcomes map[string]string `json:"outcomes"`
	Ready    []int64           `json:"ready"`
	Counts   map[string]int    `json:"counts"`
}

// oracleRun is a workflow, what an agent did with it, and the state after each event.
type oracleRun struct {
	Spec   map[string]any `json:"spec"`
	Events []oracleEvent  `json:"events"`

	states []oracleState
}

// TestOracleOfTheFrame: on random workflows and random updates the hooks decide what the oracle
// says, and the list shows it after every event.
func TestOracleOfTheFrame(t *testing.T) {
	seed, _ := strconv.Atoi(os.Getenv("SEED"))
	const n = 400
	root := worlds.MemoryDir(t)
	var all []*oracleRun
	for i := range n {
		all = append(all, runForOracle(t, filepath.Join(root, fmt.Sprint(i)), seed+i))
	}
	events, refused := 0, 0
	answers := oracle.Ask[*oracleRun, oracleAnswer](t, "../machine/testdata/replay.py", all)
	for i, r := range all {
		text, _ := json.Marshal(r)
		require.Empty(t, answers[i].Error, "only the oracle refuses %s", text)
		for k, want := range answers[i].States {
			got := r.states[k]
			require.Equal(t, want, got, "after event %d of %s", k, text)
			if events++; got.Refused {
				refused++
			}
		}
	}
	t.Logf("%d workflows, %d events, %d of them refused: the frame agrees with the oracle", n, events, refused)
	require.Greater(t, refused, n)
	require.Greater(t, events-refused, n)
}

// runForOracle lets a random agent work on a random workflow.
func runForOracle(t *testing.T, dir string, seed int) *oracleRun {
	steps := oracleFlows.Example(seed)
	require.NoError(t, os.Mkdir(dir, 0o755))
	defer os.RemoveAll(dir)
	for i := range steps {
		steps[i].Status = workflow.Pending
	}
	l := &list{Frame: newFrame(dir), t: t, project: dir}
	hydrate(t, l.List.Dir, dir, steps)
	r := &oracleRun{Spec: map[string]any{"fsm": 2, "steps": oracleSpecOf(steps)}, states: []oracleState{l.forOracle(t, false)}}
	for _, e := range rapid.SliceOfN(oracleUpdates(len(steps)), 1, 25).Example(seed) {
		r.Events = append(r.Events, e)
		r.states = append(r.states, l.forOracle(t, l.asks(t, e)))
	}
	return r
}

func oracleUpdates(n int) *rapid.Generator[oracleEvent] {
	return rapid.Custom(func(t *rapid.T) oracleEvent {
		return oracleEvent{"ask", rapid.Int64Range(1, int64(n)).Draw(t, "step"),
			rapid.SampledFrom([]string{"", "", "a", "b", "c", "failed", "done"}).Draw(t, "outcome"),
			rapid.Bool().Draw(t, "passes")}
	})
}

// asks completes a step as a client does whose hooks these are, and reports whether that was
// refused.
func (l *list) asks(t *testing.T, e oracleEvent) (refused bool) {
	passes := filepath.Join(l.project, "passes")
	_ = os.Remove(passes)
	if e.Passes {
		require.NoError(t, os.WriteFile(passes, []byte("x"), 0o644))
	}
	before := l.state()
	c := before.Step(e.Step)
	word := e.Outcome
	if c.Decides == "person" && !c.Done() {
		if word == "" || !slices.Contains(c.Choices(), word) {
			word = "" // a person chooses what there is, or the agent does not ask
		} else {
			_, _ = l.Chosen(t.Context(), []Choice{choice(c.ID, word)}, state.ByQuestion, "")
		}
	}
	u := Update{Task: message.Itoa(e.Step), Status: workflow.Completed}
	if word != "" {
		u.Metadata = []byte(`{"outcome":"` + word + `"}`)
	}
	v := l.Update(t.Context(), u)
	require.Empty(t, v.Trouble)
	if !v.Allowed() {
		return true
	}
	if v.Turn != nil {
		l.set(e.Step, workflow.Pending)
	} else {
		l.set(e.Step, workflow.Completed)
	}
	_, v = l.Seen(t.Context(), u.Task, "")
	require.Empty(t, v.Trouble)
	return false
}

// forOracle tells the state as the oracle does, and fails unless the list shows it.
func (l *list) forOracle(t *testing.T, refused bool) oracleState {
	s := l.state()
	o := oracleState{refused, map[string]string{}, []int64{}, map[string]int{}}
	for _, c := range s.Steps {
		o.Outcomes[message.Itoa(c.ID)] = c.Outcome
		for _, x := range s.Choosable(c) {
			if x.Used > 0 {
				o.Counts[message.Itoa(c.ID)+" "+x.Name] = x.Used
			}
		}
		data, err := os.ReadFile(filepath.Join(l.List.Dir, fileName(c.ID)))
		require.NoError(t, err)
		require.Equal(t, c.Outcome != "", jsonx.StringMember(data, "status") == workflow.Completed, "step %d: %s", c.ID, data)
	}
	for _, c := range s.Ready() {
		o.Ready = append(o.Ready, c.ID)
	}
	return o
}

func oracleSpecOf(steps []workflow.Step) (all []map[string]any) {
	for _, s := range steps {
		o := map[string]any{"id": s.ID, "subject": s.Subject, "blockedBy": append([]int64{}, s.BlockedBy...)}
		if s.Check != nil {
			o["check"] = s.Check.Run
		}
		if s.Decides != "" {
			o["decides"] = s.Decides
		}
		when := map[string][]string{}
		for _, c := range s.When {
			when[message.Itoa(c.Step)] = c.Outcomes
		}
		outcomes := oracle.Outcomes{}
		for _, x := range s.Outcomes {
			outcomes = append(outcomes, oracle.Outcome{Name: x.Name, Back: x.Back, Max: x.Max, Then: x.Then, Stop: x.Stop})
		}
		o["when"], o["outcomes"] = when, outcomes
		all = append(all, o)
	}
	return all
}

type oracleAnswer struct {
	Error  string        `json:"error"`
	States []oracleState `json:"states"`
}
