package rules_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/rules"
	"github.com/fsmtx/fsmtx/internal/harness/files"
)

// The acceptance criteria of the planning workflow, AC1 to AC8: what the cases and the tables do not have of them.
// docs/internals/requirements.md says what holds each. Two depend on the client alone: that --debug prints what
// hooks do (AC6), and that variables of H13 reach later hooks, which they do not (AC8).

type object = map[string]any

// event returns an event of the test's session in the project, with these fields.
func (w *world) event(name string, fields object) object {
	e := object{"session_id": testSession, "cwd": w.at("proj"), "transcript_path": w.at("proj", "transcript.jsonl"), "hook_event_name": name}
	maps.Copy(e, fields)
	return e
}

// ask sends an event to a guard and returns the effect of its answer in the client.
func (w *world) ask(id string, fields object) seen {
	g, ok := rules.Find(id)
	require.True(w, ok, id)
	v := asSeen(g.Event, w.call(id, w.event(g.Event, fields)))
	assert.Empty(w, v.problems)
	assert.False(w, v.bypass)
	return v
}

func (w *world) file(name, text string) { w.write(w.path(name), w.vars.Replace(text), 0o600) }

// enter writes a state file with the phase; more is appended to its frontmatter.
func (w *world) enter(phase, more string) {
	w.file("specs/foo/.planning-state.local.md", "---\nphase: "+phase+"\nmode: complete\n"+more+"---\n\n# Notes\n")
}

func (w *world) logged() string {
	data, _ := os.ReadFile(w.log)
	return string(data)
}

func writing(path string) object {
	return object{"tool_name": "Write", "tool_input": object{"file_path": path, "content": "x"}}
}

func question(text string) object {
	return object{"tool_name": "AskUserQuestion", "tool_input": object{"questions": []any{object{"question": text}}}}
}

func research(n any) object {
	return object{"tool_name": "mcp__context7__query", "tool_input": object{"q": n}}
}

func agent(name, words string) object {
	return object{"agent_id": "a1", "agent_type": "product-planning:" + name, "last_assistant_message": words}
}

func ending(lastWords string) object { return object{"last_assistant_message": lastWords} }

const session1, session2 = "session-1", "session-2"

func tasks(tested int) string {
	text := "## Phase 1\n"
	for i := 1; i <= 10; i++ {
		if text += fmt.Sprintf("- [ ] [T%03d] a task", i); i <= tested {
			text += " UT-1"
		}
		text += "\n"
	}
	return text + "## Phase 2\n"
}

// qa writes the files that a QA strategist should leave.
func (w *world) qa() {
	w.file("specs/foo/test-cases/unit/a.md", "## UT-001 x\n")
	w.file("specs/foo/test-cases/uat/a.md", "## UAT-001 x\nGiven: a\nWhen: b\nThen: c\n")
	w.file("specs/foo/test-plan.md", "## Coverage matrix\n")
}

const blueprintText = "## Components\nUserService in src/services/user.ts\n## Data flow\nA to B\n## Interfaces\nfoo(x): y\n"

// AC5: context

const fullState = "user_decisions:\n  \"Primary DB\": \"PostgreSQL\"\ngate_results:\n  - {phase: 1, verdict: PASS, score: 4.2}\n"

const fullSummary = `<planning-state>
phase: ARCHITECTURE
mode: complete
decisions_count: 1
immutable_decisions:
  - "Primary DB" -> "PostgreSQL"
artifacts_generated:
  - research.md (RESEARCH)
  - design.minimal.md (ARCHITECTURE)
  - plan.md
gate_results:
  - gate_1: PASS (4.2/5.0)
lock_active: true
lock_session: session-1
</planning-state>`

// planned returns a world in the middle of a workflow.
func planned(t *testing.T) *world {
	w := newWorld(t, scenario{})
	w.enter("ARCHITECTURE", fullState)
	for _, name := range []string{"research.md", "design.minimal.md", "plan.md"} {
		w.file("specs/foo/"+name, "x")
	}
	w.file("specs/foo/.planning.lock", `{"session_id":"session-1"}`)
	return w
}

func TestAC5_EveryPromptComesWithTheWholeState(t *testing.T) {
	w := planned(t)
	for range 2 {
		assert.Equal(t, fullSummary, w.ask("H06", object{"prompt": "go on"}).model)
	}
}

func TestAC5_ACompactionKeepsTheState(t *testing.T) {
	w := planned(t)
	assert.Equal(t, "Preserve this planning state verbatim in the summary:\n"+fullSummary+"\n", w.ask("H12", object{"trigger": "auto"}).model)
	v := w.ask("H13", object{"source": "compact"})
	assert.Contains(t, v.model, "\n"+fullSummary)
	assert.NotContains(t, v.user, "<planning-state>", "the user gets only the line")
}

// AC6: observability

// provoke returns an event for each guard on which the guard acts.
func provoke(w *world) map[string]object {
	w.enter("ARCHITECTURE", fullState)
	all := map[string]object{}
	for _, g := range rules.All() {
		all[g.ID] = object{}
	}
	all["H01"], all["H02"], all["H03"], all["H04"] = question("Which primary DB?"), writing("specs/foo/a"), research(1),
		writing("specs/foo/spec.md")
	all["H05"] = writing("specs/foo/.planning-state.local.md")
	return all
}

func TestAC6_EveryGuardLogsItsDecision(t *testing.T) {
	w := newWorld(t, scenario{})
	for id, e := range provoke(w) {
		w.ask(id, e)
		g, _ := rules.Find(id)
		assert.Regexp(t, `(?m)^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\] `+g.Name+`: [A-Z_+]+ \| .`, w.logged(), id)
	}
}

func TestAC6_ThreeFailuresOpenTheBreakerOfEveryGuard(t *testing.T) {
	w := newWorld(t, scenario{})
	w.env["CLAUDE_CODE_SESSION_ID"] = testSession // an unreadable event does not name its session
	for id, e := range provoke(w) {
		g, _ := rules.Find(id)
		for range 3 {
			v := asSeen(g.Event, w.call(id, "{"))
			assert.False(t, v.blocked)
			assert.Contains(t, v.user+v.model,
				ifShown(g, "Hook "+g.Name+" encountered an unexpected error (the event on standard input is not "), id)
		}
		v := w.ask(id, e)
		assert.False(t, v.blocked)
		assert.Equal(t, ifShown(g, "Hook "+g.Name+" circuit breaker OPEN (3+ failures). Skipping validation."), v.user)
		assert.Contains(t, w.logged(), g.Name+": BREAKER_OPEN | ")
	}
}

// ifShown returns the text, or "" if the client cannot show the user a message at the
// rule's event.
func ifShown(r guard.Rule, text string) string {
	if r.Event == client.PreCompact {
		return ""
	}
	return text
}

func TestAC6_DevelopmentModeTurnsEveryGuardOff(t *testing.T) {
	w := newWorld(t, scenario{DevMode: true})
	for id, e := range provoke(w) {
		g, _ := rules.Find(id)
		e["session_id"] = testSession
		a := w.call(id, e)
		assert.Equal(t, client.Answer{}, a, id)
		assert.Contains(t, w.logged(), g.Name+": DEV_SKIP | Development mode active\n")
	}
}

// AC7: a workflow completes with every guard on

// completeWorkflow plays a workflow from start to end as the client would, with the given
// number of research calls, and fails if a guard blocks a step.
func completeWorkflow(t *testing.T, mode string, researches int) {
	w := newWorld(t, scenario{})
	pass := func(id string, e object) {
		t.Helper()
		v := w.ask(id, e)
		require.False(t, v.blocked, "%s: %s", id, v.model)
	}
	write := func(name, text string) {
		t.Helper()
		e := writing("specs/foo/" + name)
		pass("H02", e)
		pass("H04", e)
		w.file("specs/foo/"+name, text)
		pass("H05", e)
	}
	phase := func(name string) {
		t.Helper()
		write(".planning-state.local.md", "---\nphase: "+name+"\nmode: "+mode+"\nuser_decisions:\n  \"Primary database\": \"PostgreSQL\"\n---\n")
	}
	pass("H13", object{"source": "startup"})
	pass("H06", object{"prompt": "/product-planning:plan"})
	write("spec.md", "# Spec")
	write(".planning.lock", `{"session_id":"`+testSession+`"}`)
	phase("SETUP")
	write("spec.md", "# Spec, second draft")
	phase("RESEARCH")
	for i := range researches {
		pass("H03", research(i))
	}
	pass("H10", agent("researcher", "## Found\n"+strings.Repeat("word ", 100)))
	phase("ARCHITECTURE")
	pass("H01", question("Which message broker?"))
	pass("H08", agent("software-architect", blueprintText))
	write("design.md", "# Design")
	phase("PLAN")
	write("plan.md", "# Plan")
	w.qa()
	pass("H09", agent("qa-strategist", "done"))
	pass("H12", object{"trigger": "auto"})
	pass("H13", object{"source": "compact"})
	phase("TASKS")
	write("tasks.md", tasks(10))
	pass("H07", agent("tech-lead", "done"))
	phase("COMPLETION")
	pass("H11a", ending("Planning is complete."))
	pass("H11b", ending("Planning is complete."))
	assert.NotContains(t, w.logged(), "ERROR")
}

func TestAC7_EveryModeCompletes(t *testing.T) {
	t.Run("rapid, without research", func(t *testing.T) { completeWorkflow(t, "rapid", 0) })
	t.Run("standard, with a budget", func(t *testing.T) { completeWorkflow(t, "standard", 5) })
	t.Run("complete, with all of it", func(t *testing.T) { completeWorkflow(t, "complete", 10) })
}

func TestAC7_TasksCanBeGeneratedAgain(t *testing.T) {
	w := planned(t)
	w.enter("TASKS", "")
	e := writing("specs/foo/tasks.md")
	e["session_id"] = session1
	assert.False(t, w.ask("H02", e).blocked)
	assert.False(t, w.ask("H04", e).blocked)
	assert.True(t, w.ask("H07", agent("tech-lead", "done")).blocked)
	w.file("specs/foo/tasks.md", tasks(9))
	again := agent("tech-lead", "done")
	again["stop_hook_active"] = true
	assert.False(t, w.ask("H07", again).blocked)
}

// AC8: environment

func TestAC8_TheEnvironmentIsFoundAndWrittenForTheShell(t *testing.T) {
	w := planned(t)
	w.file("specs/foo/spec.md", "x")
	w.file("specs/constitution.md", "x")
	w.env["CLAUDE_ENV_FILE"] = w.at("outside", "env.sh")
	v := w.ask("H13", object{"source": "startup"})
	want := "Planning environment detected: branch=feature/foo, feature_dir=" + w.at("proj", "specs", "foo") +
		", state=true, phase=ARCHITECTURE, spec=true, constitution=true"
	assert.Equal(t, want, v.model)
	assert.Equal(t, want, v.user)
	exports := must(os.ReadFile(w.at("outside", "env.sh")))
	assert.Equal(t, strings.Join([]string{
		"export PLANNING_BRANCH='feature/foo'", "export PLANNING_FEATURE_DIR='" + w.at("proj", "specs", "foo") + "'",
		"export PLANNING_SPEC_EXISTS='true'",
		"export PLANNING_CONSTITUTION_EXISTS='true'", "export PLANNING_STATE_EXISTS='true'", "export PLANNING_CURRENT_PHASE='ARCHITECTURE'",
		"export PLANNING_CURRENT_MODE='complete'", "",
	}, "\n"), string(exports))
}

func TestAC8_NothingInTheEnvironmentFileIsRun(t *testing.T) {
	w := newWorld(t, scenario{Git: &repository{Branch: "feature/a'$(touch pwned)`touch pwned`"}})
	w.env["CLAUDE_ENV_FILE"] = w.at("outside", "env.sh")
	w.file("specs/a'$(touch pwned)`touch pwned`/.planning-state.local.md", "---\nphase: \"x'; touch pwned; '\\ny\"\n---\n")
	w.ask("H13", object{"source": "startup"})
	cmd := exec.Command("/bin/sh", "-c", `. ./env.sh; printf '%s|%s' "$PLANNING_BRANCH" "$PLANNING_CURRENT_PHASE"`)
	cmd.Dir = w.at("outside")
	assert.Equal(t, "feature/a'$(touch pwned)`touch pwned`|x'; touch pwned; ' y", string(must(cmd.CombinedOutput())))
	assert.NoFileExists(t, w.at("outside", "pwned"))
}

// A FIFO would block the session's start until somebody opens it at the other end.
func TestAC8_AFIFOIsNotWritten(t *testing.T) {
	w := planned(t)
	pipe := w.at("outside", "env.sh")
	require.NoError(t, files.Mkfifo(pipe, 0o600))
	reader := must(os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)) // lets other code than ours open it
	defer reader.Close()
	w.env["CLAUDE_ENV_FILE"] = pipe
	assert.Contains(t, w.ask("H13", object{"source": "startup"}).model, "phase=ARCHITECTURE")
	n, _ := reader.Read(make([]byte, 1))
	assert.Zero(t, n)
}

// budget reads a session's budget.
func (w *world) budget() rules.Budget {
	data := must(os.ReadFile(w.vars.Replace("{BUDGET}")))
	var b rules.Budget
	require.NoError(w, json.Unmarshal(data, &b))
	return b
}

// If the audit log cannot be written, writing the same phase again must not reset the
// budget.
func TestWithoutAnAuditLogAPhaseResetsTheBudgetOnce(t *testing.T) {
	w := newWorld(t, scenario{})
	require.NoError(t, os.MkdirAll(w.path("specs/foo/.planning-audit.log"), 0o700))
	w.enter("RESEARCH", "")
	w.file("{BUDGET}", `{"session_total":4,"phase_total":4,"current_phase":"SETUP"}`)
	for _, want := range []int{0, 1, 1} {
		v := w.ask("H05", writing("specs/foo/.planning-state.local.md"))
		assert.Contains(t, v.user, "CHECKPOINT: UNKNOWN → RESEARCH")
		assert.Equal(t, want, w.budget().PhaseTotal)
		w.ask("H03", research("once"))
	}
}
