//go:build e2e

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// Facts 41 and 68: a hook finds the client's options on its command line.
func TestOptionsOfTheClient(t *testing.T) {
	for name, c := range map[string]struct {
		skill string
		args  []string
	}{
		"a relative directory":             {"far", []string{"--add-dir", "../added"}},
		"several directories":              {"far", []string{"--add-dir", "a", "b", "../added", "--permission-mode", "default"}},
		"a directory with =":               {"far", []string{"--add-dir=../added"}},
		"a plugin":                         {"plug:ship", []string{"--plugin-dir", "../plug"}},
		"a plugin with =, after another":   {"plug:ship", []string{"--plugin-dir", "a", "--plugin-dir=../plug"}},
		"a plugin's skill by its own name": {"shipping", []string{"--plugin-dir=../plug"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := realclient.New(t)
			withOptions(s)
			hydrating(t, s)

			r := s.Prompt(invoke(c.skill), "go", c.args...)

			assert.Equal(t, listed("Far", 0), taskLines(t, r, "list"))
			assert.Contains(t, r.Told("skill"), "#1 Far: collect", "with the skill itself")
			for _, h := range append(r.Ran("PreToolUse"), r.Ran("Stop")...) {
				assert.Equal(t, "{\"continue\": true}\n", h.Stdout, "nothing is hydrated later")
			}
		})
	}
}

// Fact 174: the user's skill, whose name comes first otherwise, is left out by an option.
func TestSourcesThatTheClientLeavesOut(t *testing.T) {
	for sources, want := range map[string]string{"project": "Project", "project,local": "Project", "user,project": "User"} {
		t.Run(sources, func(t *testing.T) {
			s := realclient.New(t)
			onPath(s)
			skill(s, "home/.claude/skills", "both", steps("User"))
			skill(s, projectSkills, "both", steps("Project"))
			hydrating(t, s, "--project")

			r := s.Prompt(invoke("both"), "go", "--setting-sources", sources)

			assert.Equal(t, listed(want, 0), taskLines(t, r, "list"))
			assert.Contains(t, r.Told("skill"), "#1 "+want+": collect", "with the skill itself")
		})
	}
}

// withOptions writes skills that the client finds only with an option.
func withOptions(s *realclient.Sandbox) {
	skill(s, "added/.claude/skills", "far", steps("Far"))
	s.Write("project/a/file", "")
	s.Write("project/b/file", "")
	s.Write("plug/.claude-plugin/plugin.json", `{"name": "plug", "version": "1.0.0"}`)
	s.Write("plug/skills/ship/SKILL.md", "---\nname: shipping\ndescription: d\n---\nShip it.\n")
	s.Write("plug/skills/ship/fsm.json", steps("Far"))
}

// withoutClientPID is a command line of hydrate that cannot read the client's options.
func withoutClientPID() string { return "unset CLAUDE_PID; exec " + fsmtx + " hydrate --announce" }

// written waits until the client has written the skill into its transcript, which it does
// a little later (a real model gives it more time).
func written(s *realclient.Sandbox) Turn {
	return Do(Bash("written", "until grep -qs 'Base directory' "+s.Home+"/.claude/projects/*/"+s.Session+".jsonl; do sleep 0.02; done"))
}

// Fact 47: if the skill's folder could not be found when the skill was invoked, it is
// hydrated when the agent first looks at the tasks.
func TestTheTranscriptNamesTheFolder(t *testing.T) {
	for name, args := range map[string][]string{
		"far":       {"--add-dir", "../added"},
		"plug:ship": {"--plugin-dir", "../plug"},
	} {
		t.Run(name, func(t *testing.T) {
			s := realclient.New(t)
			withOptions(s)
			s.Write("home/.claude/plugins/installed_plugins.json", `{"version": 2, "plugins": {}}`)
			installHooks(t, s, hook{"PostToolUse", "Skill", withoutClientPID()}, hook{"PreToolUse", "TaskList", withoutClientPID()},
				hook{"Stop", "", withoutClientPID()})

			r := s.Prompt(Script{Main: []Turn{Do(Skill("skill", name)), written(s), load, Do(TaskList("list")), Do(TaskList("again")),
				Say("done")}}, "go", args...)

			assert.NotContains(t, r.Told("skill"), "Far: collect")
			assert.Equal(t, listed("Far", 0), taskLines(t, r, "list"))
			assert.Contains(t, r.Told("list"), "a folder that could not be found when you invoked it")
			assert.Equal(t, listed("Far", 0), taskLines(t, r, "again"), "once")
			assert.NotContains(t, r.Told("again"), "a folder that could not be found")
			assert.Equal(t, "done", r.Final, "Stop has nothing to tell")
		})
	}
}

// If the agent does not look at the tasks, or has no task tools, the skill is hydrated
// before the agent stops, and the agent goes on with the workflow.
func TestTheTranscriptIsCheckedBeforeTheAgentStops(t *testing.T) {
	s := realclient.New(t)
	s.Env["CLAUDE_CODE_ENABLE_TODO_TOOLS"] = ""
	withOptions(s)
	skill(s, "plug/skills", "later", steps("Later"))
	installHooks(t, s, hook{"PostToolUse", "Skill", withoutClientPID()}, hook{"UserPromptExpansion", "", withoutClientPID()},
		hook{"Stop", "", withoutClientPID()})

	r := s.Prompt(Script{Main: []Turn{Do(Skill("skill", "far")), written(s), Say("done"), Say("really done")}}, "go", "--add-dir", "../added")

	told := r.Exchanges(Main)[3].Request.News()
	assert.Contains(t, told, "You are running the skill far from ")
	assert.Contains(t, told, "#1 Far: collect")
	assert.Equal(t, "really done", r.Final)
	assert.Len(t, r.Ran("Stop"), 2)
	assert.FileExists(t, list(s)+"/1.json")

	s.Session = realclient.NewSession()
	typed := s.Prompt(Script{Main: []Turn{written(s), Say("done"), Say("really done")}}, "/far with words", "--add-dir", "../added")

	assert.Contains(t, typed.Exchanges(Main)[2].Request.News(), "#1 Far: collect")
	assert.Equal(t, "really done", typed.Final)
}
