//go:build fidelity

package fidelity

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
)

// TestVariablesOfClaudeCode: the hooks of settings, plugins and skills have the variables of the dialect's table, and run where
// the session is after a cd.
func TestVariablesOfClaudeCode(t *testing.T) {
	s, _ := sandboxOf(t, realclient.Version)
	s.Allow = []string{"Bash", "Skill"}
	record := func(place string) string {
		return fmt.Sprintf(`"PreToolUse": [{"hooks": [{"type": "command", "command": "(env; pwd) > %s"}]}]`, s.Path(place))
	}
	s.Write("project/.claude/settings.json", `{"hooks": {`+record("settings")+`}}`)
	s.Write("plug/.claude-plugin/plugin.json", `{"name": "plug", "version": "1.0.0"}`)
	s.Write("plug/hooks/hooks.json", `{"hooks": {`+record("plugin")+`}}`)
	s.Write("project/.claude/skills/sk/SKILL.md", "---\ndescription: d\nhooks: {"+record("skill")+"}\n---\nx\n")
	s.Write("project/sub/file", "")
	s.Try(Script{Main: []Turn{Do(Skill("s", "sk")), Do(Bash("b", "cd sub")), Do(Bash("c", "true")), Say("done")}}, "go",
		"--plugin-dir", s.Path("plug"))
	d := dialect.Claude()
	for place, h := range map[string]hooks.Hook{"settings": {}, "plugin": {Root: "x"}, "skill": {Root: "x", Skill: "sk"}} {
		text, err := os.ReadFile(s.Path(place))
		require.NoError(t, err)
		assert.Contains(t, string(text), "\n"+s.Project+"/sub\n", place)
		for _, v := range d.Hooks.Variables {
			assert.Equal(t, h.Sets(d, v.Name), strings.Contains("\n"+string(text), "\n"+v.Name+"="), "%s: %s", place, v.Name)
		}
		for line := range strings.Lines(string(text)) {
			if name, _, _ := strings.Cut(line, "="); strings.HasSuffix(name, "_ROOT") || name == "CLAUDE_SKILL_DIR" || name == "FILE_PATH" {
				assert.True(t, h.Sets(d, name), "%s: %s", place, name)
			}
		}
	}
}
