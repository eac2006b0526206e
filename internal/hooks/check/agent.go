package check

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/hooks/js"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// errAgent is returned for a file of an agent whose hooks are not known here.
var errAgent = errors.New("is not a file of LLxprt Code, Gemini CLI, Claude Code or Codex")

// AgentOf returns the dialect of the agent whose file this seems to be: of the directory that
// it is in, of the plugin that it belongs to, or the dialect that knows the most of its events.
// Where several know as many, such as SessionStart alone, it is Claude Code, whose files are the most.
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
	if hooks.IsHooksFile(path) {
		root := dir
		if filepath.Base(dir) == "hooks" || hooks.IsManifest(path) {
			root = filepath.Dir(dir)
		}
		if agent, ok := agentOfPlugin(root); ok {
			return agent, nil
		}
	}
	events := eventsIn(path)
	best, most := knowsMost(events)
	switch place := filepath.Base(filepath.Dir(dir)); {
	case filepath.Base(dir) == "hooks" && (place == ".github" || place == ".copilot"), len(events) > 0 && isFlat(events):
		return d, fmt.Errorf("%s: it %w, but in the form of GitHub Copilot", path, errAgent)
	case most == 0 && len(events) > 0:
		return d, fmt.Errorf("%s: it %w: they know none of its events", path, errAgent)
	}
	return best, nil
}

// isFlat reports whether the hooks stand in the events themselves and not in groups.
func isFlat(events map[string]jsontext.Value) bool {
	for _, value := range events {
		entries, _ := js.Array(value)
		for _, entry := range entries {
			if jsonx.Member(entry, "hooks") != nil {
				return false
			}
		}
	}
	return true
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

// eventsIn returns the events in a file; nil if it cannot be read.
func eventsIn(path string) map[string]jsontext.Value {
	data, err := safefile.ReadFile(path, hooks.MaxFile, 0)
	if err != nil {
		return nil
	}
	text, err := hooks.ParseFile(dialect.LLxprt(), data) // which allows comments
	if err != nil {
		return nil
	}
	events, _ := jsonx.Members(jsonx.Member(text, "hooks"))
	return events
}

// knowsMost returns the first of the dialects that knows the most of the events, and how many.
func knowsMost(events map[string]jsontext.Value) (best dialect.Dialect, most int) {
	most = -1
	for _, d := range []dialect.Dialect{dialect.Claude(), dialect.LLxprt(), dialect.Gemini(), dialect.Codex()} {
		known := 0
		for name := range events {
			if _, ok := d.Event(name); ok {
				known++
			}
		}
		if known > most {
			best, most = d, known
		}
	}
	return best, most
}
