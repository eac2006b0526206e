package fuzz_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// requests returns the requests of the cases: one in eight if they are fuzzed, so that there is time for what no case has.
func requests(f *testing.F) []jsontext.Value {
	var all []jsontext.Value
	for _, name := range []string{"cases.json", "more.json", "dialects.json"} {
		data := must(os.ReadFile(filepath.Join("../testdata/hooks", name)))
		var file struct {
			Cases []struct {
				Request jsontext.Value `json:"request"`
			} `json:"cases"`
		}
		require.NoError(f, json.Unmarshal(data, &file))
		for i, c := range file.Cases {
			if i%8 == 0 || !fuzzing() {
				all = append(all, c.Request)
			}
		}
	}
	return all
}

func fuzzing() bool { return flag.Lookup("test.fuzz").Value.String() != "" }

// member returns a member of a request as text.
func member(request jsontext.Value, name string) string {
	var o map[string]jsontext.Value
	_ = json.Unmarshal(request, &o, jsonx.Tolerant)
	return string(o[name])
}

// distinct returns the different values of the named members in the requests of the cases.
func distinct(f *testing.F, names ...string) map[string]bool {
	texts := map[string]bool{}
	for _, r := range requests(f) {
		for _, name := range names {
			texts[member(r, name)] = true
		}
	}
	return texts
}

// FuzzHooksConfiguration loads any configuration, plans every event with it and checks it. It
// runs no hook, because its command could be anything.
func FuzzHooksConfiguration(f *testing.F) {
	for text := range distinct(f, "settings") {
		f.Add([]byte(text), "BeforeTool", "write_file")
	}
	f.Add([]byte(`{"hooks":{"BeforeTool":[{"matcher":"(?<n>a)\\k<n>","hooks":[{"type":"command","command":"x","timeout":1e999}]}]}}`),
		"BeforeTool", "aa")
	f.Add([]byte("{\"hooks\":{\"\\u0000\":[[[]]]}}"), "", "\xff")
	f.Add([]byte(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a 'b"},{"type":"command","command":"env -u A b <<E; $X"}]}]}}`),
		"Stop", "")
	f.Fuzz(func(t *testing.T, content []byte, event, tool string) {
		for _, d := range dialect.All() {
			source := hooks.Source{Scope: dialect.Project, Name: "hooks.json", Hooks: jsontext.Value(member(content, "hooks"))}
			registry := hooks.NewRegistry(d, []hooks.Source{source, {Scope: dialect.User, Hooks: source.Hooks}})
			for _, name := range append(registry.Events(), event) {
				checkPlan(t, d, registry, name, tool)
			}
			checkFindings(t, content, hooks.Checker{Dialect: d, Getenv: os.Getenv}.Content("hooks.json", content))
		}
	})
}

// checkPlan fails unless each hook of an event is either planned or skipped, and those
// that are planned match and are different.
func checkPlan(t *testing.T, d dialect.Dialect, r *hooks.Registry, event, tool string) {
	t.Helper()
	plan, skipped := r.Plan(d, event, tool)
	if plan == nil {
		plan = &hooks.Plan{}
	}
	require.Len(t, r.Hooks(event), len(plan.Hooks)+len(skipped), "%s: %d planned", event, len(plan.Hooks))
	for i, h := range plan.Hooks {
		e, _ := d.Event(event)
		require.True(t, e.Subject == "" || tool == "" || h.Matches(tool), "%s: %q does not match %q and is planned", event, h.Matcher, tool)
		for _, earlier := range plan.Hooks[:i] {
			require.False(t, h.Same(d, earlier), "%s: %q is planned twice", event, h.Command)
		}
	}
}

// checkFindings fails unless each finding is at a place in the content, in order.
func checkFindings(t *testing.T, content []byte, findings []hooks.Finding) {
	t.Helper()
	lines := strings.Split(string(content), "\n")
	for i, f := range findings {
		if f.Line < 1 || f.Line > len(lines) || f.Column < 1 || f.Column > len(lines[f.Line-1])+1 {
			t.Fatalf("%q: %v is outside the content", content, f)
		}
		if i > 0 && (f.Line < findings[i-1].Line || f.Line == findings[i-1].Line && f.Column < findings[i-1].Column) {
			t.Fatalf("%q: %v comes after %v", content, f, findings[i-1])
		}
	}
}

var firedEvents = []string{"BeforeTool", "AfterModel", "BeforeModel", "BeforeToolSelection", "PreToolUse", "UserPromptSubmit", "SessionEnd"}

// FuzzHooksOutput runs hooks that print any bytes and exit with any code. A hook blocks only
// by what blocks in its dialect: see checkFired.
func FuzzHooksOutput(f *testing.F) {
	for i, out := range []string{
		``, `hi`, `null`, `{"decision":"block"}`, `"{\"decision\":\"deny\"}"`, `{"hookSpecificOutput":{"tool_input":{"a":[1e5]}}}`,
		`{"hookSpecificOutput":{"llm_request":{"messages":[{"role":5}],"config":[]}}}`, `{"hookSpecificOutput":{"toolConfig":{"mode":[]}}}`,
		`{"hookSpecificOutput":{"llm_response":{"candidates":[{"content":{"parts":[1,"a",{"text":null}]}}]}}}`, "\xff\xfe{}", `[[[`,
		`{"continue":false}`,
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`, `{"a":` + strings.Repeat("[", 100),
	} {
		for n := range 4 * len(firedEvents) {
			if n%4 != 3 && (n%12 == i || !fuzzing()) {
				f.Add([]byte(out), byte(n))
			}
		}
	}
	f.Fuzz(func(t *testing.T, out []byte, n byte) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "out"), out, 0o644))
		code, event := n%4, firedEvents[int(n/4)%len(firedEvents)]
		settings := `{"` + event + `":[{"sequential":true,"hooks":[{"type":"command","command":"cat out; cat out >&2; exit ` +
			string('0'+rune(code)) + `"},{"type":"command","command":"true"}]}]}`
		for _, d := range dialect.All() {
			if _, known := d.Event(event); !known {
				continue
			}
			engine := hooks.New(hooks.Config{
				Dialect: d, Session: hooks.Session{Cwd: dir}, Enabled: true,
				Load: func() ([]hooks.Source, error) { return []hooks.Source{{Hooks: jsontext.Value(settings)}}, nil },
			})
			checkFired(t, d.Name, engine.Fire(t.Context(), event, input()), out, code)
		}
	})
}

func input() hooks.Input {
	return hooks.Input{
		Fields:   jsontext.Value(`{"tool_name":"w","tool_input":{"a":1},"prompt":"p"}`),
		Request:  jsontext.Value(`{"model":"m","contents":[{"role":"user","parts":[{"text":"x"},{"inlineData":{}}]}]}`),
		Response: jsontext.Value(`{"candidates":[{"content":{"parts":[{"text":"y"}]}}]}`),
	}
}

// checkFired checks that a hook blocks only by exit code 2 or by JSON. llxprt ignores the JSON
// of a hook that fails. gemini treats every exit code above 1 as 2.
func checkFired(t *testing.T, dialect string, r *hooks.Result, out []byte, code byte) {
	for _, entry := range r.Logs {
		require.False(t, strings.Contains(entry.Message, "internal error"), "exit %d, %q: %s", code, out, entry.Message)
	}
	asks := bytes.Contains(out, []byte("{")) || bytes.Contains(out, []byte(`\u007`))
	require.NotEmpty(t, r.Results, "%s, exit %d, %q: no hook ran", dialect, code, out)
	may := code == 2 || asks && (code == 0 || dialect != "llxprt") || code > 2 && dialect == "gemini"
	require.False(t, r.Policy.Blocking && !may, "%s, exit %d, %q: it blocks", dialect, code, out)
	_, err := json.Marshal(r, jsonx.Tolerant)
	require.NoError(t, err, "exit %d, %q", code, out)
}

// FuzzHooksInput sends requests with any input to the machine interface. The hooks only copy
// their input, or copy it and exit with 2.
func FuzzHooksInput(f *testing.F) {
	for text := range distinct(f, "input", "args") {
		f.Add([]byte(text), "BeforeTool")
	}
	f.Add([]byte(`{"sdk_request":{"contents":[[],5,"x",{"parts":{"text":"y"}}],"config":[]},"sdk_response":[]}`), "AfterModel")
	f.Fuzz(func(t *testing.T, input []byte, event string) {
		if !jsontext.Value(input).IsValid() {
			input = []byte("{}")
		}
		name := must(json.Marshal(event, jsontext.AllowInvalidUTF8(true)))
		const settings = `"settings":{"enableHooks":true,"hooks":{` +
			`"BeforeTool":[{"matcher":".","sequential":true,"hooks":[{"type":"command","command":"cat"},{"type":"command",` +
			`"command":"cat; exit 2"}]}],` +
			`"AfterTool":[{"hooks":[{"type":"command","command":"cat"}]}],"BeforeModel":[{"hooks":[{"type":"command","command":"cat"}]}]}}`
		for mode, members := range map[string]string{
			"fire":      `"event":` + string(name) + `,"input":` + string(input),
			"translate": `"op":"fromHookLLMRequest","args":[` + string(input) + `,` + string(input) + `]`,
			"tool":      `"tool":{"name":"w","input":` + string(input) + `,"command":"true"}`,
			"factory":   `"event":` + string(name) + `,"data":` + string(input),
		} {
			request := `{"mode":"` + mode + `",` + members + `,` + settings + `}`
			result, err := hooks.Evaluator{Cwd: t.TempDir()}.Eval(t.Context(), []byte(request))
			require.NoError(t, err, "%s", request)
			require.True(t, result.IsValid(jsonx.Tolerant), "%s: the result is not JSON: %s", request, result)
		}
	})
}

// FuzzHooksRequest sends any request to the machine interface, except those that could
// contain a command, so that nothing runs. A request is either invalid, or its result
// blocks nothing and is the same every time.
func FuzzHooksRequest(f *testing.F) {
	for _, r := range requests(f) {
		f.Add([]byte(r))
	}
	for _, r := range []string{
		``, `[]`, `{}`, `{}{}`, `{"mode":"no such mode"}`, `{"dialect":"cobol"}`, `{"mode":"translate","op":"no such translation"}`,
		`{"mode":"status"}`,
		`{"event":"BeforeTool","settings":{"enableHooks":true,"hooks":{"BeforeTool":[{"hooks":[{"type":"plugin"}]}]}}}`,
		`{"event":"PreToolUse","dialect":"claude","settings":{"hooks":{"PreToolUse":[{"hooks":[{"type":"http"},{"type":"prompt"}]}]}}}`,
		`{"mode":"tool","tool":{"name":"w","input":{"a":1}}}`, `{"mode":"model","request":{"model":"m"}}`,
		`{"mode":"factory","data":{"decision":"deny"}}`,
	} {
		f.Add([]byte(r))
	}
	f.Fuzz(func(t *testing.T, request []byte) {
		for _, runs := range []string{"command", `\u`} {
			if bytes.Contains(request, []byte(runs)) {
				return
			}
		}
		dir := t.TempDir()
		result, err := hooks.Evaluator{Cwd: dir}.Eval(t.Context(), request)
		if err != nil {
			require.False(t, !errors.Is(err, hooks.ErrRequest) || result != nil, "%q: %v, result %s", request, err, result)
			return
		}
		checkNothingRan(t, request, result)
		again, err := hooks.Evaluator{Cwd: dir}.Eval(t.Context(), request)
		require.NoError(t, err)
		require.Equal(t, withoutDurations(result), withoutDurations(again), "%q", request)
	})
}

// checkNothingRan fails unless a result has the members of its mode and shows that no hook
// ran.
func checkNothingRan(t *testing.T, request []byte, result jsontext.Value) {
	t.Helper()
	members := map[string][]string{
		"tool": {"tool", "before", "after", "logs"}, "model": {"model", "selection", "before", "after", "logs"}, "translate": {"value"},
		"status": {"enabled"}, "factory": {"blocking", "stop", "reason"},
	}[strings.Trim(member(request, "mode"), `"`)]
	if members == nil {
		members = []string{"plan", "results", "aggregated", "policy", "logs"}
	}
	for _, name := range members {
		require.NotEmpty(t, member(result, name), "%q: the result has no %s: %s", request, name, result)
	}
	var fired struct {
		Results []hooks.HookResult `json:"results"`
		Policy  struct{ Blocking, Stop bool }
	}
	require.NoError(t, json.Unmarshal(result, &fired, jsonx.Tolerant, json.MatchCaseInsensitiveNames(true)), "%q: %s", request, result)
	require.False(t, fired.Policy.Blocking || fired.Policy.Stop, "%q: it blocks or stops: %s", request, result)
	for _, r := range fired.Results {
		require.False(t, r.Success || !strings.HasPrefix(r.Error, "unsupported handler"), "%q: a hook ran: %s", request, result)
	}
}

var durations = regexp.MustCompile(`"(duration_ms|totalDuration)":[\d.]+|, \d+ ms, `)

func withoutDurations(result jsontext.Value) string {
	return durations.ReplaceAllString(string(result), "")
}
