package state

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestBlockersThatTheListHas: a task waits for those only.
func TestBlockersThatTheListHas(t *testing.T) {
	second := stepLine{id: 2, status: pending, after: ids(1)}
	for want, s := range map[string]*State{
		"replaced": stateOf(second), "gone": stateOf(stepLine{id: 1}, second),
	} {
		assert.Empty(t, s.Step(2).blockers(s), want)
	}
	s := stateOf(stepLine{id: 1, status: completed}, second)
	assert.Equal(t, []string{"1"}, s.Step(2).blockers(s))
}

// TestLastLines: twenty lines at most, and as many characters as the agent reads.
func TestLastLines(t *testing.T) {
	all := strings.Split(strings.Repeat("x\n", 30), "\n")
	assert.Equal(t, strings.Join(all[10:30], "\n"), LastLines(strings.Join(all, "\n")))
	assert.Equal(t, "…"+strings.Repeat("é", 2000), LastLines(strings.Repeat("é", 3000)))
	assert.Equal(t, `\x1b[31mred`, LastLines("\x1b[31mred\r\n"))
	assert.Empty(t, LastLines("\n\n"))
}

// TestChanges: which steps, and what else, another definition has changed.
func TestChanges(t *testing.T) {
	const array = `[{"id": 1, "subject": "A", "check": "x"}, {"id": 2, "subject": "B", "blockedBy": [1]}]`
	const object = `{"fsm": 2, "vars": {"a": "1"}, "steps": [{"id": 1, "subject": "A"}, {"id": 10, "subject": "B", "when": {"1": "done"}}]}`
	for _, c := range []struct{ old, now, want string }{
		{array, array, ""},
		{array, strings.NewReplacer(", ", ",\n", `": `, `" :`).Replace(array), ""},
		{array, strings.Replace(array, `"x"`, `"y"`, 1), "step 1 differs"},
		{array, `[{"id": 2, "subject": "B"}]`, "steps 1 and 2 differ"}, // a step gone, another order
		{`[{"id": 1, "subject": "A", "check": "x"}]`, array, "step 2 differs"},
		{array, `[]`, "steps 1 and 2 differ"},
		{object, strings.Replace(object, `"a": "1"`, `"a": "2"`, 1), "vars differs"},
		{object, strings.Replace(object, `, "when": {"1": "done"}`, "", 1), "step 10 differs"},
		{object, `{"steps": [{"id": "2", "subject": "A"}], "": 1}`, `steps 1, 2 and 10 differ,  differs, fsm differs, vars differs`},
	} {
		old := &workflow.Workflow{Definition: Definition([]byte(c.old), false)}
		now := &workflow.Workflow{Definition: Definition([]byte(c.now), false)}
		assert.Equal(t, c.want, new(State).Changes(old, now), c.now)
	}
}

// TestLateNames names of state files have letters only, and different ids different names.
func TestLateNames(t *testing.T) {
	assert.Equal(t, LatePrefix+"abjz-x", lateName("019Z-X"))
}

// TestBegins: a start that was let through counts for the time limit, in its round.
func TestBegins(t *testing.T) {
	for _, c := range []struct {
		e    Evidence
		want bool
	}{
		{Evidence{Verdict: Allow, To: inProgress, Round: 1}, true},
		{Evidence{Verdict: Deny, To: inProgress, Round: 1}, false},
		{Evidence{Verdict: Allow, To: completed, Round: 1}, false},
		{Evidence{Verdict: Allow, To: inProgress}, false},
	} {
		assert.Equal(t, c.want, c.e.begins(), "%+v", c.e)
	}
}

// TestATextThatIsNoTask has no status that counts.
func TestATextThatIsNoTask(t *testing.T) {
	for _, text := range []string{"", "{", `{"id":"1","status":"done"}`, `{"id":"1"}`} {
		assert.Nil(t, parseTask([]byte(text)), text)
	}
}

// TestWord: the first of these that holds of a step.
func TestWord(t *testing.T) {
	after := stepLine{id: 2, status: pending, after: ids(1)}
	for _, c := range []struct {
		want   string
		step   stepLine
		change func(s *State, c *Current)
	}{
		{"ready", stepLine{id: 2, status: pending}, nil},
		{"blocked", after, nil},
		{"in progress", stepLine{id: 2, status: inProgress}, nil},
		{"unchecked", stepLine{id: 2, status: completed}, nil},
		{"done", stepLine{id: 2, status: completed, passed: true}, nil},
		{"gone", stepLine{id: 2}, nil},
		{"not needed", stepLine{id: 2}, func(_ *State, c *Current) { c.NotNeeded = true }},
		{"not needed", after, func(_ *State, c *Current) { c.NotNeeded = true }},
		{"skipped", stepLine{id: 2, status: completed}, func(_ *State, c *Current) { c.Outcome = machine.Skipped }},
		{"skipped", stepLine{id: 2, status: completed, passed: true}, func(s *State, _ *Current) {
			ago(s, 0, 2, completed, Skip)
		}},
		{"done", stepLine{id: 2, status: completed, passed: true}, func(s *State, _ *Current) { // a person's word, too
			ago(s, 0, 2, completed, CallsIt)
		}},
		{"done", stepLine{id: 2, status: completed, passed: true}, func(s *State, _ *Current) {
			ago(s, 0, 2, completed, Allow).Evidence[0].Why = "skip"
		}},
		{"checking", stepLine{id: 2, status: inProgress}, func(s *State, _ *Current) { s.Pending = []Pending{{Step: 2}} }},
		{"in progress", stepLine{id: 2, status: inProgress}, func(s *State, _ *Current) {
			s.Pending = []Pending{{Step: 2, Waiting: true}}
		}},
	} {
		s := stateOf(stepLine{id: 1, status: inProgress}, c.step)
		if c.change != nil {
			c.change(s, s.Step(2))
		}
		assert.Equal(t, c.want, string(s.Word(s.Step(2))), "%+v", c.step)
	}
}

// TestOver: before its start and within its time limit a step is not late, nor if the clock is set back.
func TestOver(t *testing.T) {
	s := stateOf(stepLine{id: 1})
	for begun, want := range map[time.Duration]time.Duration{-time.Hour: 0, 0: 0, time.Minute: 0, time.Minute + 2: 2} {
		c := &Current{Step: Step{Within: time.Minute}}
		assert.Equal(t, want, s.over(c, s.Time.Add(-begun)))
		assert.Zero(t, s.over(c, time.Time{}))
		assert.Zero(t, s.over(&Current{}, s.Time.Add(-begun)))
	}
}

// TestALineCountsOnce, also if it is in a file that was written without the lock; lines that differ are others.
func TestALineCountsOnce(t *testing.T) {
	l := hydrated(t, `{}`)
	s := l.state()
	e := Evidence{Time: s.Time.UTC(), Step: 1, From: pending, To: inProgress, Verdict: Allow}
	all := []Evidence{e, e, e, e, e}
	all[1].Step, all[2].Verdict, all[3].To, all[4].Time = 2, Deny, completed, e.Time.Add(1)
	s.add(all)
	s.add(all)
	assert.Equal(t, all, s.Evidence)

	for _, c := range all[3:] {
		line, err := c.line()
		require.NoError(t, err)
		s.addLate("", line)
	}
	assert.Empty(t, s.late)
	later := e
	later.Time = e.Time.Add(time.Hour)
	line, err := later.line()
	require.NoError(t, err)
	s.addLate("", line)
	assert.Len(t, s.late, 1)
}

// TestNowReady names each step once, with what the first is about.
func TestNowReady(t *testing.T) {
	s := stateOf(stepLine{id: 1}, stepLine{id: 2}, stepLine{id: 3})
	for n, want := range []string{"", ` Ready: #1 "A": do it`, ` Ready: #1 "A": do it` + "\nAlso ready: " + `#2 "B"`,
		` Ready: #1 "A": do it` + "\nAlso ready: " + `#2 "B" and #3 "C"`} {
		assert.Equal(t, want, nowReady(s.Steps[:n], "do it"))
	}
	assert.Equal(t, ` Ready: #1 "A"`, nowReady(s.Steps[:1], ""))
}

// TestWhatRestarts: parts, and parts of parts, with the step that they are under; not what a round of it called.
func TestWhatRestarts(t *testing.T) {
	for _, c := range []struct {
		second, third int // rounds
		opened        int64
		want          [3]bool
	}{{0, 0, 10, [3]bool{false, true, true}}, {0, 0, 20, [3]bool{false, false, true}}, {0, 0, 11, [3]bool{}},
		{1, 0, 10, [3]bool{}}, {0, 1, 10, [3]bool{false, true, false}}, {1, 0, 20, [3]bool{false, false, true}}} {
		s := treeOf("a 0", "b 10", "c 20")
		all := s.Workflows()
		all[1].Round, all[2].Round = c.second, c.third
		for i, w := range all {
			assert.Equal(t, c.want[i], s.restarts(w, ids(c.opened, 99)), "%d of %+v", i, c)
		}
	}
}

// TestMarks: what the metadata of a task says, read once.
func TestMarks(t *testing.T) {
	s := &State{}
	for range 2 {
		for text, want := range map[string]mark{`{"fsm":"ship"}`: {"ship", false}, `{"fsm":"ship","_internal":true}`: {"ship", true},
			`{"fsm":"ship","_internal":false}`: {"ship", false}, `{}`: {}, ``: {}} {
			assert.Equal(t, want, s.mark(&tasks.Task{Metadata: jsontext.Value(text)}), text)
		}
	}
}

// A power cut can empty the files of all tasks. Status waited for each of them in turn: 6 s for a
// hundred.
func TestLoadWaitsForAllTornTasksTogether(t *testing.T) {
	l := hydrated(t, slices.Repeat([]string{`{}`}, 20)...)
	for id := range int64(20) {
		l.put(id+1, "")
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s, err := Load(t.Context(), l.List.Dir)
		require.NoError(t, err)
		require.Len(t, s.Steps, 20)
		require.Equal(t, pending, s.Steps[0].Status)
		require.Less(t, time.Since(began), 4*longestWrite)
	})
}
