package agent

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// Gemini is the Gemini CLI.
//
// It has names of its own for events and tools, counts time limits in milliseconds, reads a
// refusal at the top level, and never ends a turn whose hook always blocks. Its shell tool
// refuses $(…) and backticks, so no text may ask the model to type them.
func Gemini() *Agent {
	return &Agent{
		Name: "gemini", Title: "Gemini CLI", Version: "0.61.0",
		Registrations: []Registration{
			{"SessionStart", "", Start},
			{"BeforeAgent", "", Prompt},
			{"BeforeTool", "", Before},
			{"AfterTool", "activate_skill", After},
			{"AfterAgent", "", Stop},
		},
		TimeoutUnit: time.Millisecond,
		Hooks:       Files{User: ".gemini/settings.json", Project: ".gemini/settings.json"},
		Server:      Files{User: ".gemini/settings.json", Project: ".gemini/settings.json"}, ServerPath: []string{"mcpServers"},
		Demands: Demands{
			Unmet: untrustedByGemini,
			Project: "Gemini CLI reads this file only in a folder that you trust (/permissions trust, or ~/.gemini/trustedFolders.json); " +
				"--skip-trust alone is not enough",
		},
		Home:    Home{"", "GEMINI_CLI_HOME"},
		Skills:  Dirs{Project: []string{".gemini/skills", ".agents/skills"}, User: []string{".gemini/skills", ".agents/skills"}},
		heading: heading{named: filled, described: given}, off: offInGemini,
		plugins: extensions(".gemini", "gemini"),
		mine: func(e *event.Event) bool {
			return strings.HasPrefix(e.Name, "Before") || strings.HasPrefix(e.Name, "After") || strings.Contains(e.TranscriptPath, "/.gemini/")
		},
		take:   tool{"activate_skill", "name"},
		shells: []string{"run_shell_command"}, edits: []string{"write_file", "replace"},
		typed: "/", denies: topLevel,
		tasks: trackerOf, update: trackerUpdate,
	}
}

// untrustedByGemini reports whether the project's folder is not among those that the person
// trusts. A parent that is trusted counts; what its settings say otherwise is not read.
func untrustedByGemini(t Trust) bool {
	if t.Project == "" {
		return false
	}
	trusted := map[string]string{}
	if data, err := safefile.ReadFile(filepath.Join(t.Config, ".gemini", "trustedFolders.json"), maxConfig, 0); err == nil {
		_ = json.Unmarshal(data, &trusted, jsonx.Tolerant)
	}
	for dir := t.Project; ; dir = filepath.Dir(dir) {
		if strings.HasPrefix(trusted[dir], "TRUST_") {
			return false
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	settings, err := safefile.ReadFile(filepath.Join(t.Config, ".gemini", "settings.json"), maxConfig, 0)
	trust := jsonx.Member(jsonx.Member(jsonx.Member(settings, "security"), "folderTrust"), "enabled")
	return err != nil || trust.Kind() != 'f'
}
