package fuzz_test

import (
	"bytes"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/caller"
)

// FuzzAgents gives any event to the hook of another agent, in a project whose list has a workflow. The answer is nothing or one
// JSON object, at exit 0: some agents refuse every call whose hook fails. Beside the list and its state nothing changes, and no step
// is completed by an event that does not name the program.
func FuzzAgents(f *testing.F) {
	data := must(os.ReadFile("../testdata/agents/events.jsonl"))
	for line := range bytes.Lines(data) {
		var recorded struct {
			Agent string         `json:"agent"`
			Event jsontext.Value `json:"event"`
		}
		require.NoError(f, json.Unmarshal(line, &recorded))
		for i, a := range agent.Others() {
			if strings.HasPrefix(recorded.Agent, a.Name) {
				f.Add(bytes.ReplaceAll(recorded.Event, []byte("/tmp/x/project"), []byte("PROJECT")), byte(i))
			}
		}
	}
	for _, seed := range []string{
		`null`, `{`, `{"cwd":"PROJECT"}`, `{"hook_event_name":"UserPromptSubmit","cwd":"PROJECT","prompt":"$skill /skill @skill"}`,
		`{"hook_event_name":"Stop","cwd":"PROJECT","stop_hook_active":true}`, `{"hook_event_name":"AfterAgent","cwd":"PROJECT"}`,
		`{"hook_event_name":"PreToolUse","cwd":"PROJECT","tool_name":"Bash","tool_input":{"command":"cd .. && git push \"\ud800"}}`,
		`{"hook_event_name":"PreToolUse","cwd":"PROJECT","tool_name":"apply_patch","tool_input":{"command":"*** Add File: a\n"}}`,
		`{"hook_event_name":"PreToolUse","cwd":"PROJECT","tool_name":"edit","tool_input":{"path":"../a","file_path":5}}`,
		`{"hook_event_name":"BeforeTool","cwd":"PROJECT","tool_name":"write_file","tool_input":{"file_path":"a"}}`,
	} {
		for i := range agent.Others() {
			f.Add([]byte(seed), byte(i))
		}
	}
	f.Fuzz(func(t *testing.T, event []byte, of byte) {
		skipIfTooLong(t, event)
		others := agent.Others()
		name := others[int(of)%len(others)].Name
		h := newHome(t)
		h.write("project/AGENTS.md", []byte("x"))
		h.write("project/skill/SKILL.md", []byte("---\nname: skill\ndescription: d\n---\n"))
		h.write("project/skill/fsm.json", []byte(`{"fsm": 2, "steps": [{"id": 1, "subject": "a", "only": ["Bash(git push *)"]}, `+
			`{"id": 2, "subject": "b", "blockedBy": [1], "outcomes": ["c", "d"]}]}`))
		t.Chdir(h.path("project"))
		h.who = func() caller.Caller { return caller.Caller{Kind: caller.Agent, Program: name} }
		code, _, errs := h.run("begin", h.path("project/skill"))
		require.Zero(t, code, errs)
		before := h.tree("")
		require.Len(t, statuses(before), 2)
		h.in = strings.ReplaceAll(string(event), "PROJECT", h.path("project"))
		code, out, errs := h.run("hook", "--agent", name)
		require.Zero(t, code, errs)
		require.NotContains(t, errs, "internal error")
		if out != "" {
			require.NotNil(t, members([]byte(out)), out)
		}
		after := h.tree("")
		if !strings.Contains(h.in, "fsmtx") && !strings.Contains(h.in, `\u`) {
			require.Equal(t, statuses(before), statuses(after))
		}
		for name := range after {
			if _, was := before[name]; !was {
				require.True(t, strings.HasPrefix(name, ".local/state/fsmtx/"), name)
			}
		}
	})
}

// statuses returns the statuses of the tasks in a tree.
func statuses(tree map[string]string) map[string]string {
	all := map[string]string{}
	for name, text := range tree {
		found := regexp.MustCompile(`\\"status\\": ?\\"(\w+)`).FindStringSubmatch(text)
		if found != nil && path.Ext(name) == ".json" && path.Base(path.Dir(name)) != "skill" {
			all[name] = found[1]
		}
	}
	return all
}
