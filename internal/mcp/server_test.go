//go:build unix

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

func n(step int) args { return args{"step": step} }

// chain returns a workflow of three steps, one after the other. The second has gates.
func chain() []string {
	return []string{
		`{"subject": "Collect"}`,
		`{"subject": "Write", "blockedBy": [1], "produces": ["notes.md"],
			"check": {"run": "grep -q done notes.md || { echo NOT-DONE-YET; exit 3; }", "timeout": 60}}`,
		`{"subject": "Publish", "blockedBy": [2]}`,
	}
}

func TestAWorkflowFromFirstToLastStep(t *testing.T) {
	w := hydrated(t, chain()...)
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
	flow := `{"subject": "Publish", "approval": "Publish it now?", "check": {"run": "echo run >> runs", "timeout": 60}}`
	for action, want := range map[string]string{"accept": "completed", "decline": "in_progress", "cancel": "in_progress"} {
		w := hydrated(t, flow)
		var asked []string
		c := w.connect(answering(action, &asked))
		c.does("step_start", n(1))
		text, isError := c.call("step_complete", n(1))
		assert.Equal(t, want != "completed", isError, text)
		require.Len(t, asked, 1)
		assert.Contains(t, asked[0], "Publish it now?")
		assert.Equal(t, want, w.status("s1", 1), action)
		all := w.evidence("s1")
		last := map[string]state.Decision{"accept": state.Allow, "decline": state.Declined, "cancel": state.Ask}[action]
		assert.Equal(t, last, all[len(all)-1].Verdict, "who closes the form has not said no")
		assert.Equal(t, "run\n", w.read("runs"), "the check is not run again for the answer")
	}
	w := hydrated(t, flow)
	refusal := w.connect(nil).refuses("step_complete", n(1))
	assert.Contains(t, refusal, "nobody has answered here")
	assert.Contains(t, refusal, `fsmtx step done 1 --because "..."`)
	assert.Equal(t, "pending", w.status("s1", 1))
}

func TestSkip(t *testing.T) {
	because := args{"step": 1, "because": "there is nothing to collect"}
	for action, want := range map[string]string{"accept": "completed", "decline": "pending", "cancel": "pending"} {
		w := hydrated(t, chain()...)
		var asked []string
		c := w.connect(answering(action, &asked))
		text, isError := c.call("step_skip", because)
		assert.Equal(t, want != "completed", isError, text)
		assert.Equal(t, []string{"The agent wants to skip the step #1 \"Collect\" of the workflow release.\nIts reason: there is " +
			"nothing to collect\nLet it skip the step?"}, asked)
		assert.Equal(t, want, w.status("s1", 1), action)
		if want == "completed" {
			assert.Equal(t, "skipped", c.workflow().Steps[0].State)
			assert.Equal(t, state.Skip, w.last().Verdict)
			assert.Contains(t, c.refuses("step_skip", because), "it was skipped")
			require.Len(t, asked, 1, "a person is not asked about a step that cannot be skipped")
			assert.Contains(t, c.refuses("step_skip", args{"step": 3, "because": "no time"}),
				`the person was not asked, because the step cannot be skipped now: #3 "Publish": the steps before it are open: #2 "Write"`)
			require.Len(t, asked, 1)
		}
	}
	w := hydrated(t, chain()...)
	c := w.connect(nil)
	assert.Contains(t, c.refuses("step_skip", because), "only a person can decide that, and nobody has answered here")
	assert.Contains(t, c.refuses("step_skip", args{"step": 1, "because": " "}), "because is empty: say why step #1")
	assert.Equal(t, "pending", w.status("s1", 1))
}

// The question of an approval is a text of fsm.json, and a person reads it.
func TestQuestionsAreSafeToShow(t *testing.T) {
	w := hydrated(t, `{"subject": "Publish", "approval": "Publish it?\nNow \u202eesrever"}`)
	var asked []string
	c := w.connect(answering("decline", &asked))
	c.refuses("step_complete", n(1))
	require.Len(t, asked, 1)
	assert.Equal(t, message.Text(asked[0]), asked[0])
	assert.Contains(t, asked[0], "Publish it?\n")

	w.hydrate("s1", `{"id": 11, "subject": "Next \u202eesrever"}`, `{"id": 12, "blockedBy": [11]}`)
	for _, text := range []string{c.does("step_start", n(11)), c.refuses("step_start", n(12))} {
		assert.Contains(t, text, `Next \u202eesrever`)
		assert.Equal(t, message.Text(text), text)
	}
}

// TestTheForms that a person sees: one without fields, one in which they say yes, and one with the
// outcomes of a step.
func TestTheForms(t *testing.T) {
	approval := `{"approval": "Good?"}`
	for _, c := range []struct {
		program, form string
		step          string
	}{
		{caller.Claude, `{"type": "object", "properties": {}}`, approval},
		{"codex", `{"type": "object", "properties": {"answer": {"type": "string", "enum": ["yes", "no"]}}, "required": ["answer"]}`, approval},
		{caller.Claude, `{"type": "object", "properties": {"outcome": {"type": "string", "enum": ["merge", "drop"]}}}`,
			`{"decides": "person", "outcomes": {"merge": {}, "drop": {}}}`},
	} {
		w := hydrated(t, c.step)
		w.who.Program, w.flags.Session = c.program, "s1"
		w.connect(filling(func(p *mcp.ElicitParams) mcp.ElicitResult {
			form, err := json.Marshal(p.RequestedSchema)
			require.NoError(t, err)
			assert.JSONEq(t, c.form, string(form))
			assert.Equal(t, "form", p.Mode)
			return mcp.ElicitResult{Action: "decline"}
		})).refuses("step_complete", n(1))
	}
}

// raw is the arguments of a call as a client writes them.
type raw = json.RawMessage

func TestWrongArgumentsAreExplained(t *testing.T) {
	w := hydrated(t, chain()...)
	c := w.connect(nil)
	const whole = "it has to be a whole number: number of the step, as workflow_status shows it"
	const needs = "needs the argument step, which is a whole number: number of the step, as workflow_status shows it"
	for _, test := range []struct{ tool, arguments, want string }{
		{"step_start", `{}`, "step_start " + needs},
		{"step_start", `{"step": null}`, "step_start " + needs},
		{"step_start", `{"step": "1"}`, `step of step_start cannot be "1": ` + whole},
		{"step_start", `{"step": [1]}`, `step of step_start cannot be [1]: ` + whole},
		{"step_start", `{"step": 1.5}`, `step of step_start cannot be 1.5: ` + whole},
		{"step_start", `{"step": 1e30}`, `step of step_start cannot be 1e30: ` + whole},
		{"step_start", `{"step": 99999999999999999999}`, `step of step_start cannot be 99999999999999999999: ` + whole},
		{"step_start", `{"step": 0}`, `#0 is not a step of the workflow; its steps are #1 "Collect", #2 "Write" and #3 "Publish"`},
		{"step_start", `{"step": -1}`, `#-1 is not a step of the workflow; its steps are #1 "Collect", #2 "Write" and #3 "Publish"`},
		{"step_start", `[1]`, "the arguments of step_start have to be an object, and are an array. Its arguments are: step"},
		{"workflow_status", `"x"`, "the arguments of workflow_status have to be an object, and are a string. workflow_status needs no arguments"},
		{"step_start", `{"step": 1, "values": {"version": "1"}}`,
			"step_start has no argument values, which is one of step_complete. Its arguments are: step"},
		{"step_complete", `{"stp": 1}`, "step_complete " + needs + "\nstep_complete has no argument stp: did you mean step?"},
		{"step_complete", `{"step": 1, "values": "1.2"}`, `values of step_complete cannot be "1.2": it has to be an object: the values that ` +
			`workflow_status shows the step to set, by name: texts, numbers or booleans`},
		{"step_complete", `{"step": 1, "note": {}}`, `note of step_complete cannot be {}: it has to be a text: what was done and how it was ` +
			`verified, in a sentence or two; kept as evidence`},
		{"step_complete", `{"step": 1, "note": "` + strings.Repeat("x", gates.MaxNote+1) + `"}`, "note has 4001 bytes; shorten it to 4000"},
		{"step_skip", `{"step": 1}`, "step_skip needs the argument because, which is a text: why the step cannot or need not " +
			"be done; the person reads it"},
		{"step_skip", `{"step": 1, "because": "` + strings.Repeat("x", gates.MaxNote+1) + `"}`, "because has 4001 bytes; shorten it to 4000"},
		{"workflow_begin", `{"skill": "release", "goal": "x"}`, "workflow_begin has no argument goal. Its arguments are: skill, args"},
		{"workflow_begin", `{"skill": 5}`, "skill of workflow_begin cannot be 5: it has to be a text: name of the skill, or the absolute path " +
			"of its folder, which has an fsm.json"},
		{"workflow_status", `{"step": 1}`,
			"workflow_status has no argument step, which is one of step_complete, step_skip, step_start. workflow_status needs no arguments"},
		{"step_start", `{"\u202estep": 1, "step": 1}`, "step_start has no argument \\u202estep: did you mean step?"},
	} {
		assert.Equal(t, test.want, c.refuses(test.tool, raw(test.arguments)), "%.100s", test.arguments)
	}
	_, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "step_undo"})
	require.ErrorContains(t, err, `unknown tool "step_undo"`)
	assert.NoError(t, fits("note", strings.Repeat("x", gates.MaxNote)))
	assert.Empty(t, w.evidence("s1"))
	assert.Equal(t, "pending", w.status("s1", 1))
}

// TestValuesByATool: a step gets its values from the tool, as the client spelled them, and its status
// says which it needs.
func TestValuesByATool(t *testing.T) {
	w := hydrated(t, `{"subject": "Tag", "within": 900, "set": {"version": "^[0-9.]+$", "kind": ["true", "false"]}}`,
		`{"subject": "Publish {version}", "blockedBy": [1]}`)
	c := w.connect(nil)
	text, isError := c.call("workflow_status", args{})
	require.False(t, isError, text)
	assert.Contains(t, text, `Sets: version (matches ^[0-9.]+$), kind (true or false).`)
	assert.Contains(t, text, "Time limit: 15m from its start.")
	assert.Contains(t, text, "release\n#1 Tag (ready)\n#2 Publish {version} (blocked)\n", "for people")
	c.does("step_start", n(1))
	for _, values := range []any{args{}, args{"version": "x"}, args{"version": "1"}, args{"version": "1", "kind": "true", "more": 1}} {
		text, isError := c.call("step_complete", args{"step": 1, "values": values})
		require.True(t, isError, text)
		assert.Regexp(t, `Complete it with values \{"version": "…", "kind": "…"\}|Leave the others out`, text)
	}
	text = c.does("step_complete", args{"step": 1, "values": args{"version": json.RawMessage("1.10"), "kind": true}})
	assert.Contains(t, text, "#2 Publish 1.10 (ready)")
}

// TestTheToolsThatTheClientLoads: their names, what the client may think of them, and that
// each says what it is for.
func TestTheToolsThatTheClientLoads(t *testing.T) {
	list, err := newWorld(t).connect(nil).ListTools(t.Context(), nil)
	require.NoError(t, err)
	reads := map[string]bool{}
	for _, tool := range list.Tools {
		reads[tool.Name] = tool.Annotations.ReadOnlyHint
		assert.NotEmpty(t, tool.Description, tool.Name)
		assert.Equal(t, true, tool.Meta["anthropic/alwaysLoad"], tool.Name)
		assert.Equal(t, tool.Name != "workflow_begin", tool.Annotations.IdempotentHint, tool.Name)
		assert.Equal(t, tool.Name == "workflow_begin" || tool.Name == "step_skip", *tool.Annotations.DestructiveHint, tool.Name)
		assert.False(t, *tool.Annotations.OpenWorldHint, tool.Name)
	}
	assert.Equal(t, map[string]bool{"workflow_status": true, "workflow_begin": false, "workflow_continue": false, "step_start": false,
		"step_complete": false, "step_skip": false}, reads)
}

// TestWhichClientsCanAsk: a person can be asked by a form, which a client has that names it
// or that names no way at all.
func TestWhichClientsCanAsk(t *testing.T) {
	form, url := new(mcp.FormElicitationCapabilities), new(mcp.URLElicitationCapabilities)
	for name, c := range map[string]struct {
		elicitation *mcp.ElicitationCapabilities
		can         bool
	}{
		"no way":         {nil, false},
		"any way":        {&mcp.ElicitationCapabilities{}, true},
		"a form":         {&mcp.ElicitationCapabilities{Form: form}, true},
		"a page":         {&mcp.ElicitationCapabilities{URL: url}, false},
		"a form or page": {&mcp.ElicitationCapabilities{Form: form, URL: url}, true},
	} {
		var asked []string
		options := answering("accept", &asked)
		options.Capabilities = &mcp.ClientCapabilities{Elicitation: c.elicitation}
		if c.elicitation == nil {
			options.ElicitationHandler = nil
		}
		text, isError := hydrated(t, `{"approval": "Good?"}`).connect(options).call("step_complete", n(1))
		assert.Equal(t, []bool{c.can, c.can}, []bool{!isError, len(asked) == 1}, "%s: %s", name, text)
	}
}

// TestAFormThatIsNotFilledIn: like a question that the client answers with an error, it leads to a refusal with the line for the person,
// as where nobody can be asked. Nobody has said no then.
func TestAFormThatIsNotFilledIn(t *testing.T) {
	accepted := func(form map[string]any) mcp.ElicitResult { return mcp.ElicitResult{Action: "accept", Content: form} }
	for name, answer := range map[string]mcp.ElicitResult{"an error": {}, "empty": accepted(map[string]any{}), "nothing": accepted(nil),
		"another word": accepted(map[string]any{"answer": "maybe", "outcome": "maybe"}), "no such action": {Action: "maybe"}} {
		options := &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			if answer.Action == "" {
				return nil, errors.New("no form here")
			}
			return &answer, nil
		}}
		w := hydrated(t, `{"approval": "Good?"}`, `{"decides": "person", "outcomes": {"merge": {}, "drop": {}}}`)
		w.protocol, w.who = "2025-06-18", caller.Caller{Kind: caller.Script} // a later client repeats the call itself
		c := w.connect(options)
		for tool, a := range map[string]args{"step_complete": n(1), "step_skip": {"step": 1, "because": "late"}} {
			text := c.refuses(tool, a)
			assert.Contains(t, text, "nobody has answered here", "%s, %s", name, tool)
			assert.Regexp(t, `outside the client: fsmtx step (done|skip) 1 --because "..." --list s1`, text)
		}
		for _, e := range w.evidence("s1") {
			assert.NotEqual(t, state.Deny, e.Verdict, "nobody has said no")
		}
		assert.Contains(t, c.refuses("step_complete", n(2)), "fsmtx step done 2 --outcome NAME", name)
	}
	w := hydrated(t, `{"approval": "Good?"}`)
	w.who = caller.Caller{Kind: caller.Script}
	options := answering("accept", nil)
	options.MultiRoundTrip = &mcp.MultiRoundTripOptions{Disabled: true}
	c := w.connect(options)
	for _, answer := range []mcp.InputResponseMap{nil, {answerKey: &mcp.ElicitResult{Action: "accept"}}} {
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "step_complete", Arguments: n(1)})
		require.NoError(t, err)
		r, err = c.CallTool(t.Context(), &mcp.CallToolParams{Name: "step_complete", Arguments: n(1), RequestState: r.RequestState,
			InputResponses: answer})
		require.NoError(t, err)
		require.True(t, r.IsError)
		assert.Contains(t, r.Content[0].(*mcp.TextContent).Text, "nobody has answered here")
	}
}

// TestProgressOfChecksOnly: there is none for a call without a token, for another update than
// a completion, and for a step without a check. A notification would fail without a session.
func TestProgressOfChecksOnly(t *testing.T) {
	with := &mcp.CallToolParamsRaw{Meta: mcp.Meta{"progressToken": "x"}}
	checked, plain := &state.Current{Step: workflow.Step{Check: &fsmspec.Check{Run: "make"}}}, new(state.Current)
	for _, c := range []struct {
		params *mcp.CallToolParamsRaw
		step   *state.Current
		status string
	}{{new(mcp.CallToolParamsRaw), checked, workflow.Completed}, {with, checked, "in_progress"}, {with, plain, workflow.Completed}} {
		ctx, cancel := context.WithCancel(t.Context())
		assert.NotPanics(t, notify(ctx, &mcp.CallToolRequest{Params: c.params}, c.step, c.status))
		cancel()
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestEscapingReportsTheLengthOfTheMessage: an escaped message is longer.
func TestEscapingReportsTheLengthOfTheMessage(t *testing.T) {
	var out bytes.Buffer
	message := []byte("\"\u202e\"")
	n, err := escaping{&out}.Write(message)
	require.NoError(t, err)
	assert.Equal(t, len(message), n)
	assert.NotContains(t, out.String(), "\u202e")
	want := errors.New("full")
	n, err = escaping{failing{want}}.Write(message)
	assert.ErrorIs(t, err, want)
	assert.Zero(t, n)
}

// TestAPersonChoosesByAForm: the form has the outcomes, and the step ends as what was chosen.
// Without a choice it does not end.
func TestAPersonChoosesByAForm(t *testing.T) {
	for name, c := range map[string]struct {
		answer mcp.ElicitResult
		status string
	}{
		"a choice":          {mcp.ElicitResult{Action: "accept", Content: map[string]any{"outcome": "merge"}}, "completed"},
		"yes and no choice": {mcp.ElicitResult{Action: "accept", Content: map[string]any{}}, "in_progress"},
		"no":                {mcp.ElicitResult{Action: "decline"}, "in_progress"},
	} {
		w := hydrated(t, `{"subject": "Settle it", "decides": "person", "outcomes": {"merge": {}, "drop": {"stop": true}}}`,
			`{"subject": "Next", "blockedBy": [1]}`)
		var asked []string
		client := w.connect(filling(func(p *mcp.ElicitParams) mcp.ElicitResult {
			asked = append(asked, p.Message)
			return c.answer
		}))
		assert.Equal(t, []string{"merge", "drop"}, client.workflow().Current[0].Outcomes)
		assert.Contains(t, client.does("step_start", n(1)), "in progress")
		require.Empty(t, asked, "only a completion is asked about")
		text, isError := client.call("step_complete", n(1))
		assert.Equal(t, c.status != "completed", isError, text)
		if isError {
			assert.Contains(t, text, "is decided by the person. Ask them", "what to do")
		}
		require.Len(t, asked, 1)
		assert.Contains(t, asked[0], `How does the step #1 "Settle it"`)
		assert.Equal(t, c.status, w.status("s1", 1), name)
		for _, e := range w.evidence("s1") {
			assert.NotEqual(t, state.ByApproval, e.By.How, "it was a form")
		}
	}
}

// TestNobodyIsAskedHowAStepEndsThatIsOver: the answer would change nothing.
func TestNobodyIsAskedHowAStepEndsThatIsOver(t *testing.T) {
	w := hydrated(t, `{"subject": "Settle it", "decides": "person", "outcomes": {"merge": {}, "drop": {}}}`, `{"subject": "Next"}`)
	asked := 0
	client := w.connect(filling(func(*mcp.ElicitParams) mcp.ElicitResult {
		asked++
		return mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "yes"}}
	}))
	client.does("step_skip", map[string]any{"step": 1, "because": "slow"})
	require.Equal(t, 1, asked)
	text, _ := client.call("step_complete", n(1))
	assert.Contains(t, text, `#1 "Settle it" was skipped`)
	assert.Equal(t, 1, asked)
}

// TestAPersonChoosesAndApproves: each call asks one question, about the step that it names, and offers
// only what can still be chosen.
func TestAPersonChoosesAndApproves(t *testing.T) {
	ask := `{"subject": "Ask", "decides": "person", "outcomes": {"yes": {"approval": "Really?"}, "no": {}, "again": {"back": 2, "max": 1}}}`
	other := `{"subject": "Ask", "decides": "person", "outcomes": ["yes", "no", "again"]}`
	w := hydrated(t, other, ask)
	var forms []string
	word := "again"
	client := w.connect(filling(func(p *mcp.ElicitParams) mcp.ElicitResult {
		form, err := json.Marshal(p.RequestedSchema)
		require.NoError(t, err)
		forms = append(forms, string(form))
		return mcp.ElicitResult{Action: "accept", Content: map[string]any{"outcome": word}}
	}))
	assert.Contains(t, client.does("step_complete", n(2)), "Ask: again, time 1 of 1")
	word = "yes"
	assert.Contains(t, client.refuses("step_complete", n(2)), "That needs their approval, too: complete it again")
	require.Len(t, forms, 2)
	assert.Contains(t, forms[0], `["yes","no","again"]`)
	assert.Contains(t, forms[1], `["yes","no"]`)
	client.does("step_complete", n(2))
	assert.Equal(t, "completed", w.status("s1", 2))
	assert.Equal(t, "pending", w.status("s1", 1))
}

// TestNobodyChoosesForAPerson where the client cannot ask one, and none of its answers counts that is
// none to this question.
func TestNobodyChoosesForAPerson(t *testing.T) {
	w := hydrated(t, `{"subject": "Settle it", "decides": "person", "outcomes": {"merge": {}, "drop": {}}}`)
	c := w.connect(nil)
	for _, now := range []string{"", "invented"} {
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "step_complete", Arguments: n(1), RequestState: now,
			InputResponses: mcp.InputResponseMap{answerKey: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"outcome": "merge"}}}})
		require.NoError(t, err)
		assert.True(t, r.IsError)
		assert.False(t, r.NeedsInput())
		assert.Equal(t, "pending", w.status("s1", 1))
	}
}

// TestGatesLookInTheWorkTreeOfTheCaller: the hook says in which linked work tree the agent is.
func TestGatesLookInTheWorkTreeOfTheCaller(t *testing.T) {
	w := hydrated(t, `{"produces": ["out"]}`)
	c := w.connect(nil)
	linked, pointer := filepath.Join(w.home, "linked"), filepath.Join(w.project, ".git", "worktrees", "linked")
	for path, text := range map[string]string{
		filepath.Join(pointer, "commondir"): "../..", filepath.Join(pointer, "gitdir"): filepath.Join(linked, ".git"),
		filepath.Join(linked, ".git"): "gitdir: " + pointer, filepath.Join(linked, "out"): "text",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text+"\n"), 0o644))
	}
	text, isError := c.call("step_complete", n(1))
	require.True(t, isError, text)
	c.does("step_complete", args{"step": 1, "cwd": linked})
	assert.Equal(t, linked, w.last().Tree)
}

// asServer names the environment variable that turns this test program into fsmtx-tools.
const asServer = "FSMTX_TEST_AS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		if Command(callers.Played()).Execute() != nil { // it takes its arguments from os.Args
			os.Exit(1)
		}
		os.Exit(0)
	}
	callers.Forget()
	os.Exit(m.Run())
}

// The cases are in the order in which the rules apply.
func TestChooseSession(t *testing.T) {
	for _, c := range []struct {
		named, flag  string
		client, list string // of the environment
		want         string // subject of the first step; empty if one of several lists has to be named
	}{
		{"called", "flagged", "client", "", "Called"},
		{"", "flagged", "client", "", "Flagged"},
		{"", "", "client", "", "Client"},
		{"", "", "client", "called", "Called"},
		{"", "", "", "flagged", "Flagged"},
		{"", "", "", "", ""},
	} {
		w := newWorld(t)
		for _, session := range []string{"called", "flagged", "client", "newest"} {
			w.hydrate(session, fmt.Sprintf(`{"subject": %q}`, strings.ToUpper(session[:1])+session[1:]))
		}
		w.env["CLAUDE_PROJECT_DIR"], w.project = w.project, t.TempDir()
		w.hydrate("elsewhere", `{"subject": "Elsewhere"}`)
		w.env["CLAUDE_CODE_SESSION_ID"], w.env["CLAUDE_CODE_TASK_LIST_ID"], w.flags.Session = c.client, c.list, c.flag
		connected := w.connect(nil)
		a := args{"step": 1}
		if c.named != "" {
			a["session"] = c.named
		}
		if c.want == "" {
			assert.Contains(t, connected.refuses("step_start", a), "4 task lists of this project have open steps; name one as session: ")
			continue
		}
		assert.Contains(t, connected.does("step_start", a), `#1 "`+c.want+`" is in progress.`)
	}
	w := newWorld(t)
	delete(w.env, "CLAUDE_CODE_SESSION_ID")
	w.env["CLAUDE_PROJECT_DIR"] = w.project
	assert.Contains(t, w.connect(nil).refuses("step_start", n(1)), "no session was named, and no task list of this project has a workflow")
	w.hydrate("0b54e1c2", `{}`)
	moved := filepath.Join(t.TempDir(), filepath.Base(w.project))
	require.NoError(t, os.Rename(w.project, moved))
	w.env["CLAUDE_PROJECT_DIR"] = moved
	assert.Contains(t, w.connect(nil).refuses("step_start", n(1)), "a person can say in a terminal outside the client that it was moved: "+
		"the directory of release, "+w.project+", is gone; if it is this one now: fsmtx step move . --because \"...\" --list 0b54")
}

// A client starts the program on a pipe. The program exits at the end of its input, and on
// SIGTERM, when it also stops its check.
func TestTheProgram(t *testing.T) {
	for name, end := range map[string]func(w *world, c *officialClient, server *os.Process){
		"end of input": func(w *world, c *officialClient, _ *os.Process) { require.NoError(w.t, c.Close()) },
		"SIGTERM": func(w *world, c *officialClient, server *os.Process) {
			go func() {
				_, _ = c.CallTool(context.Background(), &mcp.CallToolParams{Name: "step_complete", Arguments: n(2)})
			}()
			group := w.running()
			require.NoError(w.t, server.Signal(syscall.SIGTERM))
			require.Eventually(w.t, func() bool { return isGone(group) }, 30*time.Second, 5*time.Millisecond)
			_ = c.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := hydrated(t, `{"subject": "Collect"}`, endless)
			self, err := os.Executable()
			require.NoError(t, err)
			command := exec.Command(self, "--list", "s1")
			command.Env = []string{asServer + "=1", "HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "GORACE=" + os.Getenv("GORACE")}
			session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
				&mcp.CommandTransport{Command: command}, nil)
			require.NoError(t, err)
			c := &officialClient{ClientSession: session, t: t}
			assert.Contains(t, c.does("step_complete", n(1)), `#1 "Collect" is done.`)

			end(w, c, command.Process)

			require.NotNil(t, command.ProcessState, "Close waits for the program")
			assert.Zero(t, command.ProcessState.ExitCode())
		})
	}
}

// An agent may give every argument that a tool has: those that it does not mean are null. One whose numbers are all floats writes 1.0.
func TestArgumentsThatAreTaken(t *testing.T) {
	for _, arguments := range []string{`{"step": 1, "session": null, "cwd": null}`, `{"step": 1.0}`} {
		w := hydrated(t, chain()...)
		w.connect(nil).does("step_start", raw(arguments))
		assert.Equal(t, "in_progress", w.status("s1", 1), arguments)
	}
}
