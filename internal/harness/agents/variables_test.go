//go:build agents

package agents_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/agents"
	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
)

// TestVariablesOfHooks: the person's hooks and those of a plugin have the variables of the dialect's table, and run in the
// directory in which the agent was started.
func TestVariablesOfHooks(t *testing.T) {
	each(t, func(t *testing.T, a *agents.Agent) {
		d, err := dialect.Named(a.Program)
		if err != nil {
			t.Skip("skipped: there is no dialect")
		}
		w := a.New(t)
		record := func(place string) string {
			return hooksOn(t, a.Events, map[string]any{"type": "command",
				"command": fmt.Sprintf(`(env; pwd; echo "extensionPath=${extensionPath}"; echo "workspacePath=${workspacePath}") > %s; cat > /dev/null`,
					filepath.Join(w.Home, place))})
		}
		w.WriteHooks(record("of-person"))
		w.Write(w.PluginFile("hooks/hooks.json"), `{"hooks": `+record("of-plugin")+`}`)
		_, ok := w.AddPlugin("x", "my-skill", map[string]string{"SKILL.md": "---\nname: my-skill\ndescription: d\n---\n"})
		require.True(t, ok)
		w.Write("project/sub/file", "")
		w.Project = w.Path("project/sub")
		w.Prompt(Script{Main: []Turn{Do(a.Bash("b", "cd .. && pwd")), Say("bye")}}, "go")
		for place, h := range map[string]hooks.Hook{"of-person": {}, "of-plugin": {Root: "x"}} {
			text, err := os.ReadFile(filepath.Join(w.Home, place))
			require.NoError(t, err)
			assert.Contains(t, string(text), "\n"+w.Project+"\n", place)
			for _, v := range d.Hooks.Variables {
				_, after, _ := strings.Cut("\n"+string(text), "\n"+v.Name+"=")
				value, _, _ := strings.Cut(after, "\n")
				assert.Equal(t, h.Sets(d, v.Name), value != "", "%s: %s", place, v.Name)
			}
			for line := range strings.Lines(string(text)) {
				if name, _, _ := strings.Cut(line, "="); strings.HasSuffix(name, "_ROOT") || strings.HasSuffix(name, "_DIR") {
					assert.True(t, h.Sets(d, name) || name == "CODEX_MANAGED_PACKAGE_ROOT", "%s: %s", place, name)
				}
			}
		}
	})
}
