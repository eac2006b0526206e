package check

import (
	"os"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/hooks/settings"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// AgentOf returns the dialect of the agent whose file this seems to be: of the directory that
// it is in, of the plugin that it belongs to, or the dialect that knows the most of its events.
// Where several know as many, such as SessionStart alone, it is Claude Code, whose files are the most.
// ok is false if the file has events, and no agent knows one of them.
func AgentOf(path string) (d dialect.Dialect, ok bool) {
	dir := filepath.Dir(path)
	if abs, err := filepath.Abs(path); err == nil {
		dir = filepath.Dir(abs)
	}
	switch filepath.Base(dir) {
	case ".claude":
		return dialect.Claude(), true
	case ".codex":
		return dialect.Codex(), true
	case ".gemini":
		return dialect.Gemini(), true
	case ".llxprt":
		return dialect.LLxprt(), true
	}
	if settings.IsSkillFile(path) {
		return dialect.Claude(), true
	}
	if settings.IsHooksFile(path) {
		if filepath.Base(dir) == "hooks" || settings.IsManifest(path) {
			dir = filepath.Dir(dir)
		}
		if agent, ok := agentOfPlugin(dir); ok {
			return agent, true
		}
	}
	return knowsMost(eventsIn(path))
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

// eventsIn returns the names of the events in a file; nil if it cannot be read.
func eventsIn(path string) (names []string) {
	data, err := safefile.ReadFile(path, settings.MaxFile, 0)
	if err != nil {
		return nil
	}
	text, err := settings.Parse(dialect.LLxprt(), data) // which allows comments
	if err != nil {
		return nil
	}
	events, _ := jsonx.Members(jsonx.Member(text, "hooks"))
	for name := range events {
		names = append(names, name)
	}
	return names
}

// knowsMost returns the first of the dialects that knows the most of the events. ok is false if
// none knows one of them.
func knowsMost(events []string) (best dialect.Dialect, ok bool) {
	most := -1
	for _, d := range []dialect.Dialect{dialect.Claude(), dialect.LLxprt(), dialect.Gemini(), dialect.Codex()} {
		known := 0
		for _, name := range events {
			if _, ok := d.Event(name); ok {
				known++
			}
		}
		if known > most {
			best, most = d, known
		}
	}
	return best, most > 0 || len(events) == 0
}
