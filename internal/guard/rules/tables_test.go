package rules

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/paths"
)

// One test for each table: every row, in the order of the table, with facts for
// which a later row would decide otherwise. H02, H07, H08 and H10 have theirs
// beside the tests of their facts.

var unreadable = State{Exists: true, Err: errors.New("broken")}

func inPhase(phase string) State { return State{Exists: true, Phase: phase, Mode: "complete"} }

func TestTheTableOfH01(t *testing.T) {
	decided := inPhase("PLAN")
	decided.Decisions = []Decision{{"Primary database", "PostgreSQL"}}
	missing := decided
	missing.Exists = false
	broken := decided
	broken.Err = errors.New("broken")
	again, other := asking("Which primary database?"), asking("Which font?")
	for _, c := range []struct {
		state     State
		questions []question
		row       int
		refuses   bool
	}{
		{missing, again, 1, false},
		{decided, nil, 2, false},
		{broken, again, 3, false},
		{inPhase("PLAN"), again, 3, false},
		{decided, again, 4, true},
		{decided, append(other, again...), 4, true},
		{decided, other, 5, false},
	} {
		v := decideQuestions(c.state, c.questions, defaults)
		assert.Equal(t, c.row, v.Row)
		assert.Equal(t, c.refuses, refuses(v), c.row)
	}
}

// The first rows of H03 are decided before the budget is read; 4 to 7 are in
// budget_test.go.
func TestTheFirstRowsOfH03(t *testing.T) {
	for input, want := range map[string]string{
		`{"session_id":"s","tool_name":"WebSearch"}`:   "Not a research tool: WebSearch",
		`{"tool_name":"mcp__Ref__x"}`:                  "No session id",
		`{"session_id":"s","tool_name":"mcp__Ref__x"}`: "Budget OK: session=1/25, phase=1/10",
	} {
		e := explain(t, "H03", input, map[string]string{"PLANNING_STATE_DIR": t.TempDir()})
		assert.Equal(t, want, e.Detail)
	}
}

func TestTheTableOfH04(t *testing.T) {
	missing := inPhase("PLAN")
	missing.Exists = false
	broken := inPhase("PLAN")
	broken.Err = errors.New("broken")
	for _, c := range []struct {
		facts specFacts
		row   int
	}{
		{specFacts{known: false, isSpec: true, state: inPhase("PLAN")}, 1},
		{specFacts{known: true, isSpec: false, state: inPhase("PLAN")}, 2},
		{specFacts{known: true, isSpec: true, state: missing}, 3},
		{specFacts{known: true, isSpec: true, state: broken}, 4},
		{specFacts{known: true, isSpec: true, state: inPhase("")}, 4},
		{specFacts{known: true, isSpec: true, state: inPhase("setup")}, 4},
		{specFacts{known: true, isSpec: true, state: inPhase("PLAN")}, 5},
		{specFacts{known: true, isSpec: true, state: inPhase("COMPLETION")}, 5},
	} {
		v := c.facts.decide(defaults)
		assert.Equal(t, c.row, v.Row)
		assert.Equal(t, c.row == 5, refuses(v), v.Detail)
	}
	assert.Contains(t, specFacts{known: true, isSpec: true, state: broken}.decide(defaults).Detail, "broken")
}

func TestTheTableOfH05(t *testing.T) {
	for _, c := range []struct {
		facts checkpointFacts
		row   int
		step  *transition
	}{
		{checkpointFacts{phase: "PLAN", previous: "SETUP"}, 1, nil},
		{checkpointFacts{isState: true, previous: "SETUP"}, 2, nil},
		{checkpointFacts{isState: true, phase: "PLAN", previous: "PLAN"}, 4, nil},
		{checkpointFacts{isState: true, phase: "A | B", previous: "A / B"}, 4, nil},
		{checkpointFacts{isState: true, phase: "PLAN", previous: noPhase, mode: "m", session: "s"}, 6, &transition{noPhase, "PLAN", "m", "s"}},
		{checkpointFacts{isState: true, phase: "A → B", previous: "A"}, 5, &transition{from: "A", to: "A -> B"}},
	} {
		v, step := c.facts.decide(defaults)
		assert.Equal(t, c.row, v.Row)
		assert.Equal(t, c.step, step)
		assert.False(t, refuses(v))
	}
}

// checkpointing is a project with a state file that H05 is told was written.
type checkpointing struct {
	vars          map[string]string
	state, audit  string
	input, budget string
}

func newCheckpointing(t *testing.T) checkpointing {
	feature, dir := t.TempDir(), t.TempDir()
	vars := map[string]string{"PLANNING_STATE_DIR": dir, "PLANNING_FEATURE_DIR": feature}
	state := filepath.Join(feature, stateName)
	return checkpointing{
		vars: vars, state: state, audit: filepath.Join(feature, auditName),
		input:  fmt.Sprintf(`{"session_id":"s","cwd":"/","tool_input":{"file_path":%q}}`, state),
		budget: BudgetFile(guard.SessionOf("s", getenv(vars))),
	}
}

func (c checkpointing) enter(t *testing.T, phase string) string {
	require.NoError(t, os.WriteFile(c.state, []byte("phase: "+phase+"\n"), 0o600))
	a := run(t, "H05", c.input, c.vars)
	assert.Zero(t, a.Exit)
	return a.Output
}

func TestTheWrittenFileIsNamedByTheInputOrElseTheResponse(t *testing.T) {
	root := tree(t, "a/", "b/", "other.md", "link -> a")
	for _, dir := range []string{"a", "b"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, dir, stateName), []byte("phase: PLAN\n"), 0o600))
	}
	for fields, want := range map[string]string{
		`"tool_input":{"file_path":"a/%[1]s"}`:                                        "UNKNOWN → PLAN",
		`"tool_input":{"file_path":"link/%[1]s"}`:                                     "UNKNOWN → PLAN",
		`"tool_input":{},"tool_response":{"filePath":"a/%[1]s"}`:                      "UNKNOWN → PLAN",
		`"tool_input":{"file_path":"a/%[1]s"},"tool_response":{"filePath":"b/%[1]s"}`: "UNKNOWN → PLAN",
		`"tool_input":{"file_path":"b/%[1]s"},"tool_response":{"filePath":"a/%[1]s"}`: "Not the state file",
		`"tool_input":{"file_path":"b/%[1]s"}`:                                        "Not the state file",
		`"tool_input":{"file_path":"other.md"}`:                                       "Not the state file",
		`"tool_input":{"file_path":"missing/%[1]s"}`:                                  "Not the state file",
		`"tool_input":{}`: "Not the state file",
	} {
		if strings.Contains(fields, "%") {
			fields = fmt.Sprintf(fields, stateName)
		}
		assert.Contains(t, explain(t, "H05", fmt.Sprintf(`{"session_id":"s","cwd":%q,%s}`, root, fields), map[string]string{"PLANNING_FEATURE_DIR": "a"}).Detail, want, fields)
	}
}

func TestACheckpointBeginsItsOwnLine(t *testing.T) {
	c := newCheckpointing(t)
	require.NoError(t, os.WriteFile(c.audit, []byte("a note without an end"), 0o600))
	assert.Contains(t, c.enter(t, "SETUP"), "UNKNOWN → SETUP")
	assert.Contains(t, c.enter(t, "PLAN"), "SETUP → PLAN")
	assert.Empty(t, c.enter(t, "PLAN"))
	log, err := os.ReadFile(c.audit)
	require.NoError(t, err)
	lines := strings.Split(string(log), "\n")
	require.Len(t, lines, 4)
	assert.Equal(t, "a note without an end", lines[0])
	assert.Regexp(t, `^\[.{20}\] CHECKPOINT: UNKNOWN → SETUP \| session=s \| mode=unknown$`, lines[1])
	assert.Regexp(t, `^\[.{20}\] CHECKPOINT: SETUP → PLAN \| `, lines[2])
}

func TestACheckpointReleasesTheAuditLog(t *testing.T) {
	c := newCheckpointing(t)
	for range 3 { // a lock that is still held would keep later changes out of the log
		c.enter(t, "SETUP")
		c.enter(t, "PLAN")
	}
	log, err := os.ReadFile(c.audit)
	require.NoError(t, err)
	assert.Equal(t, 6, strings.Count(string(log), "\n"))
}

func TestACheckpointResetsOnlyAnExistingBudget(t *testing.T) {
	c := newCheckpointing(t)
	c.enter(t, "SETUP")
	assert.NoFileExists(t, c.budget)
	assert.NoFileExists(t, c.budget+".lock")
	require.NoError(t, os.WriteFile(c.budget, []byte(`{"session_total":4,"phase_total":4}`), 0o600))
	c.enter(t, "PLAN")
	data, err := os.ReadFile(c.budget)
	require.NoError(t, err)
	b, err := parseBudget(data)
	require.NoError(t, err)
	assert.Equal(t, Budget{SessionTotal: 4, CurrentPhase: "PLAN", PerServer: map[string]int{}, CallHashes: []string{}}, b)
	require.NoError(t, os.WriteFile(c.budget, []byte(`{bad`), 0o600))
	c.enter(t, "TASKS")
	data, err = os.ReadFile(c.budget)
	require.NoError(t, err)
	assert.Equal(t, "{bad", string(data), "the next research call starts a broken one anew")
}

func TestACheckpointOfAnUnnamedSessionKeepsNoBudget(t *testing.T) {
	c := newCheckpointing(t)
	anyone := BudgetFile(guard.SessionOf("", getenv(c.vars)))
	require.NoError(t, os.WriteFile(anyone, []byte(`{"phase_total":4}`), 0o600))
	require.NoError(t, os.WriteFile(c.state, []byte("phase: PLAN\n"), 0o600))
	a := run(t, "H05", strings.Replace(c.input, `"session_id":"s",`, "", 1), c.vars)
	assert.Contains(t, a.Output, "session=unknown")
	data, err := os.ReadFile(anyone)
	require.NoError(t, err)
	assert.Equal(t, `{"phase_total":4}`, string(data))
}

func TestTheTableOfH06AndH12(t *testing.T) {
	missing := inPhase("PLAN")
	missing.Exists = false
	broken := inPhase("PLAN")
	broken.Err = errors.New("broken")
	for _, c := range []struct {
		state State
		row   int
	}{{missing, 1}, {broken, 2}, {inPhase("PLAN"), 3}} {
		v := snapshot{state: c.state}.decide(1, "WORD", "lead\n")
		assert.Equal(t, c.row, v.Row)
		assert.Equal(t, c.row == 3, strings.HasPrefix(v.Message, "lead\n<planning-state>\nphase: PLAN\n"), v.Message)
	}
	long := inPhase("PLAN")
	for i := range 200 {
		long.Gates = append(long.Gates, Gate{Phase: fmt.Sprint(i), Verdict: strings.Repeat("v", 90)})
	}
	lead := strings.Repeat("x", 500)
	assert.LessOrEqual(t, event.Length(snapshot{state: long}.decide(1, "WORD", lead).Message), maxContext)
}

func TestTheTableOfH09(t *testing.T) {
	complete := testFacts{feature: "/f", unit: 1, uat: 2, steps: 6, plan: document{true, "## Coverage Matrix"}}
	for _, c := range []struct {
		change func(*testFacts)
		row    int
	}{
		{func(f *testFacts) { *f = testFacts{uat: 1} }, 2},
		{func(f *testFacts) { *f = testFacts{unit: 1} }, 3},
		{func(f *testFacts) { f.steps, f.plan = 5, document{} }, 4},
		{func(f *testFacts) { f.plan.exists = false }, 5},
		{func(f *testFacts) { f.plan.text = "coverage of the matrix" }, 6},
		{func(*testFacts) {}, 7},
		{func(f *testFacts) { f.plan.text = "coverage_matrix" }, 7},
	} {
		facts := complete
		c.change(&facts)
		v := facts.decide(defaults)
		assert.Equal(t, c.row, v.Row)
		assert.Equal(t, c.row < 7, refuses(v), v.Detail)
	}
}

func TestAgentsOfOtherRulesAndMissingFeatureDirectories(t *testing.T) {
	feature := map[string]string{"PLANNING_FEATURE_DIR": t.TempDir()}
	for id, agent := range map[string]string{"H07": techLead, "H08": architect, "H09": qaStrategist} {
		event := func(agent string) string {
			return fmt.Sprintf(`{"session_id":"s","cwd":"/","agent_type":%q,"last_assistant_message":"words"}`, agent)
		}
		other := explain(t, id, event(agents+"researcher"), feature)
		assert.Equal(t, 1, other.Row, id)
		assert.False(t, refuses(other.Verdict), id)
		assert.Equal(t, 2, explain(t, id, event(agent), feature).Row, id)
		assert.Equal(t, 2, explain(t, id, event(""), feature).Row, "%s: an agent without a name passed the matcher", id)
		if id != "H08" {
			e := explain(t, id, event(agent), nil)
			assert.Equal(t, "No feature directory, cannot validate", e.Detail, id)
			assert.Equal(t, 1, e.Row, id)
		}
	}
}

func TestAFileThatCannotBeReadIsNotAFailure(t *testing.T) {
	feature := t.TempDir()
	for _, name := range []string{"tasks.md", "test-cases/unit/a.md"} {
		path := filepath.Join(feature, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		plantUnreadable(t, path)
	}
	for id, agent := range map[string]string{"H07": techLead, "H09": qaStrategist} {
		e := explain(t, id, fmt.Sprintf(`{"session_id":"s","cwd":"/","agent_type":%q}`, agent), map[string]string{"PLANNING_FEATURE_DIR": feature})
		assert.Equal(t, 0, e.Row, id)
		assert.Equal(t, "APPROVE", e.Word, id)
		assert.Contains(t, e.Detail, " unreadable: ", id)
	}
}

// plantUnreadable makes a regular file that exists and cannot be read. For root,
// whom no mode stops, it is a link to the memory of this process: nothing is mapped
// at address 0.
func plantUnreadable(t *testing.T, path string) {
	const memory = "/proc/self/mem"
	if os.Geteuid() != 0 {
		require.NoError(t, os.WriteFile(path, nil, 0))
		return
	}
	if !paths.IsFile(memory) {
		t.Skip("root can read every file, and this system has no " + memory)
	}
	require.NoError(t, os.Symlink(memory, path))
}

func TestTheFirstRowsOfH11(t *testing.T) {
	for _, c := range []struct {
		facts stopFacts
		row   int
	}{
		{stopFacts{running: true, held: foreign, lastText: "stop", known: true}, 1},
		{stopFacts{state: inPhase("PLAN"), running: true, held: foreign, lastText: "stop", known: true}, 2},
		{stopFacts{state: inPhase("PLAN"), held: foreign, lastText: "stop", known: true}, 3},
		{stopFacts{state: inPhase("PLAN"), held: stale, lastText: "stop", known: true}, 3},
		{stopFacts{state: inPhase("PLAN"), held: mine, lastText: "stop", known: true}, 4},
		{stopFacts{state: unreadable, lastText: "stop", known: true}, 4},
		{stopFacts{state: inPhase("PLAN"), held: damaged}, 4},
	} {
		v, ok := c.facts.decide(defaults)
		assert.True(t, ok)
		assert.Equal(t, c.row, v.Row)
		assert.False(t, refuses(v))
	}
	for _, held := range []ownership{free, mine, damaged} {
		_, ok := stopFacts{state: inPhase("PLAN"), held: held, lastText: "go on", known: true}.decide(defaults)
		assert.False(t, ok, held)
	}
}

func TestTheTableOfH11a(t *testing.T) {
	missing := []string{"plan.md", "tasks.md"}
	for _, c := range []struct {
		phase   string
		missing []string
		row     int
	}{{"completion", missing, 5}, {"PLAN", missing, 6}, {"", missing, 6}, {"PLAN", nil, 7}} {
		v := decideArtifacts(c.phase, c.missing, defaults)
		assert.Equal(t, c.row, v.Row)
		assert.Equal(t, c.row == 6, refuses(v), c)
	}
	assert.Equal(t, "Planning incomplete (phase: unknown). Missing required artifacts: plan.md, tasks.md. Continue workflow to generate these artifacts before stopping.", decideArtifacts("", missing, defaults).Message)
}

func TestTheTableOfH11b(t *testing.T) {
	red := []Gate{{Verdict: "green", Status: "red"}, {Phase: "8", Verdict: "RED - needs revision"}, {Phase: "7", Verdict: "not RED", Status: "REDUCED"}, {Phase: "9", Verdict: "PASS"}}
	for _, c := range []struct {
		phase string
		gates []Gate
		row   int
	}{{"COMPLETION", red, 5}, {"", red, 5}, {"", nil, 6}, {"FINISHED", nil, 7}, {"test-strategy", nil, 8}, {"completion", nil, 9}} {
		v := decideWorkflow(State{Exists: true, Phase: c.phase, Gates: c.gates}, defaults)
		assert.Equal(t, c.row, v.Row)
		assert.Equal(t, c.row == 5 || c.row == 7 || c.row == 8, refuses(v), c)
	}
	assert.Equal(t, "Validation failed (RED) at PLAN, 8", decideWorkflow(State{Exists: true, Phase: "PLAN", Gates: red}, defaults).Detail)
	assert.Equal(t, "Validation failed (RED) at unknown, 8", decideWorkflow(State{Exists: true, Gates: red}, defaults).Detail)
}

func TestTheTableOfH13(t *testing.T) {
	for _, c := range []struct {
		continued bool
		state     State
		row       int
	}{{false, inPhase("PLAN"), 1}, {true, State{}, 1}, {true, unreadable, 1}, {true, inPhase("PLAN"), 2}} {
		v := environmentFacts{branch: "main", continued: c.continued, snapshot: snapshot{state: c.state}}.verdict()
		assert.Equal(t, c.row, v.Row)
		assert.Equal(t, c.row == 2, strings.Contains(v.Message, "\n<planning-state>\nphase: PLAN\n"), v.Message)
	}
}

func TestTheEnvironmentIsBounded(t *testing.T) {
	facts := environmentFacts{branch: strings.Repeat("b", 9000), feature: "/" + strings.Repeat("f", 9000), continued: true, snapshot: snapshot{state: inPhase("PLAN")}}
	for i := range 200 {
		facts.snapshot.state.Gates = append(facts.snapshot.state.Gates, Gate{Phase: fmt.Sprint(i), Verdict: strings.Repeat("v", 90)})
	}
	message := facts.verdict().Message
	assert.LessOrEqual(t, event.Length(message), maxContext)
	assert.Contains(t, message, "branch="+strings.Repeat("b", 300)+", feature_dir=/"+strings.Repeat("f", 4095)+", ")
	assert.Contains(t, message, "</planning-state>")
}

func TestTheConstitutionIsFoundInTheProjectOrBesideTheFeature(t *testing.T) {
	for name, want := range map[string]bool{"project/specs/constitution.md": true, "plans/constitution.md": true, "project/constitution.md": false, "plans/x/constitution.md": false} {
		root := tree(t, name, "project/", "plans/x/")
		assert.Equal(t, want, place{root: root + "/project", feature: root + "/plans/x"}.hasConstitution(defaults), name)
	}
	t.Chdir(tree(t, "constitution.md"))
	assert.False(t, place{root: "/nowhere"}.hasConstitution(defaults), "without a feature directory")
}

func TestAnEnvironmentFileThatCannotBeWrittenIsLogged(t *testing.T) {
	dir := t.TempDir()
	vars := map[string]string{"PLANNING_STATE_DIR": dir, "CLAUDE_ENV_FILE": dir}
	a := run(t, "H13", `{"session_id":"s","source":"startup"}`, vars)
	assert.Contains(t, a.Output, "Planning environment detected")
	log, err := os.ReadFile(guard.SessionOf("s", getenv(vars)).Log())
	require.NoError(t, err)
	assert.Contains(t, string(log), "H13_env_setup: ERROR | CLAUDE_ENV_FILE not written: ")
}
