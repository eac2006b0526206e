package guard

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSkillFiles(t *testing.T) {
	root := tree(t, "own/skills/a/SKILL.md", "own/skills/a/fsm.json", "p/.claude/commands/c/d/fsm.json", "plug/.claude-plugin/", "plug/commands/c/fsm.json",
		"config/plugins/cache/x/skills/s/fsm.json", "src/fsm.json", "src/skills/fsm.json", "link -> own/skills/a", "alias.json -> own/skills/a/fsm.json", "src/readme.md")
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
		input := c.input
		if bytes.Contains([]byte(input), []byte("%s")) {
			input = fmt.Sprintf(input, root)
		}
		b := newBench(t, nil)
		b.env["CLAUDE_CONFIG_DIR"] = root + "/config"
		event := fmt.Sprintf(`{"cwd":%q,"tool_name":%q,"tool_input":%s}`, root, c.tool, input)
		var out, errs bytes.Buffer
		code, err := SkillFiles(b.streams(event, &out, &errs))
		assert.NoError(t, err)
		assert.Equal(t, c.denied, code == 2, "%s %s", c.tool, c.input)
		assert.Equal(t, c.denied, out.Len() > 0)
		if !c.denied {
			continue
		}
		assert.Contains(t, out.String(), `"permissionDecision": "deny"`)
		assert.Contains(t, errs.String(), "TaskList")
		b.env[SkillFilesBypass] = "1"
		out.Reset()
		code, err = SkillFiles(b.streams(event, &out, &errs))
		assert.NoError(t, err)
		assert.Equal(t, 0, code)
		assert.Empty(t, out.String())
	}
}

func TestSkillFilesFailsOpen(t *testing.T) {
	b := newBench(t, nil)
	var out, errs bytes.Buffer
	code, err := SkillFiles(b.streams("{", &out, &errs))
	assert.NoError(t, err)
	assert.Equal(t, 0, code)
	assert.Contains(t, out.String(), `"systemMessage"`)
}
