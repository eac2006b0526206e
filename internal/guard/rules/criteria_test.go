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
)

// The acceptance criteria of the planning workflow, AC1 to AC8, with a test for each
// item. Two items depend on the client alone: that --debug prints what hooks do
// (AC6), and that variables of H13 reach later hooks, which they do not (AC8). See
// docs/internals/guards.md.

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

// AC1: state integrity

func TestAC1_ADecisionIsNotAskedAgainAfterResume(t *testing.T) {
	w := newWorld(t, scenario{})
	w.enter("CLARIFICATION", "")
	q := question("Should we use Redis for session caching?")
	assert.False(t, w.ask("H01", q).blocked, "nothing is decided yet")
	w.enter("CLARIFICATION", "user_decisions:\n  \"Should we use Redis for session caching?\": \"Yes, use Redis\"\n")
	q["session_id"] = session2
	v := w.ask("H01", q)
	assert.True(t, v.blocked)
	assert.Contains(t, v.model, "'Yes, use Redis'")
}

func TestAC1_ConcurrentSessionsDoNotWriteEachOthersState(t *testing.T) {
	w := newWorld(t, scenario{})
	w.file("specs/foo/.planning.lock", `{"session_id":"`+session1+`"}`)
	mine, theirs := writing("specs/foo/plan.md"), writing("specs/foo/plan.md")
	mine["session_id"], theirs["session_id"] = session1, session2
	assert.False(t, w.ask("H02", mine).blocked)
	assert.True(t, w.ask("H02", theirs).blocked)
}

func TestAC1_TheSpecIsFrozenAfterSetup(t *testing.T) {
	w := newWorld(t, scenario{})
	for phase, frozen := range map[string]bool{"SETUP": false, "RESEARCH": true, "COMPLETION": true} {
		w.enter(phase, "")
		assert.Equal(t, frozen, w.ask("H04", writing("specs/foo/spec.md")).blocked, phase)
	}
}

// AC2: budget

func TestAC2_TheBudgetIsEnforcedAndResetByACheckpoint(t *testing.T) {
	w := newWorld(t, scenario{})
	state := writing("specs/foo/.planning-state.local.md")
	calls, warned := 0, 0
	for _, phase := range []string{"RESEARCH", "CLARIFICATION"} {
		w.enter(phase, "")
		w.ask("H05", state)
		for range 10 {
			calls++
			if v := w.ask("H03", research(calls)); assert.False(t, v.blocked, "call %d", calls) && v.user != "" {
				warned++
			}
		}
		assert.False(t, w.ask("H03", research(calls)).blocked, "a retry is not counted")
		v := w.ask("H03", research("eleventh"))
		assert.True(t, v.blocked)
		assert.Contains(t, v.model, "phase budget exhausted (10/10 calls)")
	}
	assert.Equal(t, 6, warned, "calls 8, 9 and 10 of each phase")
}

// AC3: agents' output

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

func TestAC3_TasksWithoutTestsAreSentBack(t *testing.T) {
	w := newWorld(t, scenario{})
	w.file("specs/foo/tasks.md", tasks(7))
	v := w.ask("H07", agent("tech-lead", "done"))
	assert.True(t, v.blocked)
	assert.Contains(t, v.model, "70%")
	w.file("specs/foo/tasks.md", tasks(8))
	assert.False(t, w.ask("H07", agent("tech-lead", "done")).blocked)
}

// qa writes the files that a QA strategist should leave.
func (w *world) qa() {
	w.file("specs/foo/test-cases/unit/a.md", "## UT-001 x\n")
	w.file("specs/foo/test-cases/uat/a.md", "## UAT-001 x\nGiven: a\nWhen: b\nThen: c\n")
	w.file("specs/foo/test-plan.md", "## Coverage matrix\n")
}

func TestAC3_TestsWithoutIdsOrStepsAreSentBack(t *testing.T) {
	for broken, reason := range map[string]string{
		"test-cases/unit/a.md": "No unit test IDs",
		"test-cases/uat/a.md":  "No UAT script IDs",
		"test-plan.md":         "Missing coverage matrix",
	} {
		w := newWorld(t, scenario{})
		w.qa()
		assert.False(t, w.ask("H09", agent("qa-strategist", "done")).blocked)
		w.file("specs/foo/"+broken, "nothing")
		assert.Contains(t, w.ask("H09", agent("qa-strategist", "done")).model, reason)
	}
	w := newWorld(t, scenario{})
	w.qa()
	w.file("specs/foo/test-cases/uat/b.md", "## UAT-002\nGiven: a\nThen: c\n")
	assert.Contains(t, w.ask("H09", agent("qa-strategist", "done")).model, "Found 5 GWT markers for 2 UAT scripts (expected at least 6).")
}

const blueprintText = "## Components\nUserService in src/services/user.ts\n## Data flow\nA to B\n## Interfaces\nfoo(x): y\n"

func TestAC3_AVagueBlueprintIsSentBack(t *testing.T) {
	w := newWorld(t, scenario{})
	assert.False(t, w.ask("H08", agent("software-architect", blueprintText)).blocked)
	assert.True(t, w.ask("H08", agent("software-architect", "It will be layered.")).blocked)
}

func TestAC3_ShortAnswersOfOtherAgentsAreSentBack(t *testing.T) {
	w := newWorld(t, scenario{})
	assert.True(t, w.ask("H10", agent("researcher", "found it")).blocked)
	assert.False(t, w.ask("H10", agent("researcher", "## Found\n"+strings.Repeat("word ", 100))).blocked)
}

func TestAC3_TheGenericGuardDoesNotJudgeDedicatedAgents(t *testing.T) {
	w := newWorld(t, scenario{})
	for _, name := range []string{"tech-lead", "software-architect", "qa-strategist"} {
		assert.False(t, w.ask("H10", agent(name, "x")).blocked, name)
	}
}

// AC4: completeness

func TestAC4_NoStopWithoutArtifactsAndTheMessageSaysWhichPhase(t *testing.T) {
	w := newWorld(t, scenario{})
	w.enter("ARCHITECTURE", "") // phase 4
	w.file("specs/foo/design.md", "x")
	v := w.ask("H11a", ending("done"))
	assert.True(t, v.blocked)
	assert.Equal(t, "Missing artifacts: plan.md, tasks.md, test-plan.md. Planning incomplete (phase: ARCHITECTURE). Missing required "+
		"artifacts: plan.md, tasks.md, test-plan.md. Continue workflow to generate these artifacts before stopping.", v.model)
}

func TestAC4_NoStopWithARedGate(t *testing.T) {
	w := newWorld(t, scenario{})
	for gates, red := range map[string]bool{
		"gate_results: [{phase: 1, verdict: PASS}, {phase: 8, status: RED}]\n": true,
		"gate_results:\n  8: {verdict: red}\n":                                 true,
		"gate_results: [{phase: 1, verdict: GREEN, status: done}]\n":           false,
	} {
		w.enter("COMPLETION", gates)
		assert.Equal(t, red, w.ask("H11b", ending("done")).blocked, gates)
	}
}

func TestAC4_TheUserMayForceAStop(t *testing.T) {
	for _, word := range []string{"stop", "Quit!", "please abort", "exit now"} {
		w := newWorld(t, scenario{})
		w.enter("ARCHITECTURE", "gate_results: [{phase: 1, verdict: RED}]\n")
		w.file("transcript.jsonl", `{"type":"user","message":{"content":"plan"}}`+"\n"+`{"type":"user","message":{"content":"`+word+`"}}`+"\n")
		assert.False(t, w.ask("H11a", ending("ok")).blocked, word)
		assert.False(t, w.ask("H11b", ending("ok")).blocked, word)
	}
}

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

func TestAC6_PhasesAreAudited(t *testing.T) {
	w := newWorld(t, scenario{})
	for _, phase := range []string{"SETUP", "RESEARCH", "RESEARCH", "CLARIFICATION"} {
		w.enter(phase, "")
		w.ask("H05", writing("specs/foo/.planning-state.local.md"))
	}
	audit, err := os.ReadFile(w.path("specs/foo/.planning-audit.log"))
	require.NoError(t, err)
	assert.Regexp(t, `^\[.{20}\] CHECKPOINT: UNKNOWN → SETUP \| session=`+testSession+` \| mode=complete\n`+
		`\[.{20}\] CHECKPOINT: SETUP → RESEARCH \| .*\n\[.{20}\] CHECKPOINT: RESEARCH → CLARIFICATION \| .*\n$`, string(audit))
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
	exports, err := os.ReadFile(w.at("outside", "env.sh"))
	require.NoError(t, err)
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
	out, err := cmd.CombinedOutput()
	require.NoError(t, err)
	assert.Equal(t, "feature/a'$(touch pwned)`touch pwned`|x'; touch pwned; ' y", string(out))
	assert.NoFileExists(t, w.at("outside", "pwned"))
}

// A FIFO would block the session's start until somebody opens it at the other end.
func TestAC8_AFIFOIsNotWritten(t *testing.T) {
	w := planned(t)
	pipe := w.at("outside", "env.sh")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	reader, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0) // lets other code than ours open it
	require.NoError(t, err)
	defer reader.Close()
	w.env["CLAUDE_ENV_FILE"] = pipe
	assert.Contains(t, w.ask("H13", object{"source": "startup"}).model, "phase=ARCHITECTURE")
	n, _ := reader.Read(make([]byte, 1))
	assert.Zero(t, n)
}

func TestAC8_OutsideGitTheBranchIsUnknown(t *testing.T) {
	w := newWorld(t, scenario{NoGit: true})
	w.env["CLAUDE_ENV_FILE"] = w.at("outside", "env.sh")
	assert.Contains(t, w.ask("H13", object{"source": "startup"}).model, "branch=unknown, feature_dir=none, state=false, phase=none")
	exports, err := os.ReadFile(w.at("outside", "env.sh"))
	require.NoError(t, err)
	assert.Contains(t, string(exports), "export PLANNING_BRANCH='unknown'\nexport PLANNING_FEATURE_DIR=''\n")
}

// No test of this file has jq or yq on its PATH; this one also asserts it.
func TestAC8_NoOtherProgramIsNeeded(t *testing.T) {
	w := newWorld(t, scenario{})
	for _, name := range []string{"jq", "yq", "bash"} {
		assert.NoFileExists(t, w.at("bin", name))
	}
	events := provoke(w)
	assert.True(t, w.ask("H01", events["H01"]).blocked)
	assert.Contains(t, w.ask("H06", events["H06"]).model, "Primary DB")
	assert.Contains(t, w.ask("H12", events["H12"]).model, "Primary DB")
	assert.Contains(t, w.ask("H13", events["H13"]).model, "phase=ARCHITECTURE")
}

// budget reads a session's budget.
func (w *world) budget() rules.Budget {
	data, err := os.ReadFile(w.vars.Replace("{BUDGET}"))
	require.NoError(w, err)
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
