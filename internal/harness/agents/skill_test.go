//go:build agents

package agents_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/harness/agents"
	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

// TestWhatAnAgentTakesForASkill: the agent's answer, of each form of a SKILL.md and of a link to a skill of Claude Code, is that of
// package agent.
func TestWhatAnAgentTakesForASkill(t *testing.T) {
	every(t, func(t *testing.T, a *agents.Agent) {
		w := a.New(t)
		skills := map[string]string{
			"good": "name: good\ndescription: IS good", "noname": "description: IS noname",
			"emptyname": "name: \"\"\ndescription: IS emptyname", "nodesc": "name: nodesc", "emptydesc": "name: emptydesc\ndescription: \"\"",
			"colon": "name: colon\ndescription: IS colon: a: [b",
		}
		for name, text := range skills {
			w.Write("project/.agents/skills/"+name+"/SKILL.md", "---\n"+text+"\n---\nBody\n")
		}
		for name, text := range map[string]string{
			"none": "IS none", "late": "\n---\nname: late\ndescription: IS late\n---\n",
		} {
			w.Write("project/.agents/skills/"+name+"/SKILL.md", text)
			skills[name] = text
		}
		w.Write("project/.claude/skills/linked/SKILL.md", "---\nname: linked\ndescription: IS linked\n---\nBody\n")
		require.NoError(t, os.Symlink("../../.claude/skills/linked", w.Path("project/.agents/skills/linked")))
		skills["linked"] = "by a link"
		var turns []Turn
		if a.Program != "codex" {
			for name := range skills {
				turns = append(turns, Do(a.TakeUp(name, name)))
			}
		}
		r := w.Prompt(Script{Main: append(turns, Say("bye"))}, "hello")
		require.Zero(t, r.Code)

		lookup := func(name string) (string, bool) {
			home, is := map[string]string{"HOME": w.Home}[name]
			return home, is
		}
		for name := range skills {
			takes := r.Exchanges(Main)[0].Request.Says("/" + name + "/SKILL.md")
			if result, ok := r.Result(name); ok {
				takes = !containsAny(result.Text, "not found", "allowed values", "is disabled")
			}
			k := agent.Named(a.Program).Search(lookup).Find(name, w.Project)
			require.NotNil(t, k, name)
			assert.Equal(t, takes, k.Unfit == "", "%s: %s", name, k.Unfit)
		}
	})
}

func containsAny(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}
