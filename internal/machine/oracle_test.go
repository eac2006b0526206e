//go:build oracle

package machine

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/harness/oracle"
)

// The oracle is an independent program in Python with the same rules. It replays what this
// package did with random workflows.

type oracleCase struct {
	Spec   oracleSpec    `json:"spec"`
	Events []oracleEvent `json:"events"`

	machine *Machine
	states  []State
}

type oracleSpec struct {
	FSM   int              `json:"fsm"`
	Steps []map[string]any `json:"steps"`
}

type oracleEvent struct {
	Kind    string `json:"kind"`
	Step    int64  `json:"step"`
	Outcome string `json:"outcome"`
}

type oracleAnswer struct {
	Error    string         `json:"error"`
	Bound    int            `json:"bound"`
	Runs     map[string]int `json:"runs"`
	Dead     []int64        `json:"dead"`
	Loops    int            `json:"loops"`
	Warnings int            `json:"warnings"`
	States   []struct {
		Outcomes map[string]string `json:"outcomes"`
		Ready    []int64           `json:"ready"`
		Counts   map[string]int    `json:"counts"`
	} `json:"states"`
}

// cases generates workflows with one run of each, to its end or at most 40 events.
var cases = rapid.Custom(func(t *rapid.T) oracleCase {
	steps := workflows.Draw(t, "workflow")
	c := oracleCase{Spec: oracleSpec{2, objects(steps)}, Events: []oracleEvent{}}
	m, _ := New(steps)
	if m == nil {
		return c
	}
	c.machine, c.states = m, []State{m.Start()}
	started := map[int64]bool{}
	for range 40 {
		s := c.states[len(c.states)-1]
		if s.over() {
			break
		}
		id := rapid.SampledFrom(preferStarted(started, s.Ready())).Draw(t, "step")
		e := oracleEvent{"begin", id, ""}
		if started[id] = !started[id] && !chance(t, 2); !started[id] {
			e.Kind, e.Outcome = "conclude", choose(t, m, &s, id)
			s, _, _ = s.Conclude(id, e.Outcome)
		}
		c.Events, c.states = append(c.Events, e), append(c.states, s)
	}
	return c
})

func objects(steps []Step) (all []map[string]any) {
	for _, s := range steps {
		o := map[string]any{"id": s.ID, "subject": fmt.Sprint("Step ", s.ID), "blockedBy": append([]int64{}, s.BlockedBy...)}
		if s.Check {
			o["check"] = "true"
		}
		if s.Decides == Person {
			o["decides"] = "person"
		}
		when, outcomes := map[string][]string{}, oracle.Outcomes{}
		for _, c := range s.When {
			when[id(c.Step)] = append([]string{}, c.Outcomes...)
		}
		for _, x := range s.Outcomes {
			outcomes = append(outcomes, oracle.Outcome{Name: x.Name, Back: x.Back, Max: x.Max, Then: x.Then, Stop: x.Stop})
		}
		o["when"], o["outcomes"] = when, outcomes
		all = append(all, o)
	}
	return all
}

// TestAgreesWithTheOracle: the oracle refuses the same workflows, proves the same bounds and
// dead steps, and is in the same state after each event.
func TestAgreesWithTheOracle(t *testing.T) {
	const n = 20_000
	seed := 0
	if text := os.Getenv("SEED"); text != "" {
		var err error
		seed, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	all := make([]oracleCase, n)
	for i := range all {
		all[i] = cases.Example(seed + i)
	}
	answers := oracle.Ask[oracleCase, oracleAnswer](t, "testdata/replay.py", all)
	valid, events := 0, 0
	for i, c := range all {
		a := answers[i]
		if c.machine == nil {
			require.NotEmpty(t, a.Error, "only this package refuses %s", text(c))
			continue
		}
		require.Empty(t, a.Error, "only the oracle refuses %s", text(c))
		valid, events = valid+1, events+len(c.Events)
		require.Equal(t, a.Bound, c.machine.Bound(), text(c))
		require.Len(t, c.machine.Loops(), a.Loops, text(c))
		for _, s := range c.machine.steps {
			require.Equal(t, a.Runs[id(s.ID)], c.machine.Runs(s.ID), text(c))
		}
		require.Equal(t, a.Dead, dead(c.machine), text(c))
		require.Equal(t, a.Warnings, otherWarnings(c.machine), text(c))
		for k, s := range c.states {
			require.Equal(t, a.States[k].Ready, append([]int64{}, s.Ready()...), "after event %d of %s", k, text(c))
			require.Equal(t, a.States[k].Outcomes, outcomesOf(c.machine, s), "after event %d of %s", k, text(c))
			require.Equal(t, a.States[k].Counts, countsOf(c.machine, s), "after event %d of %s", k, text(c))
		}
	}
	t.Logf("%d workflows agree, %d of them valid, with %d events", n, valid, events)
	require.Greater(t, valid, n/4)
}

func text(c oracleCase) string {
	data, _ := json.Marshal(c)
	return string(data)
}

// dead returns the steps of which New warns that they are never needed.
func dead(m *Machine) []int64 {
	ids := []int64{}
	_, faults := New(m.steps)
	for _, f := range faults {
		if f.Warning && slices.Equal(f.Path, at("when")) {
			ids = append(ids, m.steps[f.Step].ID)
		}
	}
	return ids
}

// otherWarnings counts the warnings that the oracle has too.
func otherWarnings(m *Machine) (n int) {
	_, faults := New(m.steps)
	for _, f := range faults {
		if len(f.Path) > 0 && f.Path[0] != "when" && !strings.Contains(f.Text, "is only taken when") {
			n++
		}
	}
	return n
}

func outcomesOf(m *Machine, s State) map[string]string {
	all := map[string]string{}
	for _, step := range m.steps {
		all[id(step.ID)] = s.Outcome(step.ID)
	}
	return all
}

func countsOf(m *Machine, s State) map[string]int {
	all := map[string]int{}
	for _, l := range m.Loops() {
		if n := s.Times(l.Step, l.Outcome); n > 0 {
			all[fmt.Sprint(l.Step, " ", l.Outcome)] = n
		}
	}
	return all
}
