package rules

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

func TestPhasesThatStepsShowToBeDone(t *testing.T) {
	step := func(subject string, done bool) gates.StepAtTurnEnd {
		return gates.StepAtTurnEnd{Command: "product-planning:plan", Subject: subject, Done: done}
	}
	foreign := gates.StepAtTurnEnd{Command: "release", Subject: "Research"}
	for name, c := range map[string]struct {
		steps []gates.StepAtTurnEnd
		want  []string
	}{
		"no steps":         {nil, nil},
		"of another skill": {[]gates.StepAtTurnEnd{{Command: "release", Subject: "Research", Done: true}}, nil},
		"named, in any spelling": {[]gates.StepAtTurnEnd{step("Phase 2: Research", true), step("Phase 8: test strategy", true),
			step("Tasks", false)}, []string{"RESEARCH", "TEST_STRATEGY"}},
		"not every step of it is done":   {[]gates.StepAtTurnEnd{step("Research the market", true), step("Research the code", false)}, nil},
		"a part of a word, or of a name": {[]gates.StepAtTurnEnd{step("Researching", true), step("Test plans", true), step("Tasks", false)}, nil},
		"every step":                     {[]gates.StepAtTurnEnd{step("Think", true), step("Write", true), foreign}, defaults.phases},
	} {
		assert.Equal(t, c.want, defaults.doneBySteps(c.steps), name)
	}
}

func TestStepsEndTheWorkflowOfH11b(t *testing.T) {
	for name, c := range map[string]struct {
		phase string
		done  []string
		row   int
	}{
		"all phases":                        {"PLAN", defaults.phases, 9},
		"all but the last, which is a word": {"TEST_COVERAGE", []string{"TEST_COVERAGE", "TASKS"}, 9},
		"one is left":                       {"TEST_STRATEGY", []string{"TEST_STRATEGY", "TASKS"}, 8},
		"the last and not the one before":   {"TASKS", []string{"COMPLETION"}, 8},
		"only earlier ones":                 {"TASKS", []string{"SETUP"}, 8},
		"none, at the last but one":         {"TASKS", nil, 8},
	} {
		assert.Equal(t, c.row, workflowFacts{inPhase(c.phase), c.done}.decide(defaults).Row, name)
	}
	assert.Contains(t, workflowFacts{inPhase("TEST_STRATEGY"), []string{"TASKS"}}.decide(defaults).Message,
		"Missing phases: TEST_COVERAGE, COMPLETION.")
	red := inPhase("PLAN")
	red.gates = []gate{{verdict: "RED"}}
	assert.Equal(t, 5, workflowFacts{red, defaults.phases}.decide(defaults).Row, "a failed gate comes first")
}

func TestPhasesOfSteps(t *testing.T) {
	config := defaults
	config.plugin = "product-planning"
	step := func(subject string, done, current bool) gates.StepAtTurnEnd {
		return gates.StepAtTurnEnd{Command: "product-planning:planning", Subject: subject, Done: done, Current: current}
	}
	setup, research := step("Phase 1: setup", true, false), step("Phase 2: research", false, true)
	for name, c := range map[string]struct {
		steps   []gates.StepAtTurnEnd
		phases  []string
		current string
	}{
		"none": {nil, nil, ""},
		"another skill's": {[]gates.StepAtTurnEnd{{Command: "x:planning", Subject: "Setup"},
			{Command: "x:planning", Subject: "Research", Current: true}}, nil, ""},
		"not from the first phase":   {[]gates.StepAtTurnEnd{research, step("Tasks", false, false)}, nil, ""},
		"the current step names one": {[]gates.StepAtTurnEnd{setup, research}, []string{"SETUP", "RESEARCH", "COMPLETION"}, "RESEARCH"},
		"it names none": {[]gates.StepAtTurnEnd{setup, step("Research", true, false), step("Settle it", false, true)},
			[]string{"SETUP", "RESEARCH", "COMPLETION"}, "RESEARCH"},
		"several in one subject": {[]gates.StepAtTurnEnd{setup, step("Phase 6: validation of the plan", false, true)},
			[]string{"SETUP", "VALIDATION", "COMPLETION"}, "VALIDATION"},
		"two steps of one phase": {[]gates.StepAtTurnEnd{setup, step("Research the market", false, true), step("Research the code", false, true)},
			[]string{"SETUP", "RESEARCH", "COMPLETION"}, "RESEARCH"},
		"the first that is current": {[]gates.StepAtTurnEnd{setup, research, step("Tasks", false, true)},
			[]string{"SETUP", "RESEARCH", "TASKS", "COMPLETION"}, "RESEARCH"},
		"the last phase has a step": {[]gates.StepAtTurnEnd{setup, research, step("Completion", false, false)},
			[]string{"SETUP", "RESEARCH", "COMPLETION"}, "RESEARCH"},
		"all done": {[]gates.StepAtTurnEnd{setup, step("Tasks", true, false)}, []string{"SETUP", "TASKS", "COMPLETION"}, "COMPLETION"},
	} {
		phases, current := config.phasesOf(c.steps)
		assert.Equal(t, c.phases, phases, name)
		assert.Equal(t, c.current, current, name)
	}
}

// TestTheStepsOfTheSessionAreFollowed: their phase counts, not the one that the model has written
// into the state file, where the rules do not bind by the letter.
func TestTheStepsOfTheSessionAreFollowed(t *testing.T) {
	home := t.TempDir()
	w := workflow.Workflow{Command: "product-planning:plan", Session: "s1", Dir: home,
		FSM: `[{"id": 1, "subject": "Phase 1: setup", "status": "completed"}, {"id": 2, "subject": "Phase 2: research"}]`}
	change := txn.Change{}
	for i, subject := range []string{"Phase 1: setup", "Phase 2: research"} {
		id := int64(i + 1)
		text := `{"id":"` + string(rune('0'+id)) + `","subject":"` + subject + `","description":"","status":"` +
			[]string{"completed", "pending"}[i] +
			`","blocks":[],"blockedBy":[],"metadata":{"fsm":"product-planning:plan"}}`
		change.Creates = append(change.Creates, txn.File{Name: string(rune('0'+id)) + ".json", Data: []byte(text), Mode: 0o644})
	}
	var err error
	change.Record, err = w.Encode()
	require.NoError(t, err)
	d, err := tasks.List{Dir: filepath.Join(home, "tasks", "s1")}.Open(t.Context())
	require.NoError(t, err)
	require.NoError(t, d.Commit(t.Context(), change))
	require.NoError(t, d.Close())

	for name, c := range map[string]struct {
		session string
		always  bool
		exists  bool
		want    string
	}{
		"the session's":       {"s1", false, true, "RESEARCH"},
		"another session's":   {"s2", false, true, "PLAN"},
		"no session":          {"", false, true, "PLAN"},
		"bound by the letter": {"s1", true, true, "PLAN"},
		"no state file":       {"s1", false, false, "PLAN"},
	} {
		env := getenv(map[string]string{"CLAUDE_CONFIG_DIR": home})
		call := &call{Call: guard.NewCall(&client.Event{SessionID: c.session}, guard.Config{}, time.Now(), env), config: defaults}
		call.config.plugin, call.config.always = "product-planning", c.always
		s := stateFile{exists: c.exists, phase: "PLAN"}
		call.followSteps(&s)
		assert.Equal(t, c.want, s.phase, name)
		assert.Equal(t, c.want != "PLAN", s.byStep, name)
		if s.byStep {
			assert.Equal(t, []string{"SETUP", "RESEARCH", "COMPLETION"}, call.config.phases)
			assert.Equal(t, [2]string{"SETUP", "COMPLETION"}, [2]string{call.config.firstPhase, call.config.lastPhase})
		}
	}

	// What the agent has written is judged by what is in it, even if the steps show the phase.
	feature := t.TempDir()
	written := filepath.Join(feature, stateName)
	require.NoError(t, os.WriteFile(written, []byte("---\nmode: x\n---\n"), 0o600))
	env := getenv(map[string]string{"CLAUDE_CONFIG_DIR": home})
	wrote := &call{Call: guard.NewCall(&client.Event{SessionID: "s1", ToolInput: jsontext.Value(`{"file_path":"` + written + `"}`)},
		guard.Config{}, time.Now(), env), config: defaults}
	wrote.config.plugin, wrote.place = "product-planning", place{feature: feature, cwd: feature, root: feature}
	facts, audit := wrote.checkpointFacts()
	audit.release()
	assert.Equal(t, checkpointFacts{isState: true, mode: "x", session: "s1"}, facts)
}

// TestAStopIsLikeThatOfTheSteps: where the session has steps, both hooks let a turn end with a
// question, and send back once.
func TestAStopIsLikeThatOfTheSteps(t *testing.T) {
	block := guard.Block(7, "not done", "Go on.")
	some := []gates.StepAtTurnEnd{{}}
	for name, c := range map[string]struct {
		facts   stopFacts
		refuses bool
	}{
		"no steps":              {stopFacts{}, true},
		"steps":                 {stopFacts{steps: gates.TurnEnd{Steps: some}}, true},
		"steps, and a question": {stopFacts{asked: "Which one?", steps: gates.TurnEnd{Steps: some}}, false},
		"steps, and the letter": {stopFacts{asked: "Which one?", always: true, steps: gates.TurnEnd{Steps: some}}, true},
	} {
		v := c.facts.stopLike(block)
		assert.Equal(t, c.refuses, refuses(v), name)
		assert.Equal(t, 7, v.Row, name)
	}
	at := stopFacts{progress: "p", steps: gates.TurnEnd{Steps: some}}
	assert.Equal(t, block.WithProgress("p", ""), at.stopLike(block))
	at.steps.SentBack = true
	assert.Equal(t, block.WithProgress("p", "").Stalled(), at.stopLike(block))
	assert.NotEqual(t, block.WithProgress("p", ""), at.stopLike(block))
}

// TestANotificationIsNotAPrompt: the client sends it as one.
func TestANotificationIsNotAPrompt(t *testing.T) {
	for prompt, row := range map[string]int{"<task-notification>x": 1, `\n <task-notification>`: 1, "what is a <task-notification>?": 2} {
		assert.Equal(t, row, explain(t, "H06", `{"cwd":"/","prompt":"`+prompt+`"}`, nil).Row, prompt)
	}
}
