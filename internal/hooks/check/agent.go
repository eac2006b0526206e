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
// Where several know as many, such as SessionStart alone, it is Claude Code, whose files are the most;
// a settings file without events is LLxprt Code's.
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
	likely := []dialect.Dialect{dialect.LLxprt(), dialect.Gemini(), dialect.Claude(), dialect.Codex()}
	if settings.IsHooksFile(path) {
		likely = []dialect.Dialect{dialect.Claude(), dialect.Codex(), dialect.LLxprt(), dialect.Gemini()}
		if filepath.Base(dir) == "hooks" || settings.IsManifest(path) {
			dir = filepath.Dir(dir)
		}
		if agent, ok := agentOfPlugin(dir); ok {
			return agent, true
		}
	}
	events, isObject := eventsIn(path)
	if len(events) > 0 || !isObject {
		likely = []dialect.Dialect{dialect.Claude(), dialect.LLxprt(), dialect.Gemini(), dialect.Codex()}
	}
	return knowsMost(likely, events)
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

// eventsIn returns the names of the events in a file; nil if it cannot be read. isObject is false if
// the file's member hooks is of another type, as in a part of a settings file.
func eventsIn(path string) (names []string, isObject bool) {
	data, err := safefile.ReadFile(path, settings.MaxFile, 0)
	if err != nil {
		return nil, true
	}
	text, err := settings.Parse(dialect.LLxprt(), data) // which allows comments
	if err != nil {
		return nil, true
	}
	member := jsonx.Member(text, "hooks")
	events, _ := jsonx.Members(member)
	for name := range events {
		names = append(names, name)
	}
	return names, len(member) == 0 || member.Kind() == '{'
}

// knowsMost returns the first of the dialects that knows the most of the events. ok is false if
// none knows one of them.
func knowsMost(all []dialect.Dialect, events []string) (best dialect.Dialect, ok bool) {
	most := 0
	for _, d := range all {
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
	if most == 0 {
		return all[0], len(events) == 0
	}
	return best, true
}
