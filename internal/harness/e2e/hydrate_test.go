//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

const (
	projectSkills = "project/.claude/skills"
	userSkills    = "home/.claude/skills"
)

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
			assert.Equal(t, 3, stateOf(t, s).Count().Done)
			assert.Equal(t, "done", r.Final)
			assert.Contains(t, shown(t, s), "release: 3 tasks #1–#3")
		})
	}
}

// shown returns the messages of hooks that the client keeps for its screen.
func shown(t *testing.T, s *realclient.Sandbox) string {
	t.Helper()
	out := s.Command("", "sh", "-c", `grep -h '"type":"hook_system_message"' "$HOME"/.claude/projects/*/`+s.Session+`.jsonl`)
	require.Zero(t, out.Code, "no message")
	return out.Stdout
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

// The agent reads all of a failure, and the person is told of it.
func TestInvalidWorkflow(t *testing.T) {
	s := realclient.New(t)
	skill(s, projectSkills, "broken", `[{"id": 1, "subject": "First"}, {"id": 1, "blockedBy": [9]}]`)
	hydrating(t, s)

	r := s.Prompt(invoke("broken"), "go")

	path := s.Path(projectSkills + "/broken/fsm.json")
	assert.Contains(t, r.Told("skill"), path+":1:33: ")
	assert.Contains(t, shown(t, s), "broken: "+path+" is not valid (3 problems)")
	assert.Empty(t, taskLines(t, r, "list"))
}

// Fact 5: the client's own tasks stay, and neither it nor the program uses an id again.
func TestSkillInvokedAgain(t *testing.T) {
	s := realclient.New(t)
	skill(s, projectSkills, "release", steps("Release"))
	skill(s, projectSkills, "reset", "[]")
	hydrating(t, s)

	r := s.Prompt(Script{Main: []Turn{
		load,
		Do(TaskCreate("create", "By hand")),
		Do(Skill("first", "release")),
		Do(TaskUpdate("update", "2", "in_progress")),
		Do(TaskList("before")),
		Do(Skill("second", "release")),
		Do(TaskList("after")),
		Do(Skill("third", "reset")),
		Do(TaskCreate("create-too", "By hand too")),
		Do(TaskList("last")),
		Say("done"),
	}}, "go")

	const mine = "#1 [pending] By hand"
	assert.Equal(t, "#2 [in_progress] Release: collect", taskLines(t, r, "before")[1])
	assert.Equal(t, append([]string{mine}, listed("Release", 4)...), taskLines(t, r, "after"))
	assert.Equal(t, []string{mine, "#8 [pending] By hand too"}, taskLines(t, r, "last"))
}

func TestTheListAndTheConfigurationAreThoseOfTheEnvironment(t *testing.T) {
	s := realclient.New(t)
	s.Env["CLAUDE_CODE_TASK_LIST_ID"] = "shared list/1"
	s.Env["CLAUDE_CONFIG_DIR"] = s.Path("home/elsewhere")
	skill(s, "home/elsewhere/skills", "release", steps("Release"))
	hydrating(t, s, "--user")

	r := s.Prompt(invoke("release"), "go")

	assert.Equal(t, listed("Release", 0), taskLines(t, r, "list"))
	assert.FileExists(t, s.Path("home/elsewhere/settings.json"))
	assert.FileExists(t, s.Path("home/elsewhere/tasks/shared-list-1/1.json"))
	assert.NoDirExists(t, s.Path("home/.claude"))
	s.Session = realclient.NewSession()
	assert.Equal(t, listed("Release", 0), taskLines(t, s.Prompt(look(), "go"), "list"), "another session has the same list")
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

// dieIn names the environment variable that turns this test program into a hydration of
// the named task list that kills itself.
const dieIn = "FSMTX_E2E_DIE_IN"

// interrupt hydrates a skill in a process that is killed halfway: the new tasks exist,
// the first of the old ones is removed, and the list is locked.
func interrupt(t *testing.T, s *realclient.Sandbox, list, skill string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	s.Env[dieIn] = list
	defer delete(s.Env, dieIn)

	out := s.Command(fmt.Sprintf(`{"hook_event_name": "PostToolUse", "session_id": %q, "cwd": %q, "tool_name": "Skill",
		"tool_use_id": "interrupted", "tool_response": {"success": true, "commandName": %q}}`, s.Session, s.Project, skill), self)

	require.Equal(t, -1, out.Code, "not killed\n%s", out)
}

// hydrateAndDie runs in the child process. It returns only if it is not killed.
func hydrateAndDie(list string) int {
	e, err := client.Read(os.Stdin)
	if err != nil {
		return report(err)
	}
	r, skip, err := hydrate.Understand(e)
	if skip != "" || err != nil {
		return report(fmt.Errorf("%s %w", skip, err))
	}
	_, err = hydrate.Run(context.Background(), r, os.LookupEnv, hydrate.Options{
		LockTimeout: 10 * time.Second,
		FS:          killedAfterARemoval(list),
	})
	return report(fmt.Errorf("not killed: %w", err))
}

// killedAfterARemoval kills the process once the first task of the list is removed.
func killedAfterARemoval(list string) vfs.FS {
	removed := false
	return faultfs.KillWhen(vfs.OS{}, func(step faultfs.Step) bool {
		wasRemoved := removed
		removed = removed || step.Op == "remove" && filepath.Dir(step.Path) == list && filepath.Ext(step.Path) == ".json"
		return wasRemoved
	})
}

func report(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// TestASharedFileWithoutTheProgram: a colleague without fsmtx on PATH reads of it when the session
// starts, and nothing afterwards, neither at a call of a task tool nor when the turn ends.
func TestASharedFileWithoutTheProgram(t *testing.T) {
	t.Parallel()
	s := realclient.New(t)
	skill(s, projectSkills, "release", `[{"id": 1, "subject": "Write"}]`)
	install := exec.Command(fsmtx, "install", "--project")
	install.Dir, install.Env = s.Project, []string{"HOME=" + s.Home, "PATH=" + filepath.Dir(fsmtx) + ":/usr/bin:/bin"}
	out, err := install.CombinedOutput()
	require.NoError(t, err, "%s", out)
	client := s.Attend(Script{Main: append(begun(), Do(TaskList("list")), Do(Bash("run", "echo fsmtx")), Say("That is all."))})
	client.See(0, "fsmtx is not on your PATH")
	client.Enter("release it")
	text := client.See(client.Here(), "That is all.")
	assert.NotRegexp(t, `(?i)hook\s*failed|hook\s*error|usable\s*answer|hook\s*problem|missing\s*program`, text+client.Text())
}

// Fact 190: a skill that runs in a subagent has no steps, and the person is told so.
func TestASkillThatRunsApartHasNoSteps(t *testing.T) {
	for event, script := range map[string]Script{
		"PostToolUse": {Main: []Turn{Do(Skill("skill", "apart")), Say("done")},
			Agents: map[string][]Turn{"Do it apart": {Say("was apart")}}},
		"UserPromptExpansion": {Main: []Turn{Say("was apart")}},
	} {
		t.Run(event, func(t *testing.T) {
			t.Parallel()
			s := realclient.New(t)
			s.Write("project/.claude/skills/apart/SKILL.md", "---\nname: apart\ndescription: apart\ncontext: fork\n---\nDo it apart.\n")
			s.Write("project/.claude/skills/apart/fsm.json", `[{"id": 1, "subject": "a"}]`)
			installed(t, s)
			prompt := "go"
			if event == "UserPromptExpansion" {
				prompt = "/apart now"
			}
			r := s.Prompt(script, prompt)
			ran := r.Ran(event)
			if assert.NotEmpty(t, ran) {
				assert.Contains(t, ran[len(ran)-1].Stdout, "apart: its steps are not enforced, because it runs in an agent of its own")
			}
			assert.NoDirExists(t, list(s))
		})
	}
}
