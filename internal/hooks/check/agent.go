package check

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
)

// errAgent is returned for a file that may be any agent's.
var errAgent = errors.New("the directory does not tell which agent reads this file")

// AgentOf returns the dialect of the agent in whose directory a file is, or to whose plugin it belongs. A skill is Claude Code's.
func AgentOf(path string) (d dialect.Dialect, err error) {
	dir := filepath.Dir(path)
	if abs, err := filepath.Abs(path); err == nil {
		dir = filepath.Dir(abs)
	}
	for _, d := range dialect.All() {
		if filepath.Base(dir) == "."+d.Name {
			return d, nil
		}
	}
	if hooks.IsSkillFile(path) {
		return dialect.Claude(), nil
	}
	if filepath.Base(dir) == "hooks" || hooks.IsManifest(path) {
		dir = filepath.Dir(dir)
	}
	if agent, ok := agentOfPlugin(dir); ok && hooks.IsHooksFile(path) {
		return agent, nil
	}
	return d, fmt.Errorf("%s: %w", path, errAgent)
}

// agentOfPlugin returns the dialect of the agent that knows a directory as a plugin or an
// extension, by its manifest.
func agentOfPlugin(dir string) (d dialect.Dialect, ok bool) {
	for _, m := range []struct {
		file  string
		agent func() dialect.Dialect
	}{
		{".claude-plugin/plugin.json", dialect.Claude},
		{".codex-plugin/plugin.json", dialect.Codex},
		{"gemini-extension.json", dialect.Gemini},
		{"llxprt-extension.json", dialect.LLxprt},
	} {
		if _, err := os.Stat(filepath.Join(dir, m.file)); err == nil {
			return m.agent(), true
		}
	}
	return dialect.Dialect{}, false
}
