//go:build e2e

// Facts about the client that the program rests on (docs/internals/client-facts.md), measured with
// hooks of one line of shell.

package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// hook is a command in the project's settings.
type hook struct{ event, matcher, command string }

// installHooks writes hooks into the project's settings.
func installHooks(t *testing.T, s *realclient.Sandbox, hooks ...hook) {
	t.Helper()
	type object = map[string]any
	byEvent := map[string][]object{}
	for _, h := range hooks {
		byEvent[h.event] = append(byEvent[h.event], object{
			"matcher": h.matcher,
			"hooks":   []object{{"type": "command", "command": h.command}},
		})
	}
	settings, err := json.Marshal(object{"hooks": byEvent})
	require.NoError(t, err)
	s.Write("project/.claude/settings.json", string(settings))
}

// hooked returns a sandbox with the skill plain, and hooks in the project's settings.
func hooked(t *testing.T, hooks ...hook) *realclient.Sandbox {
	t.Helper()
	s := realclient.New(t)
	s.Write("project/.claude/skills/plain/SKILL.md", plainSkill)
	installHooks(t, s, hooks...)
	return s
}

// eventOf returns the event that a hook has kept in event.json.
func eventOf(t *testing.T, s *realclient.Sandbox) *client.Event {
	t.Helper()
	e, err := client.Parse([]byte(read(t, s, "project/event.json")))
	require.NoError(t, err)
	return e
}

// addContext returns a hook command that replies with additional context.
func addContext(event, context string) string {
	return `echo '{"hookSpecificOutput": {"hookEventName": "` + event + `", "additionalContext": "` + context + `"}}'`
}

// write has the model write a file with the client's Write tool.
func write(id, path string) Block {
	return Call(id, "Write", map[string]any{"file_path": path, "content": "{}"})
}

// read returns a file of the sandbox.
func read(t *testing.T, s *realclient.Sandbox, path string) string {
	t.Helper()
	got, err := os.ReadFile(s.Path(path))
	require.NoError(t, err)
	return string(got)
}

const plainSkill = "---\nname: plain\ndescription: a skill without tasks\n---\nDo the plain thing.\n"

// Facts 18 and 23.
func TestSkillToolFiresPostToolUse(t *testing.T) {
	s := hooked(t, hook{"PostToolUse", "Skill", "cat > event.json; " + addContext("PostToolUse", "TASKS-EXIST")})

	r := s.Prompt(Script{Main: []Turn{Do(Skill("skill", "plain")), Say("done")}}, "go")

	e := eventOf(t, s)
	assert.Equal(t, client.PostToolUse, e.Name)
	assert.Equal(t, s.Session, e.SessionID)
	assert.Equal(t, s.Project, e.Cwd)
	assert.Equal(t, "skill", r.Name(e.ToolUseID))
	assert.JSONEq(t, `{"success": true, "commandName": "plain"}`, string(e.ToolResponse))
	assert.Empty(t, e.AgentID)
	assert.Contains(t, r.Told("skill"), "Do the plain thing.")
	assert.Contains(t, r.Told("skill"), "TASKS-EXIST", "the next request waits for the hook")
}

// Fact 19.
func TestTypedSkillFiresUserPromptExpansion(t *testing.T) {
	s := hooked(t,
		hook{"UserPromptExpansion", "", "cat > event.json; " + addContext("UserPromptExpansion", "TASKS-EXIST")},
		hook{"PostToolUse", "", "touch tool-ran"})

	r := s.Prompt(Script{Main: []Turn{Say("done")}}, "/plain with words")

	e := eventOf(t, s)
	assert.Equal(t, "plain", e.CommandName)
	assert.Equal(t, "with words", e.CommandArgs)
	assert.Equal(t, "projectSettings", e.CommandSource)
	assert.Equal(t, "slash_command", e.ExpansionType)
	assert.NoFileExists(t, s.Path("project/tool-ran"))
	first := r.Exchanges(Main)[0].Request
	assert.True(t, first.Says("Do the plain thing."))
	assert.True(t, first.Says("TASKS-EXIST"))
}

func TestExitCode2StopsATypedSkill(t *testing.T) {
	s := hooked(t, hook{"UserPromptExpansion", "", "echo NOT-THIS-ONE >&2; exit 2"})

	r := s.Try(Script{}, "/plain")

	assert.Empty(t, r.Exchanges(), "the model is not asked")
	assert.Contains(t, r.Final, "NOT-THIS-ONE")
}

// Fact 32: newer models get task tools only with a variable in the environment or in a
// settings file; older models always do. Both must load the tools first.
func TestTaskToolsDependOnTheModel(t *testing.T) {
	const enabled = `{"env": {"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"}}`
	for _, c := range []struct {
		name, model, variable, settings string
		offered                         bool
	}{
		{"newer", "claude-opus-5-5", "", "", false},
		{"newer, environment", "claude-opus-5-5", "1", "", true},
		{"newer, user", "claude-opus-5-5", "", "home/.claude/settings.json", true},
		{"newer, project", "claude-opus-5-5", "", "project/.claude/settings.json", true},
		{"newer, local", "claude-opus-5-5", "", "project/.claude/settings.local.json", true},
		{"older", "claude-sonnet-4-5", "", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := realclient.New(t)
			s.Model = c.model
			s.Env["CLAUDE_CODE_ENABLE_TODO_TOOLS"] = c.variable
			if c.settings != "" {
				s.Write(c.settings, enabled)
			}

			r := s.Prompt(Script{Main: []Turn{
				Do(LoadTools("load", "TaskList")),
				Do(TaskList("list")),
				Say("done"),
			}}, "go")

			assert.False(t, r.Exchanges(Main)[0].Request.Offers("TaskList"), "not loaded yet")
			assert.Equal(t, c.offered, r.After("load").Request.Offers("TaskList"))
			list, ok := r.Result("list")
			require.True(t, ok)
			assert.Equal(t, !c.offered, list.IsError)
		})
	}
}

func TestSubagentSharesTheParentsList(t *testing.T) {
	s := hooked(t, hook{"PostToolUse", "Skill", "cat > event.json; " + addContext("PostToolUse", "FROM-HOOK")})

	r := s.Prompt(Script{
		Main: []Turn{
			Do(LoadTools("load", "TaskCreate")),
			Do(TaskCreate("create", "From the parent")),
			Do(Agent("agent", "general-purpose", "be a helper")),
			Say("done"),
		},
		Agents: map[string][]Turn{"be a helper": {
			Do(Skill("inner", "plain"), LoadTools("load-too", "TaskList")),
			Do(TaskList("list")),
			Say("helped"),
		}},
	}, "go")

	e := eventOf(t, s)
	assert.Equal(t, s.Session, e.SessionID)
	assert.NotEmpty(t, e.AgentID)
	assert.Equal(t, "general-purpose", e.AgentType)
	assert.Contains(t, r.Told("inner"), "FROM-HOOK", "the subagent gets the context")
	assert.NotContains(t, r.Told("agent"), "FROM-HOOK", "its parent does not")
	assert.Contains(t, r.Text("agent"), "helped")
	assert.Contains(t, r.Text("list"), "From the parent")
}

func TestSkillsOfOneMessageRunInOrder(t *testing.T) {
	s := realclient.New(t)
	for _, name := range []string{"one", "two"} {
		s.Write("project/.claude/skills/"+name+"/SKILL.md", strings.ReplaceAll(plainSkill, "plain", name))
	}
	installHooks(t, s, hook{"PostToolUse", "Skill", "echo begin >> log; sleep 0.2; echo end >> log"})

	r := s.Prompt(Script{Main: []Turn{
		Do(Skill("first", "one"), Skill("second", "two"), Bash("third", "echo in the shell")),
		Say("done"),
	}}, "go")

	assert.Same(t, r.After("first"), r.After("third"), "all results come in one message")
	assert.Contains(t, r.Text("third"), "in the shell")
	assert.Equal(t, "begin\nend\nbegin\nend\n", read(t, s, "project/log"), "skills run one after the other")
}
