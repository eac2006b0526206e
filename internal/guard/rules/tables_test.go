package rules

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/client"
)

// One test for each table. It has every row in the order of the table, with facts to which
// a later row would apply as well.

func inPhase(phase string) stateFile { return stateFile{exists: true, phase: phase, mode: "complete"} }

// missing and unreadable return a state whose file is missing or cannot be read. They keep
// the other fields, to show that these are not used.
func missing(s stateFile) stateFile {
	s.exists = false
	return s
}

func unreadable(s stateFile) stateFile {
	s.err = errors.New("broken")
	return s
}

// asking returns questions without options.
func asking(texts ...string) []question {
	var all []question
	for _, text := range texts {
		all = append(all, question{text: text})
	}
	return all
}

func TestTheTableOfH01(t *testing.T) {
	decided := inPhase("PLAN")
	decided.decisions = []userDecision{{"Primary database", "PostgreSQL"}}
	again, other := asking("Which primary database?"), asking("Which font?")
	for _, c := range []struct {
		state     stateFile
		questions []question
		row       int
		refuses   bool
	}{
		{missing(decided), again, 1, false},
		{decided, nil, 2, false},
		{unreadable(decided), again, 3, false},
		{inPhase("PLAN"), again, 3, false},
		{decided, again, 4, true},
		{decided, append(other, again...), 4, true},
		{decided, other, 5, false},
	} {
		v := decisionFacts{c.state, c.questions}.decide(defaults)
		assert.Equal(t, c.row, v.Row)
		assert.Equal(t, c.refuses, refuses(v), c.row)
	}
}

func TestH01QuotesEveryMatch(t *testing.T) {
	s := stateFile{exists: true, decisions: []userDecision{{"Primary database", "PostgreSQL"}, {"Cache", "Redis"}}}
	v := decisionFacts{s, asking("Which cache?", "Which colour?", "Which primary database?", "Which font?")}.decide(defaults)
	assert.Equal(t, "DENIED: This question overlaps with an immutable decision already made. Previous decision: 'Cache' -> 'Redis'. Do not "+
		"re-ask. Use the cached answer. (overlap 1/1) "+
		"DENIED: This question overlaps with an immutable decision already made. Previous decision: 'Primary database' -> 'PostgreSQL'. Do not "+
		"re-ask. Use the cached answer. (overlap 2/2)"+
		" Ask again with only: 'Which colour?'; 'Which font?'", v.Message)
}

func TestTheTableOfH02(t *testing.T) {
	const noLock = "DENIED: No planning lock acquired. Call Phase 1 setup first to acquire lock before writing to planning workspace."
	broken := lockFile{path: "/f/lock", exists: true, age: 3 * time.Minute}
	theirs := lockFile{path: "/f/lock", exists: true, owner: "you\nthere", age: 30 * time.Minute}
	old := lockFile{path: "/f/lock", exists: true, owner: "you", age: 3 * time.Hour}
	for _, c := range []struct {
		facts   lockFacts
		row     int
		message string
	}{
		{lockFacts{session: "me"}, 1, ""},
		{lockFacts{inner: "a", held: foreign, lock: theirs}, 1, ""},
		{lockFacts{inner: lockName, session: "me", hasState: true}, 2, ""},
		{lockFacts{inner: specName, session: "me"}, 3, ""},
		{lockFacts{inner: specName, session: "me", hasState: true}, 4, noLock},
		{lockFacts{inner: "sub/" + specName, session: "me"}, 4, noLock},
		{lockFacts{inner: lockName, session: "me", held: damaged, lock: broken}, 5, ""},
		{lockFacts{inner: "a", session: "me", held: damaged, lock: broken}, 6,
			"DENIED: Planning lock is corrupted (no readable session_id). Wait for lock release or delete stale lock. " +
				"To repair it, write {\"session_id\": \"me\"} to .planning.lock. The lock is /f/lock, last written 3 min ago. " +
				"If no session plans here, only the person can remove it, in a terminal outside the client: fsmtx guard unlock"},
		{lockFacts{inner: lockName, session: "me", held: stale, lock: old}, 7, ""},
		{lockFacts{inner: "a", session: "me", held: foreign, lock: theirs}, 8,
			"DENIED: Planning lock owned by another session (you there). Wait for lock release or delete stale lock. " +
				"The lock is /f/lock, and its session was last active 30 min ago. If that session is over, only the person can remove it, " +
				"in a terminal outside the client: fsmtx guard unlock --session 'you there'"},
		{lockFacts{inner: lockName, session: "me", held: foreign, lock: theirs}, 8,
			"DENIED: Planning lock owned by another session (you there). Wait for lock release or delete stale lock. " +
				"The lock is /f/lock, and its session was last active 30 min ago. If that session is over, only the person can remove it, " +
				"in a terminal outside the client: fsmtx guard unlock --session 'you there'"},
		{lockFacts{inner: "a", session: "me", held: stale, lock: old}, 8,
			"DENIED: Planning lock owned by another session (you). Wait for lock release or delete stale lock. " +
				"You may take the lock over, because its session has been inactive for so long: write {\"session_id\": \"me\"} to .planning.lock. " +
				"The lock is /f/lock, and its session was last active 3 h ago. If that session is over, only the person can remove it, " +
				"in a terminal outside the client: fsmtx guard unlock --session you"},
		{lockFacts{inner: "a", session: "me", held: mine}, 9, ""},
	} {
		v := c.facts.decide(defaults)
		assert.Equal(t, c.row, v.Row)
		assert.Equal(t, c.message, v.Message)
		assert.Equal(t, c.message != "", refuses(v))
	}
}

// Row 1 of H03 is decided before the budget is read. budget_test.go has the others.
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
	for _, c := range []struct {
		facts specFacts
		row   int
	}{
		{specFacts{known: false, isSpec: true, state: inPhase("PLAN")}, 1},
		{specFacts{known: true, isSpec: false, state: inPhase("PLAN")}, 2},
		{specFacts{known: true, isSpec: true, state: missing(inPhase("PLAN"))}, 3},
		{specFacts{known: true, isSpec: true, state: unreadable(inPhase("PLAN"))}, 4},
		{specFacts{known: true, isSpec: true, state: inPhase("")}, 4},
		{specFacts{known: true, isSpec: true, state: inPhase("setup")}, 4},
		{specFacts{known: true, isSpec: true, state: inPhase("PLAN")}, 5},
		{specFacts{known: true, isSpec: true, state: inPhase("COMPLETION")}, 5},
	} {
		v := c.facts.decide(defaults)
		assert.Equal(t, c.row, v.Row)
		assert.Equal(t, c.row == 5, refuses(v), v.Detail)
	}
	assert.Contains(t, specFacts{known: true, isSpec: true, state: unreadable(stateFile{exists: true})}.decide(defaults).Detail, "broken")
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

func TestTheTableOfH06AndH12(t *testing.T) {
	for _, c := range []struct {
		state stateFile
		row   int
	}{{missing(inPhase("PLAN")), 1}, {unreadable(inPhase("PLAN")), 2}, {inPhase("PLAN"), 3}} {
		v := summaryFacts{state: c.state}.decide(1, "WORD", "lead\n")
		assert.Equal(t, c.row, v.Row)
		assert.Equal(t, c.row == 3, strings.HasPrefix(v.Message, "lead\n<planning-state>\nphase: PLAN\n"), v.Message)
	}
	long := inPhase("PLAN")
	for i := range 200 {
		long.gates = append(long.gates, gate{phase: fmt.Sprint(i), verdict: strings.Repeat("v", 90)})
	}
	lead := strings.Repeat("x", 500)
	assert.LessOrEqual(t, client.Length(summaryFacts{state: long}.decide(1, "WORD", lead).Message), maxContext)
}

func TestTheTableOfH07(t *testing.T) {
	config := defaults
	config.selfCritique = true
	text := strings.Repeat("- [ ] [T001] a\n", 4)
	row := func() int { return techLeadFacts{"/f", document{true, text}}.decide(config).Row }
	assert.Equal(t, 1, techLeadFacts{"", document{}}.decide(config).Row)
	assert.Equal(t, 2, techLeadFacts{"/f", document{}}.decide(config).Row)
	assert.Equal(t, 3, techLeadFacts{"/f", document{true, " \n\t\n"}}.decide(config).Row)
	assert.Equal(t, 4, row())
	text += "- [ ] [T005] b\n"
	assert.Equal(t, 5, row())
	text = strings.ReplaceAll(text, " a", " UT-1")
	assert.Equal(t, 6, row())
	assert.Equal(t, "tasks.md has only 0 '## Phase' headers. Expected at least 2 implementation phases. "+
		"Re-structure tasks into phased delivery.",
		techLeadFacts{"/f", document{true, text}}.decide(config).Message)
	text += "## Phase 1\n## Phase 2\n"
	assert.Equal(t, 7, row())
	text += "self critique\n"
	assert.Equal(t, 8, row())
	assert.Equal(t, "tasks=5, tdd=80%, phases=2", techLeadFacts{"/f", document{true, text}}.decide(config).Detail)
}

func TestTheTableOfH08(t *testing.T) {
	assert.Equal(t, 1, architectFacts{" \n"}.decide(defaults).Row)
	v := architectFacts{"I will design it well."}.decide(defaults)
	assert.Equal(t, 2, v.Row)
	assert.Equal(t, "Blueprint incomplete: missing component design, data flow, interfaces, files to create/modify, build sequence", v.Detail)
	assert.Equal(t, "Architect output lacks: component design, data flow, interfaces, files to create/modify, build sequence. "+
		"Re-run with more specific requirements.", v.Message)
	v = architectFacts{"## Data flow\nA to B\n## Interfaces\n"}.decide(defaults)
	assert.Equal(t, 2, v.Row)
	assert.Equal(t, "Blueprint incomplete: missing component design, files to create/modify, build sequence", v.Detail)
	assert.Equal(t, 3, architectFacts{"## Data flow\nA to B\n## Interfaces\n## Build order\n"}.decide(defaults).Row)
}

func TestTheTableOfH09(t *testing.T) {
	complete := qaFacts{feature: "/f", unit: 1, uat: 2, steps: 6, plan: document{true, "## Coverage Matrix"}}
	for _, c := range []struct {
		change func(*qaFacts)
		row    int
		says   string
	}{
		{func(f *qaFacts) { *f = qaFacts{uat: 1} }, 2, "No unit test IDs"},
		{func(f *qaFacts) { *f = qaFacts{unit: 1} }, 3, "No UAT script IDs"},
		{func(f *qaFacts) { f.steps, f.plan = 5, document{} }, 4, "Found 5 GWT markers for 2 UAT scripts (expected at least 6)."},
		{func(f *qaFacts) { f.plan.exists = false }, 5, "test-plan.md not found"},
		{func(f *qaFacts) { f.plan.text = "coverage of the matrix" }, 6, "Missing coverage matrix"},
		{func(*qaFacts) {}, 7, ""},
		{func(f *qaFacts) { f.plan.text = "coverage_matrix" }, 7, ""},
	} {
		facts := complete
		c.change(&facts)
		v := facts.decide(defaults)
		assert.Equal(t, c.row, v.Row)
		assert.Equal(t, c.row < 7, refuses(v), v.Detail)
		assert.Contains(t, v.Detail+". "+v.Message, c.says)
	}
}

func TestTheTableOfH10(t *testing.T) {
	words := strings.Repeat("word ", 99)
	for _, c := range []struct {
		agent, text string
		row         int
	}{
		{"", "", 1},
		{"product-planning:tech-lead", "", 2},
		{"tech-lead", "", 3},
		{"xproduct-planning:a", "", 3},
		{"product-planning:phase-gate-judge", "PASS, 4.2/5", 4},
		{"product-planning:debate-judge", "Verdict: minimal", 4},
		{"product-planning:debate-judge", "nothing to say", 5},
		{"product-planning:a", "PASS, 4.2/5", 5},
		{"product-planning:a", words, 5},
		{"product-planning:a", strings.Repeat("語", 800), 6},
		{"product-planning:a", strings.Repeat("これはペンです。", 99), 6},
		{"product-planning:a", strings.Repeat("語", 99), 5},
		{"product-planning:a", words + "word", 6},
		{"product-planning:a", "# " + words, 6},
		{"product-planning:a", "## " + words, 7},
		{"product-planning:a", "#### " + words, 6},
		{"product-planning:a", "- " + words, 7},
		{"product-planning:a", words + "\n  * b", 7},
		{"product-planning:a", words + "\n2. b", 7},
		{"product-planning:a", words + "\n| a |", 7},
		{"product-planning:a", words + "a | b", 6},
	} {
		assert.Equal(t, c.row, agentFacts{c.agent, c.text}.decide(defaults).Row, c.text)
	}
}

func TestTheFirstRowsOfH11(t *testing.T) {
	for _, c := range []struct {
		facts stopFacts
		row   int
	}{
		{stopFacts{running: true, held: foreign, said: client.Said{Known: true, Stop: true}}, 1},
		{stopFacts{state: inPhase("PLAN"), running: true, held: foreign, said: client.Said{Known: true, Stop: true}}, 2},
		{stopFacts{state: inPhase("PLAN"), held: foreign, said: client.Said{Known: true, Stop: true}}, 3},
		{stopFacts{state: inPhase("PLAN"), held: stale, said: client.Said{Known: true, Stop: true}}, 3},
		{stopFacts{state: inPhase("PLAN"), held: mine, said: client.Said{Known: true, Stop: true}}, 4},
		{stopFacts{state: unreadable(inPhase("PLAN")), said: client.Said{Known: true, Stop: true}}, 4},
		{stopFacts{state: inPhase("PLAN"), held: damaged}, 4},
	} {
		v, ok := c.facts.decide()
		assert.True(t, ok)
		assert.Equal(t, c.row, v.Row)
		assert.False(t, refuses(v))
	}
	for _, held := range []ownership{free, mine, damaged} {
		_, ok := stopFacts{state: inPhase("PLAN"), held: held, said: client.Said{Known: true}}.decide()
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
		v := artifactFacts{c.phase, c.missing}.decide(defaults)
		assert.Equal(t, c.row, v.Row)
		assert.Equal(t, c.row == 6, refuses(v), c)
	}
	assert.Equal(t, "Missing artifacts: plan.md, tasks.md", artifactFacts{"", missing}.decide(defaults).Detail)
	assert.Equal(t, "Planning incomplete (phase: unknown). Missing required artifacts: plan.md, tasks.md. Continue workflow to generate "+
		"these artifacts before stopping.",
		artifactFacts{"", missing}.decide(defaults).Message)
}

func TestTheTableOfH11b(t *testing.T) {
	red := []gate{{verdict: "green", status: "red"}, {phase: "8", verdict: "RED - needs revision"},
		{phase: "7", verdict: "not RED", status: "REDUCED"}, {phase: "9", verdict: "PASS"}}
	for _, c := range []struct {
		phase string
		gates []gate
		row   int
	}{{"COMPLETION", red, 5}, {"", red, 5}, {"", nil, 6}, {"FINISHED", nil, 7}, {"test-strategy", nil, 8}, {"completion", nil, 9}} {
		v := workflowFacts{state: stateFile{exists: true, phase: c.phase, gates: c.gates}}.decide(defaults)
		assert.Equal(t, c.row, v.Row)
		assert.Equal(t, c.row == 5 || c.row == 7 || c.row == 8, refuses(v), c)
	}
	assert.Equal(t, "Validation failed (RED) at PLAN, 8", workflowFacts{state: stateFile{exists: true, phase: "PLAN",
		gates: red}}.decide(defaults).Detail)
	assert.Equal(t, "Validation failed (RED) at unknown, 8", workflowFacts{state: stateFile{exists: true, gates: red}}.decide(defaults).Detail)
}

func TestTheTableOfH13(t *testing.T) {
	for _, c := range []struct {
		continued bool
		state     stateFile
		row       int
	}{{false, inPhase("PLAN"), 1}, {true, stateFile{}, 1}, {true, unreadable(inPhase("PLAN")), 1}, {true, inPhase("PLAN"), 2}} {
		v := environmentFacts{branch: "main", continued: c.continued, summary: summaryFacts{state: c.state}}.verdict()
		assert.Equal(t, c.row, v.Row)
		assert.Equal(t, c.row == 2, strings.Contains(v.Message, "\n<planning-state>\nphase: PLAN\n"), v.Message)
	}
}
