//go:build e2e

// What holds an agent to the steps of a workflow, gate by gate (docs/steps.md).

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/state"
)

// held returns a sandbox whose project has the hooks and the skill release with these
// steps.
func held(t *testing.T, fsm string, flags ...string) *realclient.Sandbox {
	t.Helper()
	t.Parallel()
	s := realclient.New(t)
	skill(s, projectSkills, "release", fsm)
	installed(t, s, flags...)
	return s
}

// begun returns turns that call the skill and load the task tools.
func begun() []Turn { return []Turn{Do(Skill("skill", "release")), load} }

// denied ends the test unless the call was refused, and returns the reason.
func denied(t *testing.T, r *realclient.Run, id string) string {
	t.Helper()
	isError, text := refused(t, r, id)
	require.True(t, isError, "%s was not refused: %s", id, text)
	return text
}

// allowed ends the test unless the call was carried out.
func allowed(t *testing.T, r *realclient.Run, ids ...string) {
	t.Helper()
	for _, id := range ids {
		isError, text := refused(t, r, id)
		require.False(t, isError, "%s was refused: %s", id, text)
	}
}

// stateOf returns the state of the steps.
func stateOf(t *testing.T, s *realclient.Sandbox) *state.State {
	t.Helper()
	found, err := state.Load(t.Context(), list(s))
	require.NoError(t, err)
	return found
}

// byBoth runs a script once as the session's own agent and once as a foreground subagent,
// which shares the list. The script follows the call of the skill.
func byBoth(t *testing.T, fsm string, script []Turn, check func(*testing.T, *realclient.Sandbox, *realclient.Run)) {
	t.Run("agent", func(t *testing.T) {
		s := held(t, fsm)
		check(t, s, s.Prompt(Script{Main: append(append(begun(), script...), Say("done"))}, "go"))
	})
	t.Run("subagent", func(t *testing.T) {
		s := held(t, fsm)
		check(t, s, s.Prompt(Script{
			Main:   []Turn{Do(Skill("skill", "release")), Do(Agent("agent", "general-purpose", "be a helper")), Say("done")},
			Agents: map[string][]Turn{"be a helper": append(append([]Turn{load}, script...), Say("helped"))},
		}, "go"))
	})
}

func TestStepsAreTakenInOrder(t *testing.T) {
	byBoth(t, steps("Release"), []Turn{
		Do(TaskUpdate("start 2", "2", "in_progress")),
		Do(TaskUpdate("complete 3", "3", "completed")),
		Do(TaskUpdate("start 1", "1", "in_progress")),
		Do(TaskUpdate("complete 1", "1", "completed")),
		Do(TaskUpdate("start 2 again", "2", "in_progress")),
		Do(TaskList("list")),
	}, func(t *testing.T, s *realclient.Sandbox, r *realclient.Run) {
		assert.Contains(t, denied(t, r, "start 2"),
			`#2 "Release: write" cannot be started: #1 "Release: collect" must be done first. Ready now: #1`)
		assert.Contains(t, denied(t, r, "complete 3"), `#3 "Release: publish" cannot be completed: #2`)
		allowed(t, r, "start 1", "complete 1", "start 2 again")
		assert.Equal(t, []string{"#1 [completed] Release: collect", "#2 [in_progress] Release: write",
			"#3 [pending] Release: publish [blocked by #2]"}, taskLines(t, r, "list"))
	})
}

// gated is a workflow of one step with a gate, and one after it.
func gated(gate string) string {
	return fmt.Sprintf(`[{"id": 1, "subject": "Write", %s}, {"id": 2, "subject": "Publish", "blockedBy": [1]}]`, gate)
}

func TestAStepProducesItsFiles(t *testing.T) {
	byBoth(t, gated(`"ready": ["in.md"], "produces": ["out/*.md"]`), []Turn{
		Do(TaskUpdate("start", "1", "in_progress")),
		Do(Bash("prepare", "mkdir out && echo text > in.md && touch out/empty.md")),
		Do(TaskUpdate("start again", "1", "in_progress")),
		Do(TaskUpdate("complete", "1", "completed")),
		Do(Bash("produce", "cd out && echo text > a.md")),
		Do(TaskUpdate("complete again", "1", "completed")),
	}, func(t *testing.T, s *realclient.Sandbox, r *realclient.Run) {
		assert.Contains(t, denied(t, r, "start"), `#1 "Write" cannot be started: it needs in.md, which is missing or empty in `+s.Project)
		assert.Contains(t, denied(t, r, "complete"), `#1 "Write" cannot be completed: it needs out/*.md`)
		allowed(t, r, "start again", "complete again")
		assert.Equal(t, "done", stateOf(t, s).Word(stateOf(t, s).Step(1)))
	})
}

func TestACheckFailsAndIsRepaired(t *testing.T) {
	byBoth(t, gated(`"check": "grep -q ok report || { seq 100; echo NOT-OK; exit 7; }"`), []Turn{
		Do(TaskUpdate("start", "1", "in_progress")),
		Do(TaskUpdate("complete", "1", "completed")),
		Do(TaskUpdate("next", "2", "in_progress")),
		Do(Bash("repair", "echo ok > report")),
		Do(TaskUpdate("complete again", "1", "completed")),
		Do(TaskUpdate("next again", "2", "in_progress")),
	}, func(t *testing.T, s *realclient.Sandbox, r *realclient.Run) {
		reason := denied(t, r, "complete")
		assert.Contains(t, reason, "exit status 7")
		assert.Contains(t, reason, "\n100\nNOT-OK")
		assert.NotContains(t, reason, "\n50\n", "only the end of the output")
		assert.Contains(t, reason, "fsmtx step skip 1")
		denied(t, r, "next")
		allowed(t, r, "start", "complete again", "next again")
		e := stateOf(t, s).Evidence
		var exits []int
		for _, one := range e {
			if one.Check != nil {
				exits = append(exits, one.Check.Exit)
			}
		}
		assert.Equal(t, []int{7, 0}, exits)
	})
}

func TestAPersonIsAskedForApproval(t *testing.T) {
	script := Script{Main: append(begun(),
		Do(TaskUpdate("complete", "1", "completed")),
		Do(TaskUpdate("next", "2", "in_progress")),
		Do(TaskList("list")),
		Say("done"))}
	t.Run("nobody is there", func(t *testing.T) {
		s := held(t, gated(`"approval": "Is the text good?"`))

		r := s.Prompt(script, "go")

		assert.Contains(t, denied(t, r, "complete"), "Is the text good?")
		denied(t, r, "next")
		assert.Equal(t, "#1 [pending] Write", taskLines(t, r, "list")[0])
	})
	t.Run("yes", func(t *testing.T) {
		s := held(t, gated(`"approval": "Is the text good?"`))

		r := s.Prompt(script, "go", saysYes(t, s)...)

		allowed(t, r, "complete", "next")
		e := stateOf(t, s).Evidence
		assert.Equal(t, state.Ask, e[0].Verdict)
		assert.Equal(t, "#1 [completed] Write", taskLines(t, r, "list")[0])
	})
}

func TestAStepStaysWhatItIs(t *testing.T) {
	byBoth(t, steps("Release"), []Turn{
		Do(TaskUpdate("delete", "2", "deleted")),
		Do(update("untag", "2", map[string]any{"metadata": map[string]any{"fsm": nil}})),
		Do(update("retag", "2", map[string]any{"metadata": map[string]any{"fsm": "mine"}})),
		Do(update("hide", "2", map[string]any{"metadata": map[string]any{"_internal": true}})),
		Do(update("rename", "2", map[string]any{"subject": "Release: write it"})),
		Do(update("turn round", "1", map[string]any{"addBlockedBy": []string{"2"}})),
		Do(update("add", "2", map[string]any{"metadata": map[string]any{"x": "kept"}, "subject": "Release: write", "activeForm": "Writing",
			"owner": "me"})),
		Do(TaskList("list")),
	}, func(t *testing.T, s *realclient.Sandbox, r *realclient.Run) {
		assert.Contains(t, denied(t, r, "delete"), `is a step of the workflow "release" and stays in the list`)
		for _, id := range []string{"untag", "retag"} {
			assert.Contains(t, denied(t, r, id), `its metadata "fsm" must not change`)
		}
		assert.Contains(t, denied(t, r, "hide"), `its metadata "_internal", which hides a task, cannot be set`)
		assert.Contains(t, denied(t, r, "rename"), "its subject must not change")
		assert.Contains(t, denied(t, r, "turn round"), "what it waits for must not change")
		allowed(t, r, "add")
		assert.Len(t, taskLines(t, r, "list"), 3)
		task := read(t, s, "home/.claude/tasks/"+s.Session+"/2.json")
		assert.Contains(t, task, `"fsm": "release"`)
		assert.Contains(t, task, `"x": "kept"`)
	})
}

// The client itself protects the list only in ~/.claude (fact 53).
func TestTheListIsNotEditedAsFiles(t *testing.T) {
	t.Parallel()
	s := realclient.New(t)
	config := s.Path("project/config")
	s.Env["CLAUDE_CONFIG_DIR"] = config
	skill(s, projectSkills, "release", steps("Release"))
	installed(t, s)
	task := filepath.Join(config, "tasks", s.Session, "3.json")
	evidence := filepath.Join(config, "tasks", "."+s.Session+".fsmtx", "steps.jsonl")

	r := s.Prompt(Script{Main: append(begun(),
		Do(Call("read", "Read", map[string]any{"file_path": task})),
		Do(write("write", task)),
		Do(Call("edit", "Edit", map[string]any{"file_path": task, "old_string": "pending", "new_string": "completed"})),
		Do(write("evidence", evidence)),
		Do(write("other", s.Path("project/other.json"))),
		Say("done"))}, "go")

	for _, id := range []string{"write", "edit", "evidence"} {
		assert.Contains(t, denied(t, r, id), "do not edit the tasks of a workflow as files")
	}
	allowed(t, r, "other")
	assert.Contains(t, read(t, s, "project/config/tasks/"+s.Session+"/3.json"), `"pending"`)
	assert.NoFileExists(t, evidence)
}

func TestAnAgentIsToldTheStateOfItsWorkflow(t *testing.T) {
	s := held(t, steps("Release"))
	s.Prompt(Script{Main: append(begun(), Do(TaskUpdate("complete", "1", "completed")), Say("done"))}, "go")

	resumed := s.Prompt(Script{Main: []Turn{Say("done")}}, "and now")
	assert.True(t, resumed.Exchanges(Main)[0].Request.Says(`1 of 3 steps done`), "resumed")
	assert.True(t, resumed.Exchanges(Main)[0].Request.Says(`Ready: #2 "Release: write"`), "resumed")

	s.Write("project/.claude/settings.local.json", fmt.Sprintf(`{"hooks": {"SessionStart": [
		{"matcher": "compact", "hooks": [{"type": "command", "command": %q, "args": ["step"]}]}]}}`, fsmtx))
	s.Prompt(Script{}, "/compact")
	after := s.Prompt(Script{Main: []Turn{Say("done")}}, "and then").Exchanges(Main)[0].Request
	assert.True(t, after.Says("The work so far."), "the summary")
	assert.True(t, after.Says(`Ready: #2 "Release: write"`), "compacted")
}

// Fact 39: both hooks run at once. Whichever is first, the second step waits for the first.
func TestTwoUpdatesInOneMessage(t *testing.T) {
	s := held(t, gated(`"check": "sleep 0.3"`))

	r := s.Prompt(Script{Main: append(begun(),
		Do(TaskUpdate("complete", "1", "completed"), TaskUpdate("next", "2", "in_progress")),
		Say("done"))}, "go")

	allowed(t, r, "complete", "next")
}

// If no hook runs on PreToolUse, the hook on TaskCompleted refuses (fact 38).
func TestTaskCompletedRefusesWithoutPreToolUse(t *testing.T) {
	s := held(t, gated(`"check": "test -e ok"`))
	s.Write("project/.claude/settings.local.json", fmt.Sprintf(`{"env": {"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"}, "hooks": {
		"PostToolUse": [{"matcher": "Skill", "hooks": [{"type": "command", "command": %[1]q, "args": ["hydrate"]}]}],
		"TaskCompleted": [{"hooks": [{"type": "command", "command": %[1]q, "args": ["step"]}]}]}}`, fsmtx))

	r := s.Prompt(Script{Main: append(begun(),
		Do(TaskUpdate("order", "2", "completed")),
		Do(TaskUpdate("check", "1", "completed")),
		Do(Bash("repair", "touch ok")),
		Do(TaskUpdate("again", "1", "completed")),
		Do(TaskList("before")),
		Do(TaskUpdate("next", "2", "completed")),
		Do(TaskList("after")),
		Say("done"))}, "go")

	assert.Contains(t, r.Text("order"), `#1 "Write" must be done first`)
	assert.Contains(t, r.Text("check"), "exit status 1")
	assert.Equal(t, []string{"#1 [completed] Write", "#2 [pending] Publish"}, taskLines(t, r, "before"))
	assert.Equal(t, []string{"#1 [completed] Write", "#2 [completed] Publish"}, taskLines(t, r, "after"))
}

// The hooks have no effect on a session that calls no skill with steps.
func TestAnOrdinarySessionIsLeftAlone(t *testing.T) {
	s := held(t, steps("Release"), "--stop", "hold")
	s.Write(projectSkills+"/plain/SKILL.md", plainSkill)

	r := s.Prompt(Script{
		Main: append(created("first", "second"),
			Do(Skill("skill", "plain")),
			Do(update("block", "2", map[string]any{"addBlockedBy": []string{"1"}})),
			Do(TaskUpdate("complete", "2", "completed")),
			Do(TaskUpdate("delete", "1", "deleted")),
			Do(Call("write", "Write", map[string]any{"file_path": s.Path("project/a.md"), "content": "x"})),
			Do(Bash("bash", "cd . && echo fsmtx step skip 1")),
			Do(Agent("agent", "general-purpose", "be a helper")),
			Say("done")),
		Agents: map[string][]Turn{"be a helper": {Say("helped")}},
	}, "go")

	allowed(t, r, "skill", "block", "complete", "delete", "write", "bash")
	for _, event := range []string{"PreToolUse", "TaskCompleted", "Stop", "SubagentStop"} {
		require.NotEmpty(t, r.Ran(event), event)
		for _, h := range r.Ran(event) {
			assert.Zero(t, h.ExitCode, event)
			assert.Contains(t, []string{"", "{\"continue\": true}\n"}, h.Stdout, "%s: hydrate answers, step does not", event)
			assert.Empty(t, h.Stderr, event)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(list(s)))
	require.NoError(t, err)
	require.Len(t, entries, 1, "no state directory beside the list")
	assert.Equal(t, s.Session, entries[0].Name())
}

// TestStepsOfOneMessageWaitForEachOther calls of one message and their hooks run independently of each other (fact 39): a step
// waits for the one before it.
func TestStepsOfOneMessageWaitForEachOther(t *testing.T) {
	byBoth(t, steps("Release"), []Turn{
		Do(TaskUpdate("start 1", "1", "in_progress")),
		Do(TaskUpdate("start 2", "2", "in_progress"), TaskUpdate("complete 1", "1", "completed")),
		Do(TaskUpdate("complete 2", "2", "completed"), TaskUpdate("start 3", "3", "in_progress")),
		Do(TaskUpdate("complete 3", "3", "completed")),
	}, func(t *testing.T, s *realclient.Sandbox, r *realclient.Run) {
		allowed(t, r, "start 1", "start 2", "complete 1", "complete 2", "start 3", "complete 3")
		assert.Equal(t, 3, stateOf(t, s).DoneCount())
	})
}

// TestAStartAndACompletionInOneMessage: the next step is started and completed in the message that completes the one before it, and
// each check takes a second.
func TestAStartAndACompletionInOneMessage(t *testing.T) {
	s := held(t, `[{"id": 1, "subject": "Build", "check": "sleep 1"}, {"id": 2, "subject": "Test", "blockedBy": [1], "check": "sleep 1"}]`)
	r := s.Prompt(Script{Main: append(begun(),
		Do(TaskUpdate("build", "1", "completed"), TaskUpdate("start", "2", "in_progress"), TaskUpdate("test", "2", "completed")),
		Do(TaskList("list")), Say("done"))}, "go")
	allowed(t, r, "build", "start", "test")
	assert.Equal(t, []string{"#1 [completed] Build", "#2 [completed] Test"}, taskLines(t, r, "list"))
	assert.Equal(t, 2, stateOf(t, s).DoneCount())
}
