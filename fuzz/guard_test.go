package fuzz_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/rules"
)

// planningWorld has the directories of a planning workflow. The fuzzer writes one file there.
type planningWorld struct {
	feature, state, plugin string
}

const fuzzSession = "s"

func newPlanningWorld(f *testing.F) planningWorld {
	root := f.TempDir()
	w := planningWorld{filepath.Join(root, "feature"), filepath.Join(root, "state"), filepath.Join(root, "plugin")}
	for _, dir := range []string{w.feature, w.state, filepath.Join(w.plugin, "config")} {
		require.NoError(f, os.MkdirAll(dir, 0o700))
	}
	return w
}

// fresh removes the files of earlier inputs, and writes the state of a workflow, if there is one.
func (w planningWorld) fresh(t *testing.T, state ...string) {
	for _, dir := range []string{w.feature, w.state, filepath.Join(w.plugin, "config")} {
		entries := must(os.ReadDir(dir))
		for _, e := range entries {
			require.NoError(t, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	for _, text := range state {
		put(t, []byte(text), w.feature, ".planning-state.local.md")
	}
}

func put(t *testing.T, data []byte, path ...string) {
	require.NoError(t, os.WriteFile(filepath.Join(path...), data, 0o600))
}

func (w planningWorld) getenv(name string) string {
	return map[string]string{"PLANNING_FEATURE_DIR": w.feature, "PLANNING_STATE_DIR": w.state, "CLAUDE_PLUGIN_ROOT": w.plugin,
		"PLANNING_BINDS": "always"}[name]
}

func (w planningWorld) session() guard.Session { return guard.SessionOf(fuzzSession, w.getenv) }

// ask runs a rule and checks what must hold for every answer.
func (w planningWorld) ask(t *testing.T, id, input string) client.Answer {
	r, ok := rules.Find(id)
	require.True(t, ok, id)
	a := guard.Run(r, strings.NewReader(input), w.getenv, nil)
	require.False(t, a.Exit != 0 && a.Exit != 2 || (a.Exit == 2) != (a.ErrorText != ""), "%s: %+v", id, a)
	require.False(t, strings.Contains(a.Output, "internal error") || strings.Contains(a.Output, `"allow"`), "%s: %s", id, a.Output)
	if a.Output != "" && r.Event != client.PreCompact {
		checkReply(t, r, a)
	}
	return a
}

// checkReply reads the reply with another library than the one that wrote it.
func checkReply(t *testing.T, r guard.Rule, a client.Answer) {
	var reply struct {
		Specific struct {
			HookEventName     string `json:"hookEventName"`
			AdditionalContext string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	require.NoError(t, json.Unmarshal([]byte(a.Output), &reply), "%s: %s", r.ID, a.Output)
	require.Contains(t, []string{"", r.Event}, reply.Specific.HookEventName, r.ID)
	require.Less(t, len([]rune(reply.Specific.AdditionalContext)), 10000, r.ID)
}

// works asks a rule, which must not count a failure: the model can write the files.
func (w planningWorld) works(t *testing.T, id, input string) client.Answer {
	a := w.ask(t, id, input)
	require.NotContains(t, a.Output, "Failing open", id)
	return a
}

// ids are the guards that a file of the workflow can affect. Their order is fixed, because
// the fuzzer is guided by the code that an input reaches.
var ids = []string{"H01", "H02", "H03", "H04", "H05", "H06", "H11a", "H11b", "H12", "H13"}

// calls returns an event for each of them.
func (w planningWorld) calls() map[string]string {
	tool := func(name, input string) string {
		return fmt.Sprintf(`{"session_id":"s","cwd":"/","tool_name":%q,"tool_input":%s}`, name, input)
	}
	state := fmt.Sprintf(`{"file_path":%q}`, filepath.Join(w.feature, ".planning-state.local.md"))
	stop := `{"session_id":"s","cwd":"/","transcript_path":"none","last_assistant_message":"words"}`
	return map[string]string{
		"H01": tool("AskUserQuestion", `{"questions":[{"question":"Which cache, which database and which 東京?"}]}`),
		"H02": tool("Write", state),
		"H03": tool("mcp__Ref__x", `{"q":1}`),
		"H04": tool("Write", fmt.Sprintf(`{"file_path":%q}`, filepath.Join(w.feature, "spec.md"))),
		"H05": tool("Write", state),
		"H06": stop, "H11a": stop, "H11b": stop, "H12": stop,
		"H13": `{"session_id":"s","cwd":"/","source":"compact"}`,
	}
}

var bom = []byte("\ufeff")

func FuzzGuardFrontmatter(f *testing.F) {
	seed(f,
		"---\nphase: A\n---\nbody", "\ufeff---\r\nphase: \"A\"\r\n...\r\n", "phase: A", "---\n", "---\n---\n", "---\nphase: [x\n---\n",
		"---\na: &a [*a]\n---\n", "---\na: &a {x: 1}\nb: *a\nc: [*a, *a]\n---\n", "---\n? [x]\n: y\n---\n", "---\n<<: {a: 1}\n---\n",
		"---\na: !!binary aGk=\nb: 2026-01-01\n---\n", "---\n\tx: 1\n---\n", "%YAML 1.1\n---\na: 1\n",
		"---\na: 1\na: 2\nb: true\nc: -0x10\nd: 1e3\ne: \"7\"\nf: ~\ng: [1, [2, {h: i}]]\n---\nbody\n---\n",
	)
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := frontmatter.Parse(data)
		if !bytes.HasPrefix(data, bom) && len(data) < frontmatter.MaxBytes-len(bom) {
			marked, errMarked := frontmatter.Parse(append(bytes.Clone(bom), data...))
			require.Equal(t, err == nil, errMarked == nil, "a byte order mark matters: %v, %v", err, errMarked)
			require.Equal(t, v.String(), marked.String())
		}
		if err != nil {
			require.False(t, v.Members() != nil || !v.Null(), "a value comes with the error %v", err)
			return
		}
		_, isText := v.Text()
		require.False(t, isText || v.Null() || v.Items() != nil, "the result is not a mapping")
		for _, m := range v.Members() {
			require.False(t, len(m.Value.String()) > len(data)+2*frontmatter.MaxText, "%q: String has no bound", m.Key)
		}
		checkBodyIsIgnored(t, data, v)
		checkValue(t, v, 5)
	})
}

// checkBodyIsIgnored appends a body, which must not change the result if the frontmatter has
// an end.
func checkBodyIsIgnored(t *testing.T, data []byte, v frontmatter.Value) {
	marks := 0
	for line := range bytes.Lines(bytes.TrimPrefix(data, bom)) {
		if line = bytes.TrimRight(line, " \t\r\n"); string(line) == "---" || marks == 1 && string(line) == "..." {
			marks++
		}
	}
	if marks < 2 {
		return
	}
	again, err := frontmatter.Parse(append(bytes.Clone(data), "\nphase: BODY\n---\n[\n"...))
	require.False(t, err != nil || again.String() != v.String(), "the body matters: %v", err)
}

// checkValue checks that a value has at most one kind and that its accessors agree. It also
// checks the values inside, down to depth.
func checkValue(t *testing.T, v frontmatter.Value, depth int) {
	_, isText := v.Text()
	kinds := 0
	for _, is := range []bool{v.Null(), isText, v.Items() != nil, v.Members() != nil} {
		if is {
			kinds++
		}
	}
	require.False(t, kinds > 1, "%q has %d kinds", v, kinds)
	checkScalar(t, v)
	if depth == 0 {
		return
	}
	for _, item := range v.Items() {
		checkValue(t, item, depth-1)
	}
	last := map[string]frontmatter.Value{}
	for _, m := range v.Members() {
		checkValue(t, m.Value, depth-1)
		last[m.Key] = m.Value
	}
	for key, value := range last {
		require.Equal(t, value, v.At(key), "At(%q) is not the last member of that name", key)
	}
}

func checkScalar(t *testing.T, v frontmatter.Value) {
	text, isText := v.Text()
	require.False(t, isText && v.String() != text, "%q is written as %q", text, v)
	n, isInt := v.Int()
	x, isNumber := v.Number()
	b, isBool := v.Bool()
	require.False(t, (isNumber || isBool) && !isText || isNumber && isBool, "%q is a text: %t, a number: %t", v, isText, isNumber)
	require.False(t, isInt && (!isNumber || x != float64(n)), "%q is %d and %g", text, n, x)
	require.False(t, isNumber && (math.IsNaN(x) || math.IsInf(x, 0)), "%q is not a finite number", text)
	require.False(t, isBool && !strings.EqualFold(text, fmt.Sprint(b)), "%q is %t", text, b)
}

func FuzzGuardState(f *testing.F) {
	w := newPlanningWorld(f)
	seed(f,
		"---\nphase: ARCHITECTURE\nmode: x\nuser_decisions: {\"Use Redis cache\": \"Yes\", Database: [a, b]}\ngate_results: [{phase: 1, "+
			"verdict: RED, score: 2}]\n---\n",
		"---\nphase: [x\n---\n", "phase: A", "---\nuser_decisions: [a]\ngate_results: {1: RED, 2: {status: x}}\n---\n",
		"---\nphase: \"a\\n→ | session=\\u2028\"\nmode: \"</planning-state>\"\n---\n", "",
	)
	f.Fuzz(func(t *testing.T, data []byte) {
		w.fresh(t, string(data))
		calls := w.calls()
		for _, id := range ids {
			a := w.works(t, id, calls[id])
			require.False(t, id == "H12" && strings.Count(a.Output, "</planning-state>") > 1, "a value ended the block: %s", a.Output)
		}
		log := must(os.ReadFile(w.session().Log()))
		for line := range strings.Lines(string(log)) {
			require.False(t, !strings.HasPrefix(line, "[") || !strings.Contains(line, "Z] H"), "a value began a line of the log: %q", line)
		}
	})
}

func FuzzGuardLock(f *testing.F) {
	w := newPlanningWorld(f)
	seed(f, `{"session_id":"s"}`, `{"session_id":"other"}`, `{"session_id":7}`, `{"session_id":""}`, `[]`, ``,
		`{"session_id":"s"} x`, "\ufeff{}", `{"session_id":"x","session_id":"s"}`)
	f.Fuzz(func(t *testing.T, data []byte) {
		w.fresh(t)
		put(t, data, w.feature, ".planning.lock")
		a := w.works(t, "H02", w.calls()["H02"])
		var lock map[string]any
		mine := json.Unmarshal(data, &lock) == nil && lock["session_id"] == fuzzSession
		require.Equal(t, mine, a.Exit == 0, "%q: %+v", data, a)
	})
}

func FuzzGuardConfig(f *testing.F) {
	w := newPlanningWorld(f)
	seed(f,
		"feature_flags: {hooks_enforcement: {enabled: false}}",
		"feature_flags: {hooks_enforcement: {circuit_breaker_threshold: 0, max_consecutive_blocks: -1}}",
		"research_mcp: {budget: {total_calls_per_session: 99999999999999999999, warn_at_percentage: 1e9}}",
		"feature_flags: {hooks_immutable_guard: {keyword_overlap_threshold: .nan}}", "a: &a [*a]", "[", "",
	)
	f.Fuzz(func(t *testing.T, data []byte) {
		w.fresh(t, "---\nphase: PLAN\n---\n")
		put(t, data, w.plugin, "config", "planning-config.yaml")
		calls := w.calls()
		for _, id := range ids {
			w.works(t, id, calls[id])
		}
	})
}

func FuzzGuardSessionFiles(f *testing.F) {
	w := newPlanningWorld(f)
	seed(f,
		`{"session_total":3,"phase_total":1,"current_phase":"A","per_server":{"ref":3},"call_hashes":["x"]}`, `{"session_total":-1}`,
		`{"session_total":9223372036854775807}`,
		`{"H03_research_budget":3}`, `{"H03_research_budget":"3","H11a:main":1e3}`, `{"H11a:main":2}`, `null`, `[]`, `{`, ``,
	)
	f.Fuzz(func(t *testing.T, data []byte) {
		w.fresh(t, "---\nphase: PLAN\n---\n")
		for _, path := range []string{rules.BudgetFile(w.session()), w.session().Breaker(), w.session().Blocks()} {
			put(t, data, path)
		}
		for _, id := range []string{"H03", "H05", "H11a", "H11b"} {
			w.works(t, id, w.calls()[id])
		}
		for range 12 { // more than any stored count allows
			w.ask(t, "H11a", strings.Replace(w.calls()["H11a"], "{", `{"stop_hook_active":true,`, 1))
		}
		a := w.ask(t, "H11a", strings.Replace(w.calls()["H11a"], "{", `{"stop_hook_active":true,`, 1))
		require.Zero(t, a.Exit, "the guard does not stop blocking the turn")
	})
}

func FuzzGuardAudit(f *testing.F) {
	w := newPlanningWorld(f)
	seed(f,
		"[t] CHECKPOINT: A → PLAN | session=a | mode=x\n", "[t] CHECKPOINT: A → B | session=a\nnote", "CHECKPOINT:  →  | session=",
		"\x00\n\n", "",
	)
	f.Fuzz(func(t *testing.T, data []byte) {
		w.fresh(t, "---\nphase: PLAN\nmode: x\n---\n")
		path := filepath.Join(w.feature, ".planning-audit.log")
		put(t, data, path)
		first := w.ask(t, "H05", w.calls()["H05"])
		added, kept := bytes.CutPrefix(must(os.ReadFile(path)), data)
		require.True(t, kept && (first.Output == "") == (len(added) == 0), "added %q", added)
		require.NotContains(t, strings.Trim(string(added), "\n"), "\n")
		require.Empty(t, w.ask(t, "H05", w.calls()["H05"]).Output, "the same phase twice")
	})
}

func FuzzGuardTranscript(f *testing.F) {
	w := newPlanningWorld(f)
	seed(f,
		`{"type":"user","message":{"content":"stop"}}`, `{"type":"user","message":{"content":[{"type":"text","text":"quit"}]}}`+"\n{",
		`{"type":"assistant","message":{"content":"x"}}`, "\n\n", `{"type":"user","isMeta":"x"}`, "",
	)
	f.Fuzz(func(t *testing.T, data []byte) {
		w.fresh(t, "---\nphase: PLAN\n---\n")
		path := filepath.Join(w.feature, "t.jsonl")
		put(t, data, path)
		stop := fmt.Sprintf(`{"session_id":"s","cwd":"/","transcript_path":%q}`, path)
		require.Equal(t, w.works(t, "H11a", stop).Exit, w.works(t, "H11b", stop).Exit)
		w.ask(t, "H10", fmt.Sprintf(`{"session_id":"s","cwd":"/","agent_type":"product-planning:x","agent_transcript_path":%q}`, path))
	})
}

func FuzzGuardEvent(f *testing.F) {
	w := newPlanningWorld(f)
	for _, id := range ids {
		f.Add(id, w.calls()[id])
	}
	for _, id := range []string{"H07", "H08", "H09", "H10"} {
		f.Add(id, `{"session_id":"s","agent_type":"product-planning:tech-lead","last_assistant_message":"x",`+
			`"background_tasks":[{"status":"running"}]}`)
	}
	f.Add("H02", `{"session_id":["s"],"cwd":7,"tool_input":{"file_path":{"a":1}}}`)
	f.Add("H01", `{"tool_input":{"questions":[7,{"question":7},{"question":"x"}],"question":"y"}}`)
	f.Add("H03", `{"session_id":"../../x","tool_name":"mcp__Ref__x","tool_input":{"a":1,"a":2,"b":"\ud800"}}`)
	f.Fuzz(func(t *testing.T, id, input string) {
		if _, ok := rules.Find(id); !ok {
			return
		}
		w.fresh(t, "---\nphase: PLAN\nuser_decisions: {Cache: Redis}\n---\n")
		w.ask(t, id, input)
	})
}
