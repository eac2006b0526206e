//go:build e2e

package e2e

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// A default model, which has no task tools, works a plugin's workflow from first to last step
// by what the announced text names, without any setting and without a permission question.
func TestADefaultModelWorksByWhatIsAnnounced(t *testing.T) {
	t.Parallel()
	s := realclient.New(t)
	s.Env["CLAUDE_CODE_ENABLE_TODO_TOOLS"] = ""
	s.Allow = []string{"Skill"}
	dir := s.Path("project/plugin")
	s.Command("", fsmtx, "plugin", dir)
	skill(s, "project/plugin/skills", "release", steps("Release"))
	args := []string{"--plugin-dir", dir}
	r := s.Prompt(Script{Main: []Turn{Do(Skill("skill", "fsmtx:release")), Say("Shall I go on?")}}, "go", args...)
	p := regexp.MustCompile(`own: (\S+) start N`).FindStringSubmatch(r.Told("skill"))
	if !assert.Len(t, p, 2, r.Told("skill")) {
		return
	}
	var turns []Turn
	for _, n := range []string{"1", "2", "3"} {
		turns = append(turns, Do(Bash("start "+n, p[1]+" start "+n)), Do(Bash("complete "+n, p[1]+" complete "+n)))
	}
	turns = append(turns, Do(Bash("compound", p[1]+" next; touch evil")), Do(Bash("next", p[1]+" next")), Say("done"))
	r = s.Prompt(Script{Main: turns}, "go on", args...)
	allowed(t, r, "start 1", "complete 1", "start 2", "complete 2", "start 3", "complete 3", "next")
	assert.Equal(t, []string{"compound"}, r.Denied)
	assert.Equal(t, 3, stateOf(t, s).DoneCount())

	s.Write("project/.claude/settings.json", `{"permissions": {"deny": ["Bash(*fsmtx next*)"], "ask": ["Bash(*fsmtx start*)"]}}`)
	r = s.Prompt(Script{Main: []Turn{Do(Bash("next", p[1]+" next")), Do(Bash("start", p[1]+" start 3")), Say("done")}}, "again", args...)
	assert.Equal(t, []string{"next", "start"}, r.Denied, "a rule of the person still holds (fact 150)")
}

// In a work tree that the agent enters, the client refuses lines with the word complete (fact 165).
// What start prints there names another word, which needs no permission either.
func TestAStepIsCompletedInAWorkTree(t *testing.T) {
	t.Parallel()
	s := realclient.New(t)
	s.Env["CLAUDE_CODE_ENABLE_TODO_TOOLS"] = ""
	s.Allow = []string{"Skill", "EnterWorktree", "ToolSearch"}
	skill(s, projectSkills, "release", steps("Release"))
	committed(t, s)
	installed(t, s, "--task-tools=false")
	r := s.Prompt(Script{Main: []Turn{
		Do(Skill("skill", "release")), Do(LoadTools("load", "EnterWorktree")), Do(Call("enter", "EnterWorktree", map[string]any{"name": "w"})),
		Do(Bash("start", fsmtx+" start 1")), Do(Bash("complete", fsmtx+" complete 1")), Do(Bash("finish", fsmtx+" finish 1")), Say("done"),
	}}, "go")
	assert.Contains(t, r.Told("skill"), fsmtx+" complete N")
	assert.Contains(t, r.Text("start"), "When its work is done: "+fsmtx+" finish 1")
	assert.Contains(t, denied(t, r, "complete"), "complete")
	allowed(t, r, "start", "finish")
	assert.Equal(t, 1, stateOf(t, s).DoneCount())
}

// committed makes the project a repository with one commit.
func committed(t *testing.T, s *realclient.Sandbox) {
	t.Helper()
	for _, line := range []string{"init -q -b main", "add .", "-c user.name=a -c user.email=a@b commit -qm x"} {
		out := s.Command("", "git", strings.Fields(line)...)
		require.Zero(t, out.Code, out)
	}
}

// A skill that is typed as the first prompt comes before the client says which tools the session has, so
// every way is named.
func TestASkillTypedFirstNamesEveryWay(t *testing.T) {
	t.Parallel()
	s := realclient.New(t)
	skill(s, projectSkills, "release", steps("Release"))
	installed(t, s, "--task-tools=false")
	first := s.Prompt(Script{Main: []Turn{Say("done")}}, "/release").Exchanges(Main)[0].Request
	for _, way := range []string{"TaskUpdate, which ToolSearch loads", "tools named step_start", "fsmtx complete N"} {
		assert.True(t, first.Says(way), way)
	}
}
