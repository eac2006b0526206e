package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/statefile"
)

func TestResearchServer(t *testing.T) {
	for tool, want := range map[string]string{
		"mcp__context7__get-library-docs":         "context7",
		"mcp__Ref__x":                             "ref",
		"mcp__ref__x":                             "ref",
		"mcp__tavily__":                           "tavily",
		"mcp__plugin_product-planning_Ref__query": "ref",
		"mcp__plugin_a_b_tavily__x":               "tavily",
		"mcp__myRef__x":                           "",
		"mcp__plugin_Ref__x":                      "",
		"mcp__plugin__Ref__x":                     "",
		"mcp__other_Ref__x":                       "",
		"mcp__context7":                           "",
		"mcp__refs__read":                         "",
		"mcp__plugin_docs_ref__read":              "ref",
		"context7__x":                             "",
		"WebSearch":                               "",
		"":                                        "",
	} {
		server, ok := researchServer(tool, defaults.servers)
		assert.Equal(t, want, server, tool)
		assert.Equal(t, want != "", ok, tool)
	}
}

func TestCallKey(t *testing.T) {
	key := func(input string) string { return callKey("t", jsontext.Value(input)) }
	assert.Equal(t, key(`{"a":1,"b":[{"c":2,"d":3}]}`), key(` { "b" : [ {"d":3,"c":2} ], "a":1 }`))
	assert.Equal(t, key(`{"a":"é"}`), key(`{"a":"\u00e9"}`))
	assert.NotEqual(t, key(`{"a":1}`), key(`{"a":2}`))
	assert.NotEqual(t, key(`{"a":"1"}`), key(`{"a":1}`))
	assert.NotEqual(t, key(`[1,2]`), key(`[2,1]`))
	assert.NotEqual(t, key(`{"id":9007199254740993}`), key(`{"id":9007199254740992}`), "whole numbers keep every digit")
	assert.NotEqual(t, callKey("a", nil), callKey("b", nil))
	input := jsontext.Value(`{"b":1,"a":2}`)
	callKey("t", input)
	assert.Equal(t, `{"b":1,"a":2}`, string(input), "the event is not modified")
}

func TestParseBudget(t *testing.T) {
	for _, text := range []string{`{}`, `{"session_total":3,"extra":[1]}`, `{"session_total":3,"per_server":{"other":1}}`} {
		must(parseBudget([]byte(text)))
	}
	for _, text := range []string{
		``, `{"session_total":`, `[]`, `null`, `{"session_total":"3"}`, `{"session_total":1.5}`, `{"session_total":1e30}`,
		`{"session_total":-1}`, `{"phase_total":-1}`, `{"per_server":{"ref":-1}}`, `{"per_server":[]}`, `{"call_hashes":{}}`,
		`{"call_hashes":[1]}`, `{"session_total":null}`, `{"session_total":3,"phase_total":null}`,
		`{"session_total":3,"phase_total":{"a":1}}`, `{"session_total":3,"current_phase":["RESEARCH"]}`,
	} {
		b, err := parseBudget([]byte(text))
		assert.Error(t, err, text)
		assert.Equal(t, Budget{}, b, text)
	}
	assert.Equal(t, Budget{}, must(parseBudget(nil)))
}

func TestABudgetIsReadBackAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(0, 1<<40)
		b := Budget{
			SessionTotal: count.Draw(t, "session"), PhaseTotal: count.Draw(t, "phase"),
			CurrentPhase: strings.ToValidUTF8(rapid.String().Draw(t, "name"), ""),
			PerServer:    map[string]int{"ref": count.Draw(t, "ref")}, CallHashes: rapid.SliceOf(rapid.String()).Draw(t, "hashes"),
		}
		again, err := parseBudget(must(b.encode()))
		require.False(t, err != nil || !reflect.DeepEqual(b, again), "%+v became %+v (%v)", b, again, err)
	})
}

func TestTheBudgetFileHasTheDocumentedForm(t *testing.T) {
	data := must(Budget{}.plus("ref", "k", lower(defaults.servers)).encode())
	assert.JSONEq(t, `{"session_total":1,"phase_total":1,"current_phase":"","per_server":{"context7":0,"ref":1,`+
		`"tavily":0},"call_hashes":["k"]}`,
		string(data))
	data = must(Budget{}.encode())
	assert.JSONEq(t, `{"session_total":0,"phase_total":0,"current_phase":"","per_server":{},"call_hashes":[]}`, string(data))
}

func spent(session, phase int) Budget {
	return Budget{SessionTotal: session, PhaseTotal: phase, CurrentPhase: "RESEARCH"}
}

// The session's limit is checked before the phase's, and each warning names the limits that are near.
func TestTheRowsOfH03AtTheLimits(t *testing.T) {
	none := configuration{phaseCalls: 10}
	for _, c := range []struct {
		before Budget
		config configuration
		row    int
		want   string
	}{
		{spent(18, 6), defaults, 7, ""},
		{spent(19, 0), defaults, 7,
			"WARNING: Session budget at 20/25 (80% threshold). Consider consolidating research before making more calls."},
		{spent(7, 7), defaults, 7, "WARNING: Phase budget at 8/10. Consider consolidating research before making more calls."},
		{spent(24, 9), defaults, 7, "WARNING: Session budget at 25/25 (80% threshold). WARNING: Phase budget at 10/10. Consider " +
			"consolidating research before making more calls."},
		{spent(24, 10), defaults, 6, "DENIED: Research MCP phase budget exhausted (10/10 calls). Proceed to next phase or consolidate " +
			"existing research."},
		{spent(25, 10), defaults, 5, "DENIED: Research MCP session budget exhausted (25/25 calls). No more research calls allowed this session."},
		{Budget{}, none, 5, "DENIED: Research MCP session budget exhausted (0/0 calls). No more research calls allowed this session."},
	} {
		_, v := researchCall{key: "k", server: "ref", config: c.config}.decide(c.before)
		assert.Equal(t, c.row, v.Row, c.want)
		assert.Equal(t, c.want, v.Message)
	}
}

// calls draws the research calls of a session.
func calls(t *rapid.T) []researchCall {
	config := configuration{
		sessionCalls: rapid.IntRange(0, 12).Draw(t, "session limit"),
		phaseCalls:   rapid.IntRange(0, 6).Draw(t, "phase limit"),
		warnPercent:  rapid.IntRange(0, 120).Draw(t, "percent"),
	}
	one := rapid.Custom(func(t *rapid.T) researchCall {
		return researchCall{
			key:    fmt.Sprint("call ", rapid.IntRange(0, 15).Draw(t, "call")),
			server: rapid.SampledFrom([]string{"context7", "ref", "tavily"}).Draw(t, "server"),
			phase:  rapid.SampledFrom([]string{"", "A", "B"}).Draw(t, "phase"),
			config: config,
		}
	})
	return rapid.SliceOfN(one, 1, 40).Draw(t, "calls")
}

// checkBudget compares a budget with its limits and with the calls that were allowed so
// far.
func checkBudget(t *rapid.T, b Budget, allowed map[string]int, config configuration) {
	servers := 0
	for _, n := range b.PerServer {
		servers += n
	}
	require.False(t, b.SessionTotal > config.sessionCalls || b.PhaseTotal > config.phaseCalls, "above the limit: %+v", b)
	if b.SessionTotal != len(allowed) || len(b.CallHashes) != len(allowed) || servers != len(allowed) {
		t.Fatalf("%d calls were allowed, counted: %+v", len(allowed), b)
	}
}

// TestPropertyTheBudgetIsNotExceededAndARetryIsNotCounted: calls come in any order, with checkpoints between them.
func TestPropertyTheBudgetIsNotExceededAndARetryIsNotCounted(t *testing.T) {
	dir := t.TempDir()
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		c := newCall(dir, fmt.Sprint(round))
		file, allowed := BudgetFile(c.Session), map[string]int{}
		for _, request := range calls(t) {
			c.config = request.config
			before := readBudget(t, file)
			v, broken, err := c.spend(request)
			require.False(t, err != nil || broken != nil, err, broken)
			if !refuses(v) {
				allowed[request.key]++
			}
			again, after := allowed[request.key] > 1, readBudget(t, file)
			require.False(t, (refuses(v) || again) && after.SessionTotal != before.SessionTotal, "counted: %s, row %d", request.key, v.Row)
			require.False(t, again && v.Row != 4, "a retry is row 4, not %d", v.Row)
			checkBudget(t, after, allowed, request.config)
			if phase := rapid.SampledFrom([]string{"", "", "A", "B"}).Draw(t, "checkpoint"); phase != "" {
				require.NoError(t, c.resetBudget(phase, true))
			}
		}
	})
}

// If a lock cannot be taken, the call is not counted, but the user's work goes on.
func TestALockThatIsHeldIsNotAFailure(t *testing.T) {
	defer func(before time.Duration) { guard.LockWait = before }(guard.LockWait)
	guard.LockWait = 10 * time.Millisecond
	feature, dir := t.TempDir(), t.TempDir()
	vars := map[string]string{"PLANNING_FEATURE_DIR": feature, "PLANNING_STATE_DIR": dir}
	state := filepath.Join(feature, stateName)
	require.NoError(t, os.WriteFile(state, []byte("---\nphase: TASKS\n---\n"), 0o600))
	s := guard.SessionOf("s", getenv(vars))
	require.NoError(t, os.WriteFile(BudgetFile(s), []byte(`{"session_total":3,"phase_total":3,"current_phase":"PLAN"}`), 0o600))
	for _, path := range []string{BudgetFile(s) + statefile.LockSuffix, filepath.Join(feature, auditName)} {
		release := must(statefile.Hold(path, guard.LockWait))
		defer release()
	}

	assert.Equal(t, client.Answer{}, rulesRun(t, "H03", `{"session_id":"s","tool_name":"mcp__Ref__x","tool_input":{}}`, vars))
	a := rulesRun(t, "H05", fmt.Sprintf(`{"session_id":"s","cwd":"/","tool_name":"Write","tool_input":{"file_path":%q}}`, state), vars)
	assert.Zero(t, a.Exit)
	assert.Contains(t, a.Output, "CHECKPOINT: UNKNOWN → TASKS")

	log := readFile(t, s.Log())
	assert.Contains(t, log, "H03_research_budget: ALLOW | Lock contention on budget file\n")
	assert.Contains(t, log, "H05_checkpoint_logger: ERROR | audit log not written: locked by another process\n")
	assert.Contains(t, log, "H05_checkpoint_logger: ERROR | Lock contention on budget file, phase budget not reset\n")
	assert.NoFileExists(t, s.Breaker())
}

// TestABrokenBudgetCountsFromZero: a denial does not replace it.
func TestABrokenBudgetCountsFromZero(t *testing.T) {
	vars := map[string]string{"PLANNING_STATE_DIR": t.TempDir()}
	c := newCall(vars["PLANNING_STATE_DIR"], "s")
	path := BudgetFile(c.Session)
	require.Equal(t, "planning-research-budget-s.json", filepath.Base(path))
	require.NoError(t, os.WriteFile(path, []byte(`{"session_total":-1}`), 0o600))
	v, broken, err := c.spend(researchCall{key: "k"})
	require.NoError(t, err)
	assert.Error(t, broken)
	assert.Equal(t, 5, v.Row)
	assert.Equal(t, `{"session_total":-1}`, readFile(t, path))
	assert.Equal(t, client.Answer{}, rulesRun(t, "H03", `{"session_id":"s","tool_name":"mcp__Ref__x","tool_input":{}}`, vars))
	assert.Equal(t, 1, readBudget(t, path).SessionTotal)
	log := readFile(t, c.Session.Log())
	assert.Contains(t, log, "H03_research_budget: RESET | Budget file unusable, counting from 0: a count is negative\n")
	assert.Contains(t, log, "H03_research_budget: ALLOW | Budget OK: session=1/25, phase=1/10\n")
}
