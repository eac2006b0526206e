//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

const (
	projectSkills = "project/.claude/skills"
	userSkills    = "home/.claude/skills"
)

func TestProjectSkill(t *testing.T) {
	s := realclient.New(t)
	skill(s, projectSkills, "release", steps("Release"))
	hydrating(t, s)

	r := s.Prompt(invoke("release"), "go")

	assert.Equal(t, listed("Release", 0), taskLines(t, r, "list"))
	assert.Contains(t, r.Told("skill"), "#1 Release: collect", "the announcement")
	assert.Contains(t, r.Told("skill"), "TaskList", "the announcement")
}

// TestTaskToolsShowTheTasksToEveryModel: newer models have no task tools unless a
// variable is set (fact 32), which install --task-tools does.
func TestTaskToolsShowTheTasksToEveryModel(t *testing.T) {
	for _, file := range []string{"--local", "--user"} {
		for _, model := range []string{"claude-opus-5-5", "claude-haiku-5-5"} {
			t.Run(model+file, func(t *testing.T) {
				s := realclient.New(t)
				s.Model = model
				s.Env["CLAUDE_CODE_ENABLE_TODO_TOOLS"] = ""
				skill(s, projectSkills, "release", steps("Release"))
				hydrating(t, s, file)

				r := s.Prompt(invoke("release"), "go")

				assert.Equal(t, listed("Release", 0), taskLines(t, r, "list"))
			})
		}
	}
}

// The project's settings name the program without its path. If it is not on PATH, the
// client goes on without the hooks and does not tell the model (fact 46). A hook that needs
// no program tells it.
func TestProjectInstallNeedsTheProgramOnPath(t *testing.T) {
	s := realclient.New(t)
	onPath(s)
	skill(s, projectSkills, "release", steps("Release"))
	hydrating(t, s, "--project")

	r := s.Prompt(invoke("release"), "go")

	assert.Equal(t, listed("Release", 0), taskLines(t, r, "list"))
	require.NotContains(t, read(t, s, "project/.claude/settings.json"), filepath.Dir(fsmtx))

	s.Env["PATH"] = systemPath
	s.Session = "22222222-2222-4222-8222-222222222222"
	r = s.Prompt(invoke("release"), "go")

	assert.Empty(t, taskLines(t, r, "list"))
	assert.NotContains(t, r.Told("skill"), "fsmtx")
	assert.True(t, r.Exchanges(Main)[0].Request.Says("The program fsmtx, which puts the workflow of a skill into the task "+
		"list, is not installed here."))
	assert.Contains(t, shown(t, s), "fsmtx is not on your PATH")
}

// Without the variable the same session has no task tools: the test above passes
// because of what install wrote.
func TestWithoutTheVariableANewerModelSeesNoTasks(t *testing.T) {
	s := realclient.New(t)
	skill(s, projectSkills, "release", strings.Replace(steps("Release"), `"Release: publish",`,
		`"Release: publish", "description": "Tell everyone.",`, 1))
	hydrating(t, s, "--task-tools=false")

	r := s.Prompt(invoke("release"), "go")

	list, ok := r.Result("list")
	require.True(t, ok)
	assert.True(t, list.IsError)
	told := r.Told("skill")
	assert.Contains(t, told, "#1 Release: collect", "the tasks are there")
	assert.Contains(t, told, "fsmtx complete N", "with the commands by which it works them")
	assert.NotContains(t, told, "Tell everyone.", "which the commands show when the step is ready")
	assert.NotContains(t, told, "TaskList")
	assert.NotContains(t, told, "fsm.json")
	assert.Contains(t, r.Ran("PostToolUse")[0].Stdout, `"systemMessage": "release: 3 tasks #1–#3"`)
}

// A person with a default model and a fresh install sees the agent work through the steps, by
// what the announcement names: the commands if nothing was chosen, and then no setting is
// written; else what was chosen. It names nothing else, and the person is asked nothing.
func TestAFreshInstallWorksThroughTheSteps(t *testing.T) {
	const server = "mcp__fsmtx__"
	for flag, c := range map[string]struct {
		names    string   // what the announcement names
		not      []string // and what it does not
		start    func(n int) Turn
		complete func(n int) Turn
	}{
		"": {
			names: fsmtx + " start N", not: []string{"TaskList", "TaskUpdate", "ToolSearch", "step_start", "mcp__"},
			start:    func(n int) Turn { return Do(Bash(fmt.Sprint("start", n), fmt.Sprint(fsmtx, " start ", n))) },
			complete: func(n int) Turn { return Do(Bash(fmt.Sprint("complete", n), fmt.Sprint(fsmtx, " complete ", n))) },
		},
		"--mcp": {
			names: server + "step_start", not: []string{"TaskList", "TaskUpdate", "ToolSearch", fsmtx, "fsmtx start"},
			start: func(n int) Turn {
				return Do(Call(fmt.Sprint("start", n), server+"step_start", map[string]any{"step": n}))
			},
			complete: func(n int) Turn {
				return Do(Call(fmt.Sprint("complete", n), server+"step_complete", map[string]any{"step": n}))
			},
		},
		"--task-tools": {
			names: "Use TaskList", not: []string{fsmtx, "fsmtx start", "step_start", "mcp__"},
			start:    func(n int) Turn { return Do(TaskUpdate(fmt.Sprint("start", n), fmt.Sprint(n), "in_progress")) },
			complete: func(n int) Turn { return Do(TaskUpdate(fmt.Sprint("complete", n), fmt.Sprint(n), "completed")) },
		},
	} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			s := realclient.New(t)
			s.Env["CLAUDE_CODE_ENABLE_TODO_TOOLS"] = ""
			s.Allow = []string{"Skill", "mcp__fsmtx"} // nothing of the shell
			skill(s, projectSkills, "release", steps("Release"))
			out := s.Command("", fsmtx, append([]string{"install", "--user"}, strings.Fields(flag)...)...)
			require.Zero(t, out.Code, out)
			written := read(t, s, "home/.claude/settings.json")
			assert.Equal(t, flag == "--task-tools", strings.Contains(written, `"env"`), written)

			turns := []Turn{Do(Skill("skill", "release"))}
			if flag == "--task-tools" {
				turns = append(turns, load)
			}
			var calls []string
			for n := 1; n <= 3; n++ {
				turns = append(turns, c.start(n), c.complete(n))
				calls = append(calls, fmt.Sprint("start", n), fmt.Sprint("complete", n))
			}
			r := s.Prompt(Script{Main: append(turns, Say("done"))}, "go")

			told := r.Told("skill")
			assert.Contains(t, told, "#1 Release: collect\n#2 Release: write, after #1\n#3 Release: publish, after #2")
			assert.Contains(t, told, "Ready now: #1")
			assert.Contains(t, told, c.names)
			for _, other := range c.not {
				assert.NotContains(t, told, other)
			}
			allowed(t, r, calls...)
			assert.Empty(t, r.Denied)
			assert.Equal(t, 3, stateOf(t, s).DoneCount())
			assert.Equal(t, "done", r.Final)
			assert.Contains(t, shown(t, s), "release: 3 tasks #1–#3")
		})
	}
}

// The person is told of a failure too; the agent reads all of it.
func TestThePersonIsToldOfAFailure(t *testing.T) {
	s := realclient.New(t)
	skill(s, projectSkills, "broken", `[{"id": 1}, {"id": 2}]`)
	hydrating(t, s)

	r := s.Prompt(Script{Main: []Turn{Do(Skill("skill", "broken")), Say("done")}}, "go")

	assert.Contains(t, r.Told("skill"), "fsm.json:1:2: ")
	assert.Contains(t, shown(t, s), "broken: "+s.Path(projectSkills+"/broken/fsm.json")+" is not valid (2 problems)")
}

// shown returns the messages of hooks that the client keeps for its screen.
func shown(t *testing.T, s *realclient.Sandbox) string {
	t.Helper()
	out := s.Command("", "sh", "-c", `grep -h '"type":"hook_system_message"' "$HOME"/.claude/projects/*/`+s.Session+`.jsonl`)
	require.Zero(t, out.Code, "no message")
	return out.Stdout
}

func TestUserSkill(t *testing.T) {
	s := realclient.New(t)
	skill(s, userSkills, "release", steps("Release"))
	hydrating(t, s, "--user")

	r := s.Prompt(invoke("release"), "go")

	assert.Equal(t, listed("Release", 0), taskLines(t, r, "list"))
}

func TestSkillWithoutWorkflowChangesNothing(t *testing.T) {
	s := realclient.New(t)
	s.Write(projectSkills+"/plain/SKILL.md", plainSkill)
	hydrating(t, s)

	r := s.Prompt(invoke("plain"), "go")

	assert.Empty(t, taskLines(t, r, "list"))
	require.Len(t, r.Ran("PostToolUse"), 1)
	assert.Equal(t, "{\"continue\": true}\n", r.Ran("PostToolUse")[0].Stdout)
	assert.NoDirExists(t, list(s))
}

func TestTypedSkill(t *testing.T) {
	s := realclient.New(t)
	skill(s, projectSkills, "release", steps("Release"))
	hydrating(t, s)

	r := s.Prompt(look(), "/release 1.2.3")

	assert.Equal(t, listed("Release", 0), taskLines(t, r, "list"))
	first := r.Exchanges(Main)[0].Request
	assert.True(t, first.Says("Do the release thing."), "the skill itself")
	assert.True(t, first.Says("#1 Release: collect"), "the announcement")
	assert.Empty(t, r.Ran("PostToolUse"), "the Skill tool does not run")
}

func TestInvalidWorkflow(t *testing.T) {
	s := realclient.New(t)
	skill(s, projectSkills, "release", steps("Release"))
	skill(s, projectSkills, "broken", `[{"id": 1, "subject": "First"}, {"id": 1, "blockedBy": [9]}]`)
	hydrating(t, s)
	before := s.Prompt(invoke("release"), "go")

	r := s.Prompt(invoke("broken"), "again")

	told := r.Told("skill")
	assert.Contains(t, told, s.Path(projectSkills+"/broken/fsm.json"))
	assert.Contains(t, told, "3 problems", "duplicate, missing and unknown at once")
	assert.Equal(t, taskLines(t, before, "list"), taskLines(t, r, "list"))
}

func TestInvalidWorkflowStopsATypedSkill(t *testing.T) {
	s := realclient.New(t)
	skill(s, projectSkills, "broken", `[{"id": 1}]`)
	hydrating(t, s)

	r := s.Try(Script{}, "/broken")

	assert.Empty(t, r.Exchanges(), "the model is not asked")
	assert.Contains(t, r.Final, "subject")
}

func TestTaskOfTheClientSurvives(t *testing.T) {
	s := realclient.New(t)
	skill(s, projectSkills, "release", steps("Release"))
	hydrating(t, s)

	r := s.Prompt(Script{Main: []Turn{
		load,
		Do(TaskCreate("create", "By hand")),
		Do(Skill("skill", "release")),
		Do(TaskCreate("create-too", "By hand too")),
		Do(TaskList("list")),
		Say("done"),
	}}, "go")

	want := append([]string{"#1 [pending] By hand"}, listed("Release", 1)...)
	assert.Equal(t, append(want, "#5 [pending] By hand too"), taskLines(t, r, "list"))
}

func TestSkillInvokedAgain(t *testing.T) {
	s := realclient.New(t)
	skill(s, projectSkills, "release", steps("Release"))
	skill(s, projectSkills, "review", steps("Review"))
	hydrating(t, s)

	r := s.Prompt(Script{Main: []Turn{
		Do(Skill("first", "release")),
		load,
		Do(TaskUpdate("update", "1", "in_progress")),
		Do(TaskList("before")),
		Do(Skill("second", "release")),
		Do(TaskList("after")),
		Do(Skill("third", "review")),
		Do(TaskList("other")),
		Say("done"),
	}}, "go")

	assert.Equal(t, "#1 [in_progress] Release: collect", taskLines(t, r, "before")[0])
	assert.Equal(t, listed("Release", 3), taskLines(t, r, "after"))
	assert.Equal(t, listed("Review", 6), taskLines(t, r, "other"), "another skill's workflow replaces the first")
}

// A workflow without tasks removes the old ones, and the client does not reuse their IDs.
func TestIDsAreNotReused(t *testing.T) {
	s := realclient.New(t)
	skill(s, projectSkills, "release", steps("Release"))
	skill(s, projectSkills, "reset", "[]")
	hydrating(t, s)

	r := s.Prompt(Script{Main: []Turn{
		Do(Skill("first", "release")),
		Do(Skill("second", "reset")),
		load,
		Do(TaskCreate("create", "By hand")),
		Do(TaskList("list")),
		Say("done"),
	}}, "go")

	assert.Equal(t, []string{"#4 [pending] By hand"}, taskLines(t, r, "list"))
}

// Two skills in one message run one after the other, so the tasks of the second stay.
func TestSkillsOfOneMessage(t *testing.T) {
	s := realclient.New(t)
	skill(s, projectSkills, "release", steps("Release"))
	skill(s, projectSkills, "review", steps("Review"))
	hydrating(t, s)

	r := s.Prompt(Script{Main: []Turn{
		Do(Skill("first", "release"), Skill("second", "review")),
		load,
		Do(TaskList("list")),
		Say("done"),
	}}, "go")

	assert.Equal(t, listed("Review", 3), taskLines(t, r, "list"))
}

func TestTaskListID(t *testing.T) {
	s := realclient.New(t)
	s.Env["CLAUDE_CODE_TASK_LIST_ID"] = "shared list/1"
	skill(s, projectSkills, "release", steps("Release"))
	hydrating(t, s)

	r := s.Prompt(invoke("release"), "go")

	assert.Equal(t, listed("Release", 0), taskLines(t, r, "list"))
	assert.FileExists(t, s.Path("home/.claude/tasks/shared-list-1/1.json"))
	assert.NoDirExists(t, list(s))
	s.Session = realclient.NewSession()
	assert.Equal(t, listed("Release", 0), taskLines(t, s.Prompt(look(), "go"), "list"), "another session has the same list")
}

func TestConfigDir(t *testing.T) {
	s := realclient.New(t)
	s.Env["CLAUDE_CONFIG_DIR"] = s.Path("home/elsewhere")
	skill(s, "home/elsewhere/skills", "release", steps("Release"))
	hydrating(t, s, "--user")

	r := s.Prompt(invoke("release"), "go")

	assert.Equal(t, listed("Release", 0), taskLines(t, r, "list"))
	assert.FileExists(t, s.Path("home/elsewhere/settings.json"))
	assert.NoDirExists(t, s.Path("home/.claude"))
}

// The list is recovered when the session is resumed, before any skill is invoked, and the
// locks of the dead process do not block the client.
func TestResumeRecoversAnInterruptedHydration(t *testing.T) {
	s := realclient.New(t)
	skill(s, projectSkills, "release", steps("Release"))
	hydrating(t, s)
	s.Prompt(invoke("release"), "go")
	before := worlds.Tasks(t, list(s))

	interrupt(t, s, list(s), "release")
	assert.Len(t, worlds.Tasks(t, list(s)), 5, "three new tasks, and two of the three old ones")
	r := s.Prompt(Script{Main: []Turn{
		load,
		Do(TaskList("list")),
		Do(TaskCreate("create", "By hand")),
		Do(TaskList("then")),
		Say("done"),
	}}, "again")

	require.Len(t, r.Ran("SessionStart"), 1)
	assert.Equal(t, listed("Release", 0), taskLines(t, r, "list"), "it was not answered, so it is undone")
	assert.Contains(t, r.Text("then"), "By hand")
	after := worlds.Tasks(t, list(s))
	for name, file := range before {
		assert.Equal(t, file, after[name])
	}
}

// A subagent's skill adds its tasks to the shared list and keeps the parent's workflow.
func TestSubagentsSkill(t *testing.T) {
	s := realclient.New(t)
	skill(s, projectSkills, "release", steps("Release"))
	skill(s, projectSkills, "review", steps("Review"))
	hydrating(t, s)

	r := s.Prompt(Script{
		Main: []Turn{
			Do(Skill("skill", "release")),
			load,
			Do(Agent("agent", "general-purpose", "be a helper")),
			Do(TaskList("list")),
			Say("done"),
		},
		Agents: map[string][]Turn{"be a helper": {
			Do(Skill("inner", "review")),
			Do(Skill("inner-again", "review")),
			Say("helped"),
		}},
	}, "go")

	assert.Contains(t, r.Told("inner"), "#4 Review: collect", "the announcement reaches the subagent")
	assert.Equal(t, append(listed("Release", 0), listed("Review", 6)...), taskLines(t, r, "list"))
}

func TestPluginSkill(t *testing.T) {
	s := realclient.New(t)
	dir := s.Path("project/plugin")
	out := s.Command("", fsmtx, "plugin", dir)
	require.Zero(t, out.Code, out)
	s.Claude("plugin", "validate", "--strict", dir)
	out = s.Command("", fsmtx, "plugin", "--no-steps", "--force", dir) // the agent of this test leaves the tasks alone
	require.Zero(t, out.Code, out)
	s.Claude("plugin", "validate", "--strict", dir)
	s.Claude("plugin", "marketplace", "add", dir)
	s.Claude("plugin", "install", "fsmtx@fsmtx")
	r := s.Prompt(invoke("fsmtx:release-checklist"), "go")

	got := taskLines(t, r, "list")
	require.Len(t, got, 5)
	assert.Equal(t, "#4 [pending] Raise the version and commit [blocked by #2, #3]", got[3])
	assert.Contains(t, r.Told("skill"), "#1 Check that the tree is clean")
	typed := s.Prompt(look(), "/fsmtx:release-checklist 2.0")
	assert.True(t, strings.HasPrefix(taskLines(t, typed, "list")[0], "#6 "), "reset")
}

// If a plugin and the settings both have the hooks, the skill is hydrated once.
func TestTwoHooksHydrateOnce(t *testing.T) {
	s := realclient.New(t)
	skill(s, projectSkills, "release", steps("Release"))
	hydrating(t, s)
	dir := s.Path("project/plugin")
	out := s.Command("", fsmtx, "plugin", "--no-steps", dir)
	require.Zero(t, out.Code, out)

	r := s.Prompt(invoke("release"), "go", "--plugin-dir", dir)

	assert.Len(t, r.Ran("PostToolUse"), 2)
	assert.Equal(t, listed("Release", 0), taskLines(t, r, "list"))
}
