//go:build e2e

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// TestASkillCarriesItsHooks: a skill's folder can have the hooks for its own workflow. They
// work for people who have the program on PATH and did not run install; without the program
// the agent is told where the steps are. If a person types the skill, its hooks do not fire
// in time (fact 73).
func TestASkillCarriesItsHooks(t *testing.T) {
	s := realclient.New(t)
	skill(s, projectSkills, "release", steps("Release"))
	out := s.Command("", fsmtx, "new", "--self-contained", ".claude/skills/release")
	require.Zero(t, out.Code, out)
	onPath(s)

	r := s.Prompt(Script{Main: []Turn{
		Do(Skill("skill", "release")), load, Do(TaskList("list")),
		Do(update("early", "3", map[string]any{"status": "completed"})),
		Say("done"), Say("done, I said"),
	}}, "go")
	assert.Equal(t, listed("Release", 0), taskLines(t, r, "list"))
	assert.Contains(t, r.Told("skill"), "#1 Release: collect", "the announcement")
	denied(t, r, "early")

	s.Session = realclient.NewSession()
	s.Env["PATH"] = systemPath
	r = s.Prompt(invoke("release"), "go")
	assert.Empty(t, taskLines(t, r, "list"))
	assert.Contains(t, r.Told("skill"), "The program fsmtx, which puts the workflow of a skill into the task list, is not installed here.")
	assert.Contains(t, r.Stdout, "fsmtx is not on your PATH")

	s.Session = realclient.NewSession()
	onPath(s)
	r = s.Prompt(look(), "/release")
	assert.Empty(t, taskLines(t, r, "list"), "typed: fsmtx install is needed for that")
}
