package fuzz_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/lint"
)

// requests are the requests of the cases.
func requests(f *testing.F) []jsontext.Value {
	var all []jsontext.Value
	for _, name := range []string{"cases.json", "more.json", "dialects.json"} {
		data, err := os.ReadFile(filepath.Join("../testdata/hooks", name))
		if err != nil {
			f.Fatal(err)
		}
		var file struct {
			Cases []struct {
				Request jsontext.Value `json:"request"`
			} `json:"cases"`
		}
		if err := json.Unmarshal(data, &file); err != nil {
			f.Fatal(err)
		}
		for _, c := range file.Cases {
			all = append(all, c.Request)
		}
	}
	return all
}

// member returns a member of a request as text.
func member(request jsontext.Value, name string) string {
	var o map[string]jsontext.Value
	_ = json.Unmarshal(request, &o)
	return string(o[name])
}

// distinct returns what the requests of the cases have as these members.
func distinct(f *testing.F, names ...string) map[string]bool {
	texts := map[string]bool{}
	for _, r := range requests(f) {
		for _, name := range names {
			texts[member(r, name)] = true
		}
	}
	return texts
}

// FuzzHooksConfiguration reads any configuration, plans with it and lints it. No
// hook runs: its commands would be anybody's.
func FuzzHooksConfiguration(f *testing.F) {
	for text := range distinct(f, "settings") {
		f.Add([]byte(text), "BeforeTool", "write_file")
	}
	f.Add([]byte(`{"hooks":{"BeforeTool":[{"matcher":"(?<n>a)\\k<n>","hooks":[{"type":"command","command":"x","timeout":1e999}]}]}}`), "BeforeTool", "aa")
	f.Add([]byte("{\"hooks\":{\"\\u0000\":[[[]]]}}"), "", "\xff")
	f.Fuzz(func(t *testing.T, settings []byte, event, tool string) {
		path := filepath.Join(t.TempDir(), "hooks.json")
		if err := os.WriteFile(path, settings, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, d := range []hooks.Dialect{hooks.LLxprt(), hooks.Gemini(), hooks.Claude()} {
			d.Switches(settings)
			source := hooks.Source{Scope: hooks.Project, Name: path, Hooks: jsontext.Value(member(settings, "hooks")), Strict: true}
			registry := hooks.NewRegistry(d, []hooks.Source{source, {Scope: hooks.User, Hooks: source.Hooks}})
			for _, name := range append(registry.Events(), event) {
				registry.Plan(d, name, tool)
			}
			checker := lint.Checker{Dialect: d, Getenv: os.Getenv, Source: func(string) (hooks.Source, error) { return source, nil }}
			if _, err := checker.File(path); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzHooksOutput lets a hook of every event print anything and exit with any
// code. Unless it asks to, by exit 2 or in JSON, nothing blocks.
func FuzzHooksOutput(f *testing.F) {
	for _, out := range []string{
		``, `hi`, `null`, `{"decision":"block"}`, `"{\"decision\":\"deny\"}"`, `{"hookSpecificOutput":{"tool_input":{"a":[1e5]}}}`,
		`{"hookSpecificOutput":{"llm_request":{"messages":[{"role":5}],"config":[]}}}`, `{"hookSpecificOutput":{"toolConfig":{"mode":[]}}}`,
		`{"hookSpecificOutput":{"llm_response":{"candidates":[{"content":{"parts":[1,"a",{"text":null}]}}]}}}`, "\xff\xfe{}", `[[[`, `{"continue":false}`,
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`, `{"a":` + strings.Repeat("[", 100),
	} {
		f.Add([]byte(out), byte(0))
		f.Add([]byte(out), byte(1))
		f.Add([]byte(out), byte(2))
	}
	f.Fuzz(func(t *testing.T, out []byte, code byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "out"), out, 0o644); err != nil {
			t.Fatal(err)
		}
		code %= 4
		settings := `{"enableHooks":true,"hooks":{` + everyEvent("cat out; cat out >&2; exit "+string('0'+rune(code))) + `}}`
		for _, dialect := range []string{"llxprt", "gemini", "claude"} {
			d, err := hooks.Named(dialect)
			if err != nil {
				t.Fatal(err)
			}
			engine := hooks.New(hooks.Config{
				Dialect: d, Session: hooks.Session{Cwd: dir}, Enabled: true,
				Load: func() ([]hooks.Source, error) {
					return []hooks.Source{{Hooks: jsontext.Value(member([]byte(settings), "hooks"))}}, nil
				},
			})
			for _, event := range []string{"BeforeTool", "AfterModel", "BeforeModel", "BeforeToolSelection", "PreToolUse", "UserPromptSubmit", "SessionEnd"} {
				if d.Knows(event) {
					checkFired(t, engine.Fire(t.Context(), event, input()), out, code)
				}
			}
		}
	})
}

func everyEvent(command string) string {
	var all []string
	for _, event := range []string{"BeforeTool", "AfterModel", "BeforeModel", "BeforeToolSelection", "PreToolUse", "UserPromptSubmit", "SessionEnd"} {
		all = append(all, `"`+event+`":[{"sequential":true,"hooks":[{"type":"command","command":"`+command+`"},{"type":"command","command":"true"}]}]`)
	}
	return strings.Join(all, ",")
}

func input() hooks.Input {
	return hooks.Input{
		Fields:   jsontext.Value(`{"tool_name":"w","tool_input":{"a":1},"prompt":"p"}`),
		Request:  jsontext.Value(`{"model":"m","contents":[{"role":"user","parts":[{"text":"x"},{"inlineData":{}}]}]}`),
		Response: jsontext.Value(`{"candidates":[{"content":{"parts":[{"text":"y"}]}}]}`),
	}
}

func checkFired(t *testing.T, r *hooks.Result, out []byte, code byte) {
	for _, entry := range r.Logs {
		if strings.Contains(entry.Message, "internal error") {
			t.Fatalf("exit %d, %q: %s", code, out, entry.Message)
		}
	}
	said := code == 0 && (bytes.Contains(out, []byte("{")) || bytes.Contains(out, []byte(`\u007`)))
	if r.Policy.Blocking && code != 2 && !said {
		t.Fatalf("exit %d, %q: it blocks", code, out)
	}
	if _, err := json.Marshal(r, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)); err != nil {
		t.Fatalf("exit %d, %q: %v", code, out, err)
	}
}

// FuzzHooksInput gives any input to the machine interface, with hooks that only
// copy, deny and stop.
func FuzzHooksInput(f *testing.F) {
	for text := range distinct(f, "input", "args") {
		f.Add([]byte(text), "BeforeTool")
	}
	f.Add([]byte(`{"sdk_request":{"contents":[[],5,"x",{"parts":{"text":"y"}}],"config":[]},"sdk_response":[]}`), "AfterModel")
	f.Fuzz(func(t *testing.T, input []byte, event string) {
		if !jsontext.Value(input).IsValid() {
			input = []byte("{}")
		}
		name, err := json.Marshal(event, jsontext.AllowInvalidUTF8(true))
		if err != nil {
			t.Fatal(err)
		}
		for _, mode := range []string{"fire", "translate", "tool", "factory"} {
			request := `{"mode":"` + mode + `","op":"fromHookLLMRequest","event":` + string(name) + `,"input":` + string(input) + `,"args":[` + string(input) + `,` + string(input) +
				`],"data":` + string(input) + `,"tool":{"name":"w","input":` + string(input) + `,"command":"true"},"settings":{"enableHooks":true,"hooks":{` +
				`"BeforeTool":[{"matcher":".","sequential":true,"hooks":[{"type":"command","command":"cat"},{"type":"command","command":"cat; exit 2"}]}],` +
				`"AfterTool":[{"hooks":[{"type":"command","command":"cat"}]}],"BeforeModel":[{"hooks":[{"type":"command","command":"cat"}]}]}}}`
			start := time.Now()
			result, err := hooks.Eval(t.Context(), []byte(request), t.TempDir())
			if err != nil {
				t.Fatalf("%s: %v", request, err)
			}
			if !result.IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) {
				t.Fatalf("%s: the result is no JSON after %v", request, time.Since(start))
			}
		}
	})
}

// FuzzHooksRequest gives anything to the machine interface. Requests that would
// run commands other than the seeds' are left out.
func FuzzHooksRequest(f *testing.F) {
	for _, r := range requests(f) {
		f.Add([]byte(r))
	}
	f.Fuzz(func(t *testing.T, request []byte) {
		for _, runs := range []string{"command", `\u`} {
			if bytes.Contains(request, []byte(runs)) {
				return
			}
		}
		_, _ = hooks.Eval(t.Context(), request, t.TempDir())
	})
}
