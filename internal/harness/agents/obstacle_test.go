//go:build agents

package agents_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/harness/agents"
	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

// TestObstacles: an agent runs no hook exactly where package agent knows an obstacle.
func TestObstacles(t *testing.T) {
	cases := map[string][][2]string{ // files, and texts; + appends one
		"codex": {
			{"home/.codex/config.toml", "+\n[features]\nhooks = false\n"}, {"project/.codex/config.toml", "[features]\ncodex_hooks = false\n"},
			{"home/.codex/hooks.json", `{"version": 1, "hooks": HOOKS}`}, {"home/.codex/hooks.json", `{"description": "", "hooks": HOOKS}`},
		},
		"copilot": {
			{"home/.copilot/hooks/hooks.json", `{"version": 1, "disableAllHooks": true, "hooks": HOOKS}`},
			{"project/.claude/settings.json", `{"disableAllHooks": true}`}, {"home/.copilot/settings.json", `{"disableAllHooks": true}`},
			{"home/.copilot/hooks/hooks.json", "\ufeff" + `{"version": 1, "hooks": HOOKS}`},
		},
		"gemini": {
			{"home/.gemini/settings.json", `{"security": {"auth": {"selectedType": "gemini-api-key"}},
				"hooksConfig": {"enabled": false}, "hooks": HOOKS}`},
			{"project/.gemini/settings.json", `{"hooksConfig": {"enabled": false}}`},
		},
		"qwen": {
			{"home/.qwen/settings.json", `{"disableAllHooks": true, "hooks": HOOKS}`}, {"project/.qwen/settings.json", `{"disableAllHooks": true}`},
			{"home/.qwen/settings.json", "\ufeff" + `{"hooks": HOOKS}`},
		},
	}
	each(t, func(t *testing.T, a *agents.Agent) {
		for _, one := range append(cases[a.Program], [2]string{"project/nothing", ""}) {
			t.Run(one[0], func(t *testing.T) {
				w := a.New(t)
				ran := w.Path("home/ran")
				hooks := `{"` + a.Events[1] + `": [{"hooks": [{"type": "command", "command": "touch ` + ran + `"}]}]}`
				w.WriteHooks(hooks)
				text := strings.NewReplacer("HOOKS", hooks).Replace(one[1])
				if more, is := strings.CutPrefix(text, "+"); is {
					w.Append(one[0], more)
				} else {
					w.Write(one[0], text)
				}
				data, err := os.ReadFile(w.Path(a.HooksFile()))
				require.NoError(t, err)
				known := agent.Named(a.Program)
				home := func(name string) (string, bool) {
					dir, is := map[string]string{"HOME": w.Home}[name]
					return dir, is
				}
				all := known.Obstacles(agent.Trust{File: w.Path(a.HooksFile()), Data: data, Dir: w.Project, Config: known.Home.In(home)})
				w.Prompt(Script{Main: []Turn{Say("bye")}}, "hello")
				_, err = os.Stat(ran)
				assert.Equal(t, err == nil, len(all) == 0, "%v", all)
			})
		}
	})
}
