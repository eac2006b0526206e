//go:build e2e

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// Fact 190: a skill that runs in an agent of its own has no steps, and the person is told so, whoever calls it.
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
