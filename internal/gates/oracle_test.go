//go:build oracle

package gates

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/harness/oracle"
	"github.com/fsmtx/fsmtx/internal/message"
)

// The oracle is an independent program in Python with the same rules. It says what a random
// workflow does with the updates that this package decided, as hooks of a client: which ones
// are refused, how steps ended, what is ready, and the counters of the loops.
//
// The oracle itself knows no updates, and in two places it says something else than the rules:
// it chooses failed and late as if they were words of an agent, and it lets a done be chosen
// that is what comes when another outcome is spent. testdata/replay.py of package machine asks
// it accordingly.

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
	var all []*oracleRun
	for i := range n {
		all = append(all, runForOracle(t, seed+i))
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
func runForOracle(t *testing.T, seed int) *oracleRun {
	steps := flows.Example(seed)
	l := hydrated(t, steps...)
	r := &oracleRun{Spec: map[string]any{"fsm": 2, "steps": oracleSpecOf(steps)}, states: []oracleState{l.forOracle(false)}}
	for _, e := range rapid.SliceOfN(oracleUpdates(len(steps)), 1, 25).Example(seed) {
		r.Events = append(r.Events, e)
		r.states = append(r.states, l.forOracle(!l.asks(e.Step, e.Outcome, e.Passes, false).Allowed()))
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

// forOracle tells the state as the oracle does, and fails unless the list shows it.
func (l *list) forOracle(refused bool) oracleState {
	s := l.state()
	o := oracleState{refused, map[string]string{}, append([]int64{}, ready(s)...), map[string]int{}}
	for _, c := range s.Steps {
		o.Outcomes[message.Itoa(c.ID)] = c.Outcome
		for _, x := range s.Choosable(c) {
			if x.Used > 0 {
				o.Counts[message.Itoa(c.ID)+" "+x.Name] = x.Used
			}
		}
		require.Equal(l.t, c.Outcome != "", l.file(c.ID, "status") == completed, "step %d", c.ID)
	}
	return o
}

func oracleSpecOf(steps []Step) (all []map[string]any) {
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
