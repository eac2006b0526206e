package rules

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/settings"
)

func runSkillFiles(input string, vars map[string]string) client.Answer {
	return RunSkillFiles(strings.NewReader(input), func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	})
}

func TestOnlyTheFilesOfSkillsAreRefused(t *testing.T) {
	root := worlds.Tree(t, "own/skills/a/SKILL.md", "own/skills/a/fsm.json", "p/.claude/commands/c/d/fsm.json", "plug/.claude-plugin/",
		"plug/commands/c/fsm.json",
		"config/plugins/cache/x/skills/s/fsm.json", "src/fsm.json", "src/skills/fsm.json", "link -> own/skills/a",
		"alias.json -> own/skills/a/fsm.json", "src/readme.md")
	for _, c := range []struct {
		tool, input string
		denied      bool
	}{
		{"Read", `{"file_path":"own/skills/a/fsm.json"}`, true},
		{"Read", `{"file_path":"own/skills/a/../a/FSM.json"}`, true},
		{"Read", `{"file_path":"%s/own/skills/a/fsm.json"}`, true},
		{"Read", `{"file_path":"link/fsm.json"}`, true},
		{"Read", `{"file_path":"alias.json"}`, true},
		{"Read", `{"file_path":"p/.claude/commands/c/d/fsm.json"}`, true},
		{"Read", `{"file_path":"plug/commands/c/fsm.json"}`, true},
		{"Read", `{"file_path":"config/plugins/cache/x/skills/s/fsm.json"}`, true},
		{"Read", `{"file_path":"own/skills/a/SKILL.md"}`, false},
		{"Read", `{"file_path":"src/fsm.json"}`, false},
		{"Read", `{"file_path":"src/skills/fsm.json"}`, false},
		{"Read", `{"file_path":"src/readme.md"}`, false},
		{"Read", `{}`, false},
		{"Glob", `{"pattern":"**/fsm.json"}`, true},
		{"Glob", `{"pattern":"skills/*/fsm.json","path":"own"}`, true},
		{"Glob", `{"pattern":"fsm.json","path":"own/skills/a"}`, true},
		{"Glob", `{"pattern":"src/fsm.json"}`, false},
		{"Glob", `{"pattern":"**/*.json"}`, false},
		{"Grep", `{"pattern":"subject","path":"own/skills/a/fsm.json"}`, true},
		{"Grep", `{"pattern":"subject","glob":"**/fsm.json"}`, true},
		{"Grep", `{"pattern":"fsm.json"}`, false},
		{"Grep", `{"pattern":"subject","path":"own"}`, false},
		{"Write", `{"file_path":"own/skills/a/fsm.json"}`, false},
	} {
		input := fmt.Sprintf(`{"cwd":%q,"tool_name":%q,"tool_input":%s}`, root, c.tool, strings.ReplaceAll(c.input, "%s", root))
		vars := map[string]string{"CLAUDE_CONFIG_DIR": root + "/config"}
		a := runSkillFiles(input, vars)
		if !c.denied {
			assert.Equal(t, client.Answer{}, a, "%s %s", c.tool, c.input)
			continue
		}
		assert.Equal(t, client.ExitBlock, a.Exit, "%s %s", c.tool, c.input)
		assert.Contains(t, a.Output, `"permissionDecision": "deny"`)
		assert.Contains(t, a.ErrorText, "TaskList")
		vars[SkillFilesBypass] = "1"
		assert.Equal(t, client.Answer{}, runSkillFiles(input, vars), "bypassed")
	}
}

// With neither CLAUDE_CONFIG_DIR nor HOME nothing belongs to the client's
// configuration.
func TestSkillFilesWithoutAConfigurationDirectory(t *testing.T) {
	root := worlds.Tree(t, "config/skills/a/fsm.json", "skills/a/SKILL.md")
	read := func(path string) string {
		return fmt.Sprintf(`{"cwd":%q,"tool_name":"Read","tool_input":{"file_path":%q}}`, root, path)
	}
	assert.Equal(t, client.Answer{}, runSkillFiles(read("config/skills/a/fsm.json"), nil))
	assert.Equal(t, client.ExitBlock, runSkillFiles(read("config/skills/a/fsm.json"),
		map[string]string{"HOME": root, "CLAUDE_CONFIG_DIR": root + "/config"}).Exit)
	assert.Equal(t, client.ExitBlock, runSkillFiles(read("skills/a/fsm.json"), nil).Exit)
}

func TestSkillFilesInAnUnreadableEvent(t *testing.T) {
	a := runSkillFiles("{", nil)
	assert.Zero(t, a.Exit)
	assert.Empty(t, a.ErrorText)
	assert.Contains(t, a.Output, `{"systemMessage": "fsmtx guard skill-files could not read its input and let the call pass: the event on `+
		`standard input is not valid JSON: 1:2: `)
}

func TestTheHookOfSkillFiles(t *testing.T) {
	assert.Equal(t, []settings.Hook{{Event: "PreToolUse", Matcher: "Read|Glob|Grep", Command: "program",
		Args: []string{"guard", "skill-files"}, Timeout: 3}}, SkillFileHooks("program"))
}

type panics struct{}

func (panics) Read([]byte) (int, error) { panic("a bug") }

func TestAPanicOfTheGuardOfSkillFilesLetsTheCallPass(t *testing.T) {
	answer := RunSkillFiles(panics{}, func(string) (string, bool) { return "", false })
	assert.Equal(t, client.ExitOK, answer.Exit)
	assert.Contains(t, answer.Output, "internal error: a bug")
}
