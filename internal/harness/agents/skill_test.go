//go:build agents

package agents_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/harness/agents"
	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

// TestWhatAnAgentTakesForASkill: the agent's answer, of each form of a SKILL.md, is that of package agent.
func TestWhatAnAgentTakesForASkill(t *testing.T) {
	every(t, func(t *testing.T, a *agents.Agent) {
		w := a.New(t)
		skills := map[string]string{
			"good": "name: good\ndescription: IS good", "switched-off": "name: switched-off\ndescription: IS switched-off",
			"noname": "description: IS noname", "emptyname": "name: \"\"\ndescription: IS emptyname",
			"nodesc": "name: nodesc", "emptydesc": "name: emptydesc\ndescription: \"\"", "colon": "name: colon\ndescription: IS colon: a: [b",
			"hint": "name: hint\ndescription: IS hint\nargument-hint: [a] [b]", "glob": "name: glob\ndescription: IS glob\nglobs: **/*.go",
			"tab": "name: tab\ndescription: IS tab\nm:\n\tk: a", "part": "name: part\ndescription: \"IS part\" or not",
			"twice": "name: twice\ndescription: IS twice\nk: a\nk: b", "two": "name: two\ndescription: IS two\ndescription: IS two",
			"list": "name: list\ndescription: [IS list]", "number": "name: number\ndescription: 12",
			"below":  "name: below\ndescription:\n  IS below\nargument-hint: [a] [b]",
			"behind": "name: behind\ndescription: IS behind\nargument-hint: [a] (or: b)",
			"meta":   "name: meta\ndescription: IS meta\nmetadata: m", "tabbed": "name: tabbed\ndescription:\tIS tabbed: b",
			"latin": "name: latin\ndescription: IS latin \xfc",
			"long":  "name: long\ndescription: IS long " + strings.Repeat("x", 1100),
		}
		for name, text := range skills {
			w.Write("project/.agents/skills/"+name+"/SKILL.md", "---\n"+text+"\n---\nBody\n")
		}
		for name, text := range map[string]string{
			"none": "IS none", "open": "---\nname: open\ndescription: IS open\n", "late": "\n---\nname: late\ndescription: IS late\n---\n",
			"mark": "\ufeff---\nname: mark\ndescription: IS mark\n---\n",
		} {
			w.Write("project/.agents/skills/"+name+"/SKILL.md", text)
			skills[name] = text
		}
		switchOff(w)
		if a.Program == "qwen" {
			for name, dir := range map[string]string{"of-project": "project/mine", "of-home": "home/more"} {
				skills[name] = "name: " + name + "\ndescription: IS " + name
				w.Write(dir+"/"+name+"/SKILL.md", "---\n"+skills[name]+"\n---\nBody\n")
			}
		}
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
			assert.Equal(t, takes, k.Unfit == "" && k.Off == "", "%s: %s %s", name, k.Unfit, k.Off)
		}
	})
}

// switchOff makes the settings switch off the skill switched-off, where that is possible.
func switchOff(w *agents.World) {
	switch w.Program {
	case "codex":
		w.Append("home/.codex/config.toml", "\n[[skills.config]]\nname = \"switched-off\"\nenabled = false\n")
	case "copilot":
		w.Write("home/.copilot/settings.json", `{"disabledSkills": ["switched-off"]}`)
	case "gemini":
		w.Write("home/.gemini/settings.json",
			`{"security": {"auth": {"selectedType": "gemini-api-key"}}, "skills": {"disabled": ["Switched-OFF"]}}`)
	case "qwen":
		w.Write("project/.qwen/settings.json", `{"skills": {"disabled": ["Switched-OFF"], "directories": ["mine", " "]}}`)
		w.Write("home/.qwen/settings.json", `{"skills": {"directories": ["~/more"]}}`)
	}
}

func containsAny(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}
