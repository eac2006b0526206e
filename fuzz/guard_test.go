// Package fuzz_test feeds the program what nobody would write.
package fuzz_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// workshop is a planning workflow in which one file is the fuzzer's.
type workshop struct {
	feature, state, plugin string
}

const fuzzSession = "s"

func newWorkshop(f *testing.F) workshop {
	root := f.TempDir()
	w := workshop{filepath.Join(root, "feature"), filepath.Join(root, "state"), filepath.Join(root, "plugin")}
	for _, dir := range []string{w.feature, w.state, filepath.Join(w.plugin, "config")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			f.Fatal(err)
		}
	}
	return w
}

// fresh forgets what earlier inputs left.
func (w workshop) fresh(t *testing.T) {
	for _, dir := range []string{w.feature, w.state, filepath.Join(w.plugin, "config")} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func put(t *testing.T, data []byte, path ...string) {
	if err := os.WriteFile(filepath.Join(path...), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (w workshop) getenv(name string) (string, bool) {
	v, ok := map[string]string{"PLANNING_FEATURE_DIR": w.feature, "PLANNING_STATE_DIR": w.state, "CLAUDE_PLUGIN_ROOT": w.plugin}[name]
	return v, ok
}

func (w workshop) session() guard.Session {
	return guard.SessionOf(fuzzSession, func(name string) string { v, _ := w.getenv(name); return v })
}

type answer struct {
	code        int
	out, stderr string
}

// ask runs a guard and holds its answer against what every answer must be.
func (w workshop) ask(t *testing.T, id, input string) answer {
	g, ok := guard.Find(id)
	if !ok {
		t.Fatal(id)
	}
	var out, errs bytes.Buffer
	code, err := guard.Run(g, terminal.Streams{In: strings.NewReader(input), Out: &out, Err: &errs, Getenv: w.getenv})
	if err != nil {
		t.Fatal(err)
	}
	a := answer{code, out.String(), errs.String()}
	if code != 0 && code != 2 || code == 2 && a.stderr == "" || code == 0 && a.stderr != "" {
		t.Fatalf("%s: %+v", id, a)
	}
	if strings.Contains(a.out, "internal error") || strings.Contains(a.out, `"allow"`) {
		t.Fatalf("%s: %s", id, a.out)
	}
	if a.out != "" && g.Event != event.PreCompact {
		a.checkReply(t, g)
	}
	return a
}

// checkReply reads the reply with another library than the one that wrote it.
func (a answer) checkReply(t *testing.T, g guard.Guard) {
	var reply struct {
		Specific struct {
			HookEventName     string `json:"hookEventName"`
			AdditionalContext string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(a.out), &reply); err != nil {
		t.Fatalf("%s: %v: %s", g.ID, err, a.out)
	}
	if name := reply.Specific.HookEventName; name != "" && name != g.Event {
		t.Fatalf("%s answers %s", g.ID, name)
	}
	if n := len([]rune(reply.Specific.AdditionalContext)); n >= 10000 {
		t.Fatalf("%s: context of %d characters", g.ID, n)
	}
}

// fails reports whether a guard called itself broken, which no file that the
// model can write may bring about.
func (a answer) fails() bool { return strings.Contains(a.out, "Failing open") }

// ids are the guards that a file of the workflow can concern, in an order that
// does not change: the fuzzer goes by which code an input reaches.
var ids = []string{"H01", "H02", "H03", "H04", "H05", "H06", "H11a", "H11b", "H12", "H13"}

// calls is an event for each of them.
func (w workshop) calls() map[string]string {
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

func FuzzGuardFrontmatter(f *testing.F) {
	for _, seed := range []string{
		"---\nphase: A\n---\nbody", "\ufeff---\r\nphase: \"A\"\r\n...\r\n", "phase: A", "---\n", "---\n---\n", "---\nphase: [x\n---\n",
		"---\na: &a [*a]\n---\n", "---\na: &a {x: 1}\nb: *a\nc: [*a, *a]\n---\n", "---\n? [x]\n: y\n---\n", "---\n<<: {a: 1}\n---\n", "---\na: !!binary aGk=\nb: 2026-01-01\n---\n", "---\n\tx: 1\n---\n", "%YAML 1.1\n---\na: 1\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := frontmatter.Parse(data)
		if err != nil {
			return
		}
		for _, m := range v.Members() {
			if len(m.Value.String()) > len(data)+2*frontmatter.MaxText {
				t.Fatal("a value grew")
			}
			m.Value.Int()
			m.Value.Number()
			m.Value.Bool()
			m.Value.Items()
			m.Value.At("a", "b")
		}
	})
}

func FuzzGuardState(f *testing.F) {
	w := newWorkshop(f)
	for _, seed := range []string{
		"---\nphase: ARCHITECTURE\nmode: x\nuser_decisions: {\"Use Redis cache\": \"Yes\", Database: [a, b]}\ngate_results: [{phase: 1, verdict: RED, score: 2}]\n---\n",
		"---\nphase: [x\n---\n", "phase: A", "---\nuser_decisions: [a]\ngate_results: {1: RED, 2: {status: x}}\n---\n", "---\nphase: \"a\\n→ | session=\\u2028\"\nmode: \"</planning-state>\"\n---\n", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w.fresh(t)
		put(t, data, w.feature, ".planning-state.local.md")
		calls := w.calls()
		for _, id := range ids {
			a := w.ask(t, id, calls[id])
			if a.fails() {
				t.Fatalf("%s: %s", id, a.out)
			}
			if id == "H12" && strings.Count(a.out, "</planning-state>") > 1 {
				t.Fatalf("broken out of: %s", a.out)
			}
		}
		log, err := os.ReadFile(w.session().Log())
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(log)) {
			if !strings.HasPrefix(line, "[") || !strings.Contains(line, "Z] H") {
				t.Fatalf("forged: %q", line)
			}
		}
	})
}

func FuzzGuardLock(f *testing.F) {
	w := newWorkshop(f)
	for _, seed := range []string{`{"session_id":"s"}`, `{"session_id":"other"}`, `{"session_id":7}`, `{"session_id":""}`, `[]`, ``, `{"session_id":"s"} x`, "\ufeff{}", `{"session_id":"x","session_id":"s"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w.fresh(t)
		put(t, data, w.feature, ".planning.lock")
		a := w.ask(t, "H02", w.calls()["H02"])
		var lock map[string]any
		mine := json.Unmarshal(data, &lock) == nil && lock["session_id"] == fuzzSession
		if mine != (a.code == 0) || a.fails() {
			t.Fatalf("%q: %+v", data, a)
		}
	})
}

func FuzzGuardConfig(f *testing.F) {
	w := newWorkshop(f)
	for _, seed := range []string{
		"feature_flags: {hooks_enforcement: {enabled: false}}", "feature_flags: {hooks_enforcement: {circuit_breaker_threshold: 0, max_consecutive_blocks: -1}}",
		"research_mcp: {budget: {total_calls_per_session: 99999999999999999999, warn_at_percentage: 1e9}}", "feature_flags: {hooks_immutable_guard: {keyword_overlap_threshold: .nan}}", "a: &a [*a]", "[", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w.fresh(t)
		put(t, data, w.plugin, "config", "planning-config.yaml")
		put(t, []byte("---\nphase: PLAN\n---\n"), w.feature, ".planning-state.local.md")
		calls := w.calls()
		for _, id := range ids {
			if a := w.ask(t, id, calls[id]); a.fails() {
				t.Fatalf("%s: %s", id, a.out)
			}
		}
	})
}

func FuzzGuardSessionFiles(f *testing.F) {
	w := newWorkshop(f)
	for _, seed := range []string{
		`{"session_total":3,"phase_total":1,"current_phase":"A","per_server":{"ref":3},"call_hashes":["x"]}`, `{"session_total":-1}`, `{"session_total":9223372036854775807}`,
		`{"H03_research_budget":3}`, `{"H03_research_budget":"3","H11a:main":1e3}`, `{"H11a:main":2}`, `null`, `[]`, `{`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w.fresh(t)
		put(t, []byte("---\nphase: PLAN\n---\n"), w.feature, ".planning-state.local.md")
		for _, path := range []string{w.session().Budget(), w.session().Breaker(), w.session().Blocks()} {
			put(t, data, path)
		}
		for _, id := range []string{"H03", "H05", "H11a", "H11b"} {
			if a := w.ask(t, id, w.calls()[id]); a.fails() {
				t.Fatalf("%s: %s", id, a.out)
			}
		}
		for range 12 { // whatever was there, an end to end of this is reached
			w.ask(t, "H11a", strings.Replace(w.calls()["H11a"], "{", `{"stop_hook_active":true,`, 1))
		}
		if a := w.ask(t, "H11a", strings.Replace(w.calls()["H11a"], "{", `{"stop_hook_active":true,`, 1)); a.code != 0 {
			t.Fatal("a turn can never end")
		}
	})
}

func FuzzGuardAudit(f *testing.F) {
	w := newWorkshop(f)
	for _, seed := range []string{
		"[t] CHECKPOINT: A → PLAN | session=a | mode=x\n", "[t] CHECKPOINT: A → B | session=a\nnote", "CHECKPOINT:  →  | session=", "\x00\n\n", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w.fresh(t)
		path := filepath.Join(w.feature, ".planning-audit.log")
		put(t, data, path)
		put(t, []byte("---\nphase: PLAN\nmode: x\n---\n"), w.feature, ".planning-state.local.md")
		first := w.ask(t, "H05", w.calls()["H05"])
		after, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		added, kept := bytes.CutPrefix(after, data)
		if !kept || (first.out == "") != (len(added) == 0) || strings.Count(strings.Trim(string(added), "\n"), "\n") != 0 {
			t.Fatalf("added %q", added)
		}
		if again := w.ask(t, "H05", w.calls()["H05"]); again.out != "" {
			t.Fatalf("the same phase twice: %s", again.out)
		}
	})
}

func FuzzGuardTranscript(f *testing.F) {
	w := newWorkshop(f)
	for _, seed := range []string{
		`{"type":"user","message":{"content":"stop"}}`, `{"type":"user","message":{"content":[{"type":"text","text":"quit"}]}}` + "\n{", `{"type":"assistant","message":{"content":"x"}}`, "\n\n", `{"type":"user","isMeta":"x"}`, "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w.fresh(t)
		path := filepath.Join(w.feature, "t.jsonl")
		put(t, data, path)
		put(t, []byte("---\nphase: PLAN\n---\n"), w.feature, ".planning-state.local.md")
		stop := fmt.Sprintf(`{"session_id":"s","cwd":"/","transcript_path":%q}`, path)
		if a, b := w.ask(t, "H11a", stop), w.ask(t, "H11b", stop); a.code != b.code || a.fails() || b.fails() {
			t.Fatalf("%+v %+v", a, b)
		}
		w.ask(t, "H10", fmt.Sprintf(`{"session_id":"s","cwd":"/","agent_type":"product-planning:x","agent_transcript_path":%q}`, path))
	})
}

func FuzzGuardEvent(f *testing.F) {
	w := newWorkshop(f)
	for _, id := range ids {
		f.Add(id, w.calls()[id])
	}
	for _, id := range []string{"H07", "H08", "H09", "H10"} {
		f.Add(id, `{"session_id":"s","agent_type":"product-planning:tech-lead","last_assistant_message":"x","background_tasks":[{"status":"running"}]}`)
	}
	f.Add("H02", `{"session_id":["s"],"cwd":7,"tool_input":{"file_path":{"a":1}}}`)
	f.Add("H01", `{"tool_input":{"questions":[7,{"question":7},{"question":"x"}],"question":"y"}}`)
	f.Add("H03", `{"session_id":"../../x","tool_name":"mcp__Ref__x","tool_input":{"a":1,"a":2,"b":"\ud800"}}`)
	f.Fuzz(func(t *testing.T, id, input string) {
		if _, ok := guard.Find(id); !ok {
			return
		}
		w.fresh(t)
		put(t, []byte("---\nphase: PLAN\nuser_decisions: {Cache: Redis}\n---\n"), w.feature, ".planning-state.local.md")
		w.ask(t, id, input)
	})
}
