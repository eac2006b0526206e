package hooks

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// ErrAgent is returned for a file that may be any agent's.
var ErrAgent = errors.New("the directory does not tell which agent reads this file")

// AgentOf returns the dialect of the agent in whose directory a file is, or to whose plugin it belongs. A skill is Claude Code's.
//
// Errors: ErrAgent, or that the file cannot be read.
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
	if isSkillFile(path) {
		return dialect.Claude(), nil
	}
	if filepath.Base(dir) == "hooks" || isManifest(path) {
		dir = filepath.Dir(dir)
	}
	if agent, ok := agentOfPlugin(dir); ok && isHooksFile(path) {
		return agent, nil
	}
	if _, err := safefile.ReadFile(path, maxFile, 0); err != nil {
		return d, err
	}
	return d, ErrAgent
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
