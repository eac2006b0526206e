package mcp

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

func n(step int) args { return args{"step": step} }

// chain returns a workflow of three steps, one after the other. The second has gates.
func chain() []workflow.Step {
	return []workflow.Step{
		{Subject: "Collect"},
		{Subject: "Write", BlockedBy: []int64{1}, Produces: []string{"notes.md"},
			Check: &workflow.Check{Run: "grep -q done notes.md || { echo NOT-DONE-YET; exit 3; }", Timeout: 60}},
		{Subject: "Publish", BlockedBy: []int64{2}},
	}
}

func TestAWorkflowFromFirstToLastStep(t *testing.T) {
	w := newWorld(t)
	w.hydrate("s1", chain()...)
	c := w.connect(nil)

	s := c.workflow()
	assert.Equal(t, "release", s.Skill)
	assert.Equal(t, []progress.Step{{Number: 1, Subject: "Collect", State: "ready", WaitsFor: nil}, {Number: 2, Subject: "Write",
		State: "blocked", WaitsFor: []int64{1}}, {Number: 3, Subject: "Publish", State: "blocked", WaitsFor: []int64{2}}}, s.Steps)
	require.Len(t, s.Current, 1)
	assert.Equal(t, "How to do 1.", s.Current[0].Description)

	refusal := c.refuses("step_start", n(3))
	assert.Contains(t, refusal, `#3 "Publish" cannot be started: #2 "Write" must be done first`)
	assert.Contains(t, refusal, `Ready now: #1 "Collect"`)
	assert.Equal(t, "pending", w.status("s1", 3))

	assert.Contains(t, c.does("step_start", n(1)), `#1 "Collect" is in progress.`)
	assert.Equal(t, "in_progress", w.status("s1", 1))
	answer := c.does("step_complete", args{"step": 1, "note": "twelve commits"})
	assert.Contains(t, answer, `#1 "Collect" is done. 1 of 3 steps are done. Ready: #2 "Write"`)
	assert.Contains(t, answer, "How to do 2.")
	assert.Contains(t, answer, "these files must exist: notes.md")
	assert.Equal(t, "completed", w.status("s1", 1))
	all := w.evidence("s1")
	assert.Equal(t, "twelve commits", all[len(all)-1].Note)

	c.does("step_start", n(2))
	assert.Contains(t, c.refuses("step_complete", n(2)), "it needs notes.md, which is missing or empty in "+w.project)
	w.write("notes.md", "draft\n")
	refusal = c.refuses("step_complete", n(2))
	assert.Contains(t, refusal, "exit status 3")
	assert.Contains(t, refusal, "NOT-DONE-YET")
	assert.Equal(t, "in_progress", w.status("s1", 2))
	w.write("notes.md", "done\n")
	c.does("step_complete", n(2))
	c.does("step_start", n(3))
	assert.Contains(t, c.does("step_complete", n(3)), "3 of 3 steps are done. The workflow is complete.")
	assert.Empty(t, c.workflow().Current)
}

// The tools refuse tasks that are not steps.
func TestOnlySteps(t *testing.T) {
	w := newWorld(t)
	c := w.connect(nil)
	assert.Equal(t, byTools.NoWorkflow(), c.workflow().Message)
	assert.Equal(t, byTools.NoWorkflow(), c.refuses("step_start", n(1)))
	assert.NoDirExists(t, w.home, "reading creates nothing")

	w.hydrate("s1", chain()...)
	assert.Contains(t, c.refuses("step_start", n(99)),
		`#99 is not a step of the workflow; its steps are #1 "Collect", #2 "Write" and #3 "Publish"`)
}

func TestApproval(t *testing.T) {
	flow := []workflow.Step{{Subject: "Publish", Approval: "Publish it now?", Check: &workflow.Check{Run: "echo run >> runs", Timeout: 60}}}
	for action, want := range map[string]string{"accept": "completed", "decline": "in_progress", "cancel": "in_progress"} {
		t.Run(action, func(t *testing.T) {
			w := newWorld(t)
			w.hydrate("s1", flow...)
			var asked []string
			c := w.connect(answering(action, &asked))
			c.does("step_start", n(1))
			text, isError := c.call("step_complete", n(1))
			assert.Equal(t, want != "completed", isError, text)
			require.Len(t, asked, 1)
			assert.Contains(t, asked[0], "Publish it now?")
			assert.Equal(t, want, w.status("s1", 1))
			all := w.evidence("s1")
			assert.Equal(t, state.Ask, all[len(all)-2].Verdict)
			assert.Equal(t, "run\n", w.read("runs"), "the check is not run again for the answer")
		})
	}
	t.Run("nobody to ask", func(t *testing.T) {
		w := newWorld(t)
		w.hydrate("s1", flow...)
		refusal := w.connect(nil).refuses("step_complete", n(1))
		assert.Contains(t, refusal, "this client cannot ask one")
		assert.Contains(t, refusal, `fsmtx step done 1 --because "..."`)
		assert.Equal(t, "pending", w.status("s1", 1))
	})
}

// TestSkipInVain: the person is not asked about a step that cannot be skipped.
func TestSkipInVain(t *testing.T) {
	w := newWorld(t)
	w.hydrate("s1", workflow.Step{Subject: "Collect", Outcomes: []workflow.Outcome{{Name: "ok"}}},
		workflow.Step{Subject: "Draft", BlockedBy: []int64{1}})
	var asked []string
	c := w.connect(answering("accept", &asked))
	assert.Contains(t, c.refuses("step_skip", args{"step": 2, "because": "no time"}),
		`the person was not asked, because the step cannot be skipped now: #2 "Draft": the steps before it are open: #1 "Collect"`)
	assert.Empty(t, asked)
}

func TestSkip(t *testing.T) {
	because := args{"step": 1, "because": "there is nothing to collect"}
	for action, want := range map[string]string{"accept": "completed", "decline": "pending", "cancel": "pending"} {
		t.Run(action, func(t *testing.T) {
			w := newWorld(t)
			w.hydrate("s1", chain()...)
			var asked []string
			c := w.connect(answering(action, &asked))
			text, isError := c.call("step_skip", because)
			assert.Equal(t, want != "completed", isError, text)
			require.Len(t, asked, 1)
			assert.Contains(t, asked[0], "there is nothing to collect")
			assert.Contains(t, asked[0], `#1 "Collect"`)
			assert.Equal(t, want, w.status("s1", 1))
			if want == "completed" {
				assert.Equal(t, "skipped", c.workflow().Steps[0].State)
				all := w.evidence("s1")
				assert.Equal(t, state.Override, all[len(all)-1].Verdict)
				assert.Contains(t, c.refuses("step_skip", because), "is done already")
			}
		})
	}
	t.Run("nobody to ask", func(t *testing.T) {
		w := newWorld(t)
		w.hydrate("s1", chain()...)
		c := w.connect(nil)
		assert.Contains(t, c.refuses("step_skip", because), "only a person can decide that, and this client cannot ask one")
		assert.Contains(t, c.refuses("step_skip", args{"step": 1, "because": " "}), "because is empty: say why step #1")
		assert.Equal(t, "pending", w.status("s1", 1))
	})
}

// The question of an approval is a text of fsm.json, and a person reads it.
func TestQuestionsAreSafeToShow(t *testing.T) {
	w := newWorld(t)
	w.hydrate("s1", workflow.Step{Subject: "Publish", Approval: "Publish it?\nNow \u202eesrever\x1b[2J"})
	var asked []string
	c := w.connect(answering("decline", &asked))
	c.refuses("step_complete", n(1))
	require.Len(t, asked, 1)
	assert.Equal(t, message.Text(asked[0]), asked[0])
	assert.Contains(t, asked[0], "Publish it?\n")

	w.hydrate("s1", workflow.Step{ID: 11, Subject: "Next \u202eesrever"}, workflow.Step{ID: 12, BlockedBy: []int64{11}})
	for _, text := range []string{c.does("step_start", n(11)), c.refuses("step_start", n(12))} {
		assert.Contains(t, text, `Next \u202eesrever`)
		assert.Equal(t, message.Text(text), text)
	}
}

// TestTheForms that a person sees: one without fields, one in which they say yes, and one with the
// outcomes of a step.
func TestTheForms(t *testing.T) {
	for name, c := range map[string]struct {
		program, form string
		step          workflow.Step
	}{
		"Claude Code": {caller.Claude, `{"type": "object", "properties": {}}`, workflow.Step{Approval: "Good?"}},
		"another client": {"codex", `{"type": "object", "properties": {"answer": {"type": "string", "enum": ["yes", ` +
			`"no"]}}, "required": ["answer"]}`,
			workflow.Step{Approval: "Good?"}},
		"a choice": {caller.Claude, `{"type": "object", "properties": {"outcome": {"type": "string", "enum": ["merge", "drop"]}}}`,
			workflow.Step{Decides: "person", Outcomes: []workflow.Outcome{{Name: "merge"}, {Name: "drop"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.who.Program, w.flags.Session = c.program, "s1"
			w.hydrate("s1", c.step)
			w.connect(&mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				form, err := json.Marshal(r.Params.RequestedSchema)
				require.NoError(t, err)
				assert.JSONEq(t, c.form, string(form))
				assert.Equal(t, "form", r.Params.Mode)
				return &mcp.ElicitResult{Action: "decline"}, nil
			}}).refuses("step_complete", n(1))
		})
	}
}
