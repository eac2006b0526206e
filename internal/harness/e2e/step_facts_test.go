//go:build e2e

// Facts about the client that holding an agent to its steps rests on (docs/internals/client-facts.md,
// 35 to 46), measured with hooks of one line of shell.

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// update has the model set fields of a task.
func update(id, task string, fields map[string]any) Block {
	input := map[string]any{"taskId": task}
	for name, value := range fields {
		input[name] = value
	}
	return Call(id, "TaskUpdate", input)
}

// created returns turns that load the task tools and create these tasks.
func created(subjects ...string) []Turn {
	turns := []Turn{load}
	for i, s := range subjects {
		turns = append(turns, Do(TaskCreate(fmt.Sprintf("create%d", i), s)))
	}
	return turns
}

// refused reports whether the model got the result of a call as an error, and its text.
func refused(t *testing.T, r *realclient.Run, id string) (bool, string) {
	t.Helper()
	result, ok := r.Result(id)
	require.True(t, ok, "the model got no result of %q", id)
	return result.IsError, result.Text
}

// Facts 35 and 36: the client itself enforces no order.
func TestTheClientChecksNoOrder(t *testing.T) {
	t.Parallel()
	s := realclient.New(t)

	r := s.Prompt(Script{Main: append(created("first", "second", "third"),
		Do(update("block", "1", map[string]any{"addBlocks": []string{"2", "3"}})),
		Do(update("tag", "2", map[string]any{"metadata": map[string]any{"fsm": "release"}})),
		Do(TaskUpdate("complete", "2", "completed")),
		Do(update("untag", "2", map[string]any{"metadata": map[string]any{"fsm": nil}})),
		Do(TaskUpdate("delete", "3", "deleted")),
		Do(TaskList("list")),
		Say("done"))}, "go")

	for _, id := range []string{"complete", "untag", "delete"} {
		isError, text := refused(t, r, id)
		assert.False(t, isError, text)
	}
	assert.Equal(t, []string{"#1 [pending] first", "#2 [completed] second [blocked by #1]"}, taskLines(t, r, "list"))
	assert.NotContains(t, read(t, s, "home/.claude/tasks/"+s.Session+"/2.json"), `"fsm"`)
	assert.Contains(t, read(t, s, "home/.claude/tasks/"+s.Session+"/2.json"), `"blockedBy": [`, "addBlocks writes both sides")
}

// Facts 37 and 45: the event has the whole input, and the model reads the whole reason.
func TestAHookRefusesATaskUpdate(t *testing.T) {
	t.Parallel()
	s := hooked(t, hook{"PreToolUse", "TaskUpdate", "cat > event.json; printf '%20000s-END' THE-REASON >&2; exit 2"})

	r := s.Prompt(Script{Main: append(created("first"), Do(TaskUpdate("complete", "1", "completed")), Do(TaskList("list")),
		Say("done"))}, "go")

	assert.Contains(t, denied(t, r, "complete"), "THE-REASON-END")
	assert.Equal(t, []string{"#1 [pending] first"}, taskLines(t, r, "list"))
	e := eventOf(t, s)
	assert.Equal(t, "TaskUpdate", e.ToolName)
	assert.JSONEq(t, `{"taskId": "1", "status": "completed"}`, string(e.ToolInput))
}

// Fact 38: TaskCompleted has no metadata, and exit 2 refuses the whole update.
func TestTaskCompletedCanRefuse(t *testing.T) {
	t.Parallel()
	s := hooked(t, hook{"TaskCompleted", "", "cat > event.json; echo THE-REASON >&2; exit 2"})

	r := s.Prompt(Script{Main: append(created("first"),
		Do(update("complete", "1", map[string]any{"status": "completed", "metadata": map[string]any{"x": "dropped"}})), Do(TaskList("list")),
		Say("done"))}, "go")

	_, text := refused(t, r, "complete")
	assert.Contains(t, text, "THE-REASON")
	assert.Equal(t, []string{"#1 [pending] first"}, taskLines(t, r, "list"))
	assert.NotContains(t, read(t, s, "home/.claude/tasks/"+s.Session+"/1.json"), "dropped")
	e := eventOf(t, s)
	assert.Equal(t, `"1"`, string(e.Member("task_id")))
	assert.Nil(t, e.Member("metadata"))
}

// Fact 39: each of the two hooks waits for the other to begin, and both see the list as
// it was. None of the client's locks is held meanwhile.
func TestUpdatesOfOneMessageRunTogether(t *testing.T) {
	t.Parallel()
	s := hooked(t, hook{"PreToolUse", "TaskUpdate", `d="$HOME/.claude/tasks"; touch "begun.$$"
		for i in $(seq 200); do [ "$(ls begun.* | wc -l)" -ge 2 ] && break; sleep 0.05; done
		ls begun.* | wc -l >> seen; cat "$d"/*/1.json | grep status >> seen; ls -d "$d"/*/*.lock >> seen 2>/dev/null; true`})

	r := s.Prompt(Script{Main: append(created("first", "second"),
		Do(TaskUpdate("one", "1", "completed"), TaskUpdate("two", "2", "in_progress")), Do(TaskList("list")), Say("done"))}, "go")

	assert.Equal(t, []string{"#1 [completed] first", "#2 [in_progress] second"}, taskLines(t, r, "list"))
	seen := read(t, s, "project/seen")
	assert.Equal(t, 2, strings.Count(seen, "2\n"), seen)
	assert.Equal(t, 2, strings.Count(seen, "pending"), seen)
	assert.NotContains(t, seen, ".json.lock")
}

// Facts 41 and 151.
func TestAHookOnBashIsSelectedByIf(t *testing.T) {
	t.Parallel()
	s := realclient.New(t)
	s.Write("project/.claude/settings.json", `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
		{"type": "command", "if": "Bash(fsmtx *)", "command": "cat >> selected; env | grep -E '^(CLAUDECODE|AI_AGENT|CLAUDE_PID)=' > hook-env"},
		{"type": "command", "if": "Bash(*fsmtx*)", "command": "cat >> anywhere"}]}]}}`)

	r := s.Prompt(Script{Main: []Turn{
		Do(Bash("other", "echo other")),
		Do(Bash("ours", "cd . && fsmtx something; true")),
		Do(Bash("quoted", "'/opt/my bin/fsmtx' quoted 3; true")),
		Do(Bash("path", "true && \"/opt/bin/fsmtx\" inquotes; true")),
		Do(Bash("bare", "/opt/my\\ bin/fsmtx; true")),
		Do(Bash("env", "env | grep -E '^(CLAUDECODE|AI_AGENT|CLAUDE_CODE_SESSION_ID)='")),
		Say("done"),
	}}, "go")

	selected := read(t, s, "project/selected")
	assert.Contains(t, selected, "fsmtx something")
	assert.NotContains(t, selected, "quoted 3")
	assert.NotContains(t, selected, "echo other")
	anywhere := read(t, s, "project/anywhere")
	for _, part := range []string{"fsmtx something", "quoted 3", "inquotes", "bin/fsmtx; true"} {
		assert.Contains(t, anywhere, part)
	}
	assert.NotContains(t, anywhere, "echo other")
	assert.Regexp(t, `(?m)^CLAUDE_PID=\d+$`, read(t, s, "project/hook-env"))
	assert.Contains(t, read(t, s, "project/hook-env"), "AI_AGENT=claude-code_"+strings.ReplaceAll(realclient.Version, ".", "-")+"_harness\n")
	shell := r.Text("env")
	assert.Contains(t, shell, "CLAUDECODE=1")
	assert.Contains(t, shell, "CLAUDE_CODE_SESSION_ID="+s.Session)
	assert.Regexp(t, `(?m)^AI_AGENT=.*_agent$`, shell)
}

// Facts 53 and 55.
func TestWhatTheClientItselfRefuses(t *testing.T) {
	t.Parallel()
	s := realclient.New(t)

	r := s.Prompt(Script{Main: append(created("first"),
		Do(write("write", s.Path("home/.claude/tasks/"+s.Session+"/7.json"))),
		Do(TaskUpdate("spelled", "#1", "completed")),
		Do(TaskUpdate("padded", "01", "completed")),
		Do(TaskList("list")), Say("done"))}, "go")

	isError, text := refused(t, r, "write")
	assert.True(t, isError)
	assert.Contains(t, text, "sensitive file")
	for _, id := range []string{"spelled", "padded"} {
		assert.Contains(t, r.Text(id), "not found")
	}
	assert.Equal(t, []string{"#1 [pending] first"}, taskLines(t, r, "list"))
}

// Fact 179. The list of the session is left with its open steps, and the person is told once.
func TestSettingsGiveTheClientAnotherList(t *testing.T) {
	s := held(t, steps("Release"), "--user")
	s.Write("project/other.json", `{"env": {"CLAUDE_CODE_TASK_LIST_ID": "other"}}`)
	s.Write("project/set.sh", "cp other.json .claude/settings.local.json && sleep 2")
	r := s.Prompt(Script{Main: append(begun(),
		Do(Bash("set", "sh set.sh")),
		Do(TaskUpdate("complete 3", "3", "completed")),
		Do(TaskUpdate("again", "3", "completed")),
		Say("done"))}, "go")
	assert.Contains(t, r.Text("complete 3"), "Task not found")
	var told []string
	for _, h := range slices.Concat(r.Ran("PreToolUse"), r.Ran("Stop")) {
		if strings.Contains(h.Stdout, "the client now has another task list, so these steps are not enforced. To go on with them, remove "+
			"CLAUDE_CODE_TASK_LIST_ID from") {
			told = append(told, h.Name)
		}
	}
	assert.Equal(t, []string{"PreToolUse:TaskUpdate"}, told)
}

// A fork has a new, empty list (fact 10). The agent and the person are told once that the steps are in the other one.
func TestAForkHasNoSteps(t *testing.T) {
	s := held(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Review"},
		{"id": 2, "subject": "Push", "blockedBy": [1], "only": ["Bash(git push *)"]}, {"id": 3, "subject": "Tell", "blockedBy": [2]}]}`)
	parent := s.Session
	s.Prompt(Script{Main: append(begun(), Do(TaskUpdate("review", "1", "completed")), Say("Shall I push?"))}, "go")
	s.Session = realclient.NewSession()

	r := s.Prompt(Script{Main: []Turn{Do(Bash("push", "git push || true")), Say("done")}}, "go on", "--resume", parent, "--fork-session")
	again := s.Prompt(Script{Main: []Turn{Say("done")}}, "go on")

	allowed(t, r, "push")
	start := r.Ran("SessionStart")[0]
	assert.Equal(t, "SessionStart:fork", start.Name)
	told := "release: 1 of 3 steps done, in the list of session " + parent[:4] + ", from which this one was forked. "
	assert.Contains(t, start.Stdout, `"systemMessage": "fsmtx: `+told)
	assert.True(t, r.Exchanges(Main)[0].Request.Says(told))
	assert.NotContains(t, again.Ran("SessionStart")[0].Stdout, "forked")
}
