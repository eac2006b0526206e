package agent_test

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/client"
)

// TestWhoseEventItIs reads events that were recorded from the agents.
func TestWhoseEventItIs(t *testing.T) {
	f := must(os.Open("../../testdata/agents/events.jsonl"))
	defer f.Close()
	seen := map[string]map[agent.Moment]bool{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var recorded struct {
			Agent string
			Event jsontext.Value
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &recorded, json.MatchCaseInsensitiveNames(true)))
		e := must(client.Parse(recorded.Event))
		name, _, _ := strings.Cut(recorded.Agent, " ")
		a := agent.Of(e)
		if agent.Other(name) == nil || e.Name == "" {
			assert.Nil(t, a, "%s", lines.Bytes()) // an agent, or an event, for which no hook is registered
			continue
		}
		require.NotNil(t, a, "%s", lines.Bytes())
		require.Equal(t, name, a.Name, "%s", lines.Bytes())
		for _, other := range agent.Others() {
			assert.Equal(t, other.Name == name, other.Sent(e), "%s: %s", other.Name, lines.Bytes())
		}
		c, ok := a.Read(e)
		require.True(t, ok)
		assert.NotEmpty(t, c.SessionID)
		assert.Equal(t, "/tmp/x/project", c.Cwd)
		if c.Moment == agent.Before {
			assert.Equal(t, "echo hello", c.Command, "%s", lines.Bytes())
		}
		if seen[name] == nil {
			seen[name] = map[agent.Moment]bool{}
		}
		seen[name][c.Moment] = true
	}
	require.NoError(t, lines.Err())
	for _, a := range agent.Others() {
		for _, r := range a.Registrations {
			assert.True(t, seen[a.Name][r.Moment], "%s: no recorded event %s", a.Name, r.Event)
		}
	}
}

func TestClaudesEventsAreItsOwn(t *testing.T) {
	for _, text := range []string{
		`{"hook_event_name": "PreToolUse", "session_id": "s", "prompt_id": "p", "tool_name": "Bash", "tool_input": {"command": "x"}, ` +
			`"transcript_path": "/h/.claude/projects/x/s.jsonl"}`,
		`{"hook_event_name": "Stop", "session_id": "s"}`,
		`{"hook_event_name": "Unknown", "turn_id": "t"}`,
	} {
		e := must(client.Parse([]byte(text)))
		if a := agent.Of(e); e.Name == "Unknown" {
			assert.Nil(t, a, text)
		} else {
			assert.Equal(t, "claude", a.Name, text)
		}
	}
}

// TestCallersKnowTheAgents: what is found above a process has the names of this package.
func TestCallersKnowTheAgents(t *testing.T) {
	for _, name := range agent.Names() {
		assert.Contains(t, caller.Programs(), name)
		assert.Equal(t, name, agent.Named(name).Name)
	}
	assert.Nil(t, agent.Other("claude"))
}

// world has skills in several places below a project with a work tree of git.
func world(t *testing.T) (project, home string) {
	root := t.TempDir()
	project, home = filepath.Join(root, "project"), filepath.Join(root, "home")
	for path, text := range map[string]string{
		"project/.git/HEAD":                          "",
		"project/.agents/skills/ship/SKILL.md":       "---\nname: ship\ndescription: d\n---\nShip it.\n",
		"project/.agents/skills/folder/SKILL.md":     "---\nname: named-otherwise\n---\n",
		"project/.agents/skills/plain/SKILL.md":      "No frontmatter.\n",
		"project/.agents/skills/no-skill/fsm.json":   "[]",
		"project/elsewhere/ship/SKILL.md":            "---\nname: ship\n---\n",
		"project/sub/dir/x":                          "",
		"home/.agents/skills/ship/SKILL.md":          "---\nname: ship\n---\n",
		"home/.agents/skills/mine/SKILL.md":          "---\nname: mine\n---\n",
		"home/.claude/skills/for-claude/SKILL.md":    "---\nname: for-claude\n---\n",
		"home/.config/opencode/skill/of-it/SKILL.md": "---\nname: of-it\n---\n",
		"home/.codex/skills/of-codex/SKILL.md":       "---\nname: of-codex\n---\n",
		"home/.copilot/skills/of-copilot/SKILL.md":   "---\nname: of-copilot\n---\n",
		"home/.gemini/skills/of-gemini/SKILL.md":     "---\nname: of-gemini\n---\n",
		"home/.qwen/skills/of-qwen/SKILL.md":         "---\nname: of-qwen\n---\n",
		"project/.github/skills/of-github/SKILL.md":  "---\nname: of-github\n---\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(text), 0o644))
	}
	return project, home
}

// must returns the value of a call that has to succeed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// homeOnly is an environment with HOME alone.
func homeOnly(home string) func(string) (string, bool) { return env(map[string]string{"HOME": home}) }

func env(all map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := all[name]
		return value, ok
	}
}

func TestSkillsAreFoundInTheAgentsPlaces(t *testing.T) {
	project, home := world(t)
	for _, c := range []struct {
		agent, cwd, name, want string // want is relative to the world
	}{
		{"codex", "", "ship", "project/.agents/skills/ship"},
		{"codex", "sub/dir", "ship", "project/.agents/skills/ship"},
		{"codex", "", "named-otherwise", "project/.agents/skills/folder"},
		{"codex", "", "folder", ""},
		{"codex", "", "plain", "project/.agents/skills/plain"},
		{"codex", "", "no-skill", ""},
		{"codex", "", "mine", "home/.agents/skills/mine"},
		{"codex", "", "for-claude", ""},
		{"codex", "", "of-codex", "home/.codex/skills/of-codex"},
		{"codex", "", "of-github", ""},
		{"codex", "", "plugin:ship", ""},
		{"codex", "", "../skills/ship", ""},
		{"codex", "", "", ""},
		{"copilot", "", "of-copilot", "home/.copilot/skills/of-copilot"},
		{"copilot", "", "of-github", "project/.github/skills/of-github"},
		{"gemini", "", "of-gemini", "home/.gemini/skills/of-gemini"},
		{"qwen", "", "of-qwen", "home/.qwen/skills/of-qwen"},
		{"opencode", "", "of-it", "home/.config/opencode/skill/of-it"},
		{"opencode", "", "for-claude", "home/.claude/skills/for-claude"},
	} {
		s := agent.Named(c.agent).Search(homeOnly(home)).Find(c.name, filepath.Join(project, c.cwd))
		if c.want == "" {
			assert.Nil(t, s, "%v", c)
			continue
		}
		require.NotNil(t, s, "%v", c)
		assert.Equal(t, c.name, s.Name)
		assert.Equal(t, filepath.Join(filepath.Dir(home), c.want), s.Dir)
	}
}

// TestWhatTakesUpASkill: editing its files does not.
func TestWhatTakesUpASkill(t *testing.T) {
	project, home := world(t)
	shell := func(command, output string) string {
		text := must(json.Marshal(map[string]any{"hook_event_name": "PostToolUse", "turn_id": "t", "cwd": project, "tool_name": "Bash",
			"tool_input": map[string]string{"command": command}, "tool_response": output}))
		return string(text)
	}
	prompt := func(event, text string) string {
		return `{"hook_event_name": "` + event + `", "timestamp": "x", "cwd": "` + project + `", "prompt": ` + text + `}`
	}
	const shown = "---\nname: ship\ndescription: d\n---\nShip it.\n"
	for name, c := range map[string]struct {
		agent, event, want string
	}{
		"Codex, read":                      {"codex", shell("cat .agents/skills/ship/SKILL.md", shown), "ship"},
		"Codex, read in another directory": {"codex", shell("cd .agents/skills && sed -n '1,200p' ship/SKILL.md", shown), "ship"},
		"Codex, read by its absolute path": {"codex", shell("head -n 50 "+project+"/.agents/skills/ship/SKILL.md", shown), "ship"},
		"Codex, read with others":          {"codex", shell("ls; cat README.md .agents/skills/ship/SKILL.md | head", shown), "ship"},
		"Codex, read in vain":              {"codex", shell("cat .agents/skills/ship/SKILL.md", "Permission denied"), ""},
		"Codex, edited":                    {"codex", shell("sed -i s/a/b/ .agents/skills/ship/SKILL.md", shown), ""},
		"Codex, written":                   {"codex", shell("tee .agents/skills/ship/SKILL.md", shown), ""},
		"Codex, a skill in no place":       {"codex", shell("cat elsewhere/ship/SKILL.md", shown), ""},
		"Codex, another file of the skill": {"codex", shell("cat .agents/skills/ship/fsm.json", shown), ""},
		"Codex, named":                     {"codex", prompt("UserPromptSubmit", `"$ship it"`), "ship"},
		"Codex, named in a sentence":       {"codex", prompt("UserPromptSubmit", `"please use $ship."`), "ship"},
		"Codex, a variable":                {"codex", prompt("UserPromptSubmit", `"what is a$ship or ${ship} or $HOME"`), ""},
		"Codex, a slash":                   {"codex", prompt("UserPromptSubmit", `"/ship it"`), ""},
		"Codex, without a name":            {"codex", prompt("UserPromptSubmit", `"$ 5"`), ""},
		"Copilot, its tool": {"copilot", `{"hook_event_name": "PostToolUse", "timestamp": "x", "cwd": "` + project +
			`", "tool_name": "skill", "tool_input": {"skill": "ship"}}`, "ship"},
		"Copilot, a tool of another name": {"copilot", `{"hook_event_name": "PostToolUse", "timestamp": "x", "cwd": "` + project +
			`", "tool_name": "Bash", "tool_input": {"skill": "ship"}}`, ""},
		"Copilot, its tool before it runs": {"copilot", `{"hook_event_name": "PreToolUse", "timestamp": "x", "cwd": "` + project +
			`", "tool_name": "skill", "tool_input": {"skill": "ship"}}`, ""},
		"Copilot, typed":                 {"copilot", prompt("UserPromptSubmit", `"/ship it"`), "ship"},
		"Copilot, read":                  {"copilot", shell("cat .agents/skills/ship/SKILL.md", shown), ""},
		"Copilot, a path":                {"copilot", prompt("UserPromptSubmit", `"/ship/it"`), ""},
		"Copilot, a slash in a sentence": {"copilot", prompt("UserPromptSubmit", `"use /ship"`), ""},
		"Gemini, its tool": {"gemini", `{"hook_event_name": "AfterTool", "cwd": "` + project +
			`", "tool_name": "activate_skill", "tool_input": {"name": "ship"}}`, "ship"},
		"Gemini, typed": {"gemini", prompt("BeforeAgent", `"/ship it"`), "ship"},
		"Qwen, its tool": {"qwen", `{"hook_event_name": "PostToolUse", "timestamp": "x", "cwd": "` + project +
			`", "tool_name": "skill", "tool_input": {"skill": "mine"}}`, "mine"},
		"Qwen, typed, after the SKILL.md": {"qwen", prompt("UserPromptSubmit", `"Ship it.\n\n/ship now"`), "ship"},
		"Qwen, typed, with more after it": {"qwen", `{"hook_event_name": "UserPromptSubmit", "timestamp": "x", "cwd": "` + project +
			`", "prompt": "Ship it.\n\n/ship now\n\nYour arguments are in a file.\n", "submitted_prompt": "/ship now"}`, "ship"},
		"Qwen, the prompt of a later request": {"qwen", prompt("UserPromptSubmit", `""`), ""},
	} {
		e := must(client.Parse([]byte(c.event)))
		a := agent.Named(c.agent)
		call, ok := a.Read(e)
		require.True(t, ok, name)
		s := a.Search(homeOnly(home)).TakenUp(call)
		if c.want == "" {
			assert.Nil(t, s, name)
			continue
		}
		if assert.NotNil(t, s, name) {
			assert.Equal(t, c.want, s.Name, name)
		}
	}
}

func TestWhatAToolChanges(t *testing.T) {
	bash := func(lines ...string) string {
		return `{"tool_name": "Bash", "cwd": "/p", "tool_input": {"command": "` + strings.Join(lines, `\n`) + `"}}`
	}
	for text, want := range map[string][]string{
		`{"tool_name": "Write", "cwd": "/p", "tool_input": {"file_path": "a"}}`: {"/p/a"},
		`{"tool_name": "Write", "cwd": "/p", "tool_input": {"path": "/x/a"}}`:   {"/x/a"},
		`{"tool_name": "Write", "tool_input": {"path": "a"}}`:                   nil,
		`{"tool_name": "Bash", "cwd": "/p", "tool_input": {"path": "a"}}`:       nil,
		`{"tool_name": "apply_patch", "cwd": "/p", "tool_input": {"command": "*** Begin Patch\n*** Update File: a\n*** Move to: ` +
			`b\n*** Delete File: /c\n"}}`: {"/p/a", "/p/b", "/c"},
		bash("apply_patch <<'E'", "*** Begin Patch", "*** Add File: a", "+x", "*** End Patch", "E"): {"/p/a"},
		bash("cd b && apply_patch <<'E'", "*** Begin Patch", "*** Add File: a", "E"):                {"/p/b/a"},
		bash("cat > f <<'E'", "*** Begin Patch", "*** Add File: a", "E"):                            nil,
	} {
		e := must(client.Parse([]byte(strings.Replace(text, "{", `{"hook_event_name": "PreToolUse", "turn_id": "t", `, 1))))
		c, ok := agent.Codex().Read(e)
		require.True(t, ok)
		assert.True(t, slices.Equal(want, c.Paths), "%s: %q", text, c.Paths)
	}
}

// TestAnswers: each in the form that the agent reads, see docs/agents.md.
func TestAnswers(t *testing.T) {
	deny, hold, tell := client.Refuse("no"), client.SendBack("E", "go on", ""), client.Tell("E", "text", "p")
	block := `{"decision": "block", "reason": "go on"}` + "\n"
	for name, want := range map[string][3]string{
		"codex": {`{"hookSpecificOutput": {"hookEventName": "E", "permissionDecision": "deny", "permissionDecisionReason": "no"}}` + "\n", block,
			`{"hookSpecificOutput": {"hookEventName": "E", "additionalContext": "text"}, "systemMessage": "p"}` + "\n"},
		"copilot": {`{"hookSpecificOutput": {"hookEventName": "E", "permissionDecision": "deny", "permissionDecisionReason": "no"}}` + "\n",
			block,
			`{"systemMessage": "p", "additionalContext": "text"}` + "\n"},
		"gemini": {`{"decision": "deny", "reason": "no"}` + "\n", block,
			`{"hookSpecificOutput": {"hookEventName": "E", "additionalContext": "text"}, "systemMessage": "p"}` + "\n"},
		"qwen": {`{"hookSpecificOutput": {"hookEventName": "E", "permissionDecision": "deny", "permissionDecisionReason": "no"}}` + "\n", block,
			`{"hookSpecificOutput": {"hookEventName": "E", "additionalContext": "text"}, "systemMessage": "p"}` + "\n"},
	} {
		for i, r := range []client.Answer{deny, hold, tell} {
			c := agent.Call{Event: &client.Event{Name: "E"}, Moment: []agent.Moment{agent.Before, agent.Stop, agent.Prompt}[i]}
			assert.Equal(t, client.Answer{Output: want[i]}, agent.Named(name).Answer(c, r), "%s %v", name, r)
			assert.Equal(t, r, agent.Claude().Answer(c, r), "the form of Claude Code")
			for _, nothing := range []client.Answer{{}, client.GoOn("E", "")} {
				assert.Equal(t, client.Answer{}, agent.Named(name).Answer(c, nothing), "nothing to say")
			}
		}
		assert.Equal(t, client.Answer{Output: `{"systemMessage": "fsmtx: n"}` + "\n", ErrorText: "fsmtx: n\n"},
			agent.Named(name).Answer(agent.Call{Event: new(client.Event)}, client.Notice("n")), name)
	}
}

// A session that goes on is told from one that begins, and a tool that changes a file is known by each of its names.
func TestWhatACallSays(t *testing.T) {
	for source, resumed := range map[string]bool{"startup": false, "clear": false, "resume": true, "compact": true} {
		c, ok := agent.Qwen().Read(&client.Event{Name: "SessionStart", Source: source})
		assert.True(t, ok)
		assert.Equal(t, resumed, c.Resumed, source)
	}
	for _, tool := range []string{"write_file", "edit", "replace"} {
		c, _ := agent.Qwen().Read(&client.Event{Name: "PreToolUse", ToolName: tool, ToolInput: []byte(`{"file_path": "/a"}`)})
		assert.Equal(t, []string{"/a"}, c.Paths, tool)
	}
	read := func(a *agent.Agent, text string) agent.Call {
		e, err := client.Parse([]byte(text))
		require.NoError(t, err)
		c, _ := a.Read(e)
		return c
	}
	c := read(agent.Named("gemini"), `{"hook_event_name": "AfterAgent", "prompt_response": "said"}`)
	assert.Equal(t, "said", c.Message)
	c = read(agent.Qwen(), `{"hook_event_name": "Stop", "last_assistant_message": "said", "submitted_prompt": "sent"}`)
	assert.Equal(t, []string{"said", "sent"}, []string{c.Message, c.Prompt})
}
