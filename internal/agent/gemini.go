package agent

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
		Hooks:       Files{User: ".gemini/settings.json", Project: ".gemini/settings.json", Comments: true},
		Server:      Files{User: ".gemini/settings.json", Project: ".gemini/settings.json"}, ServerPath: []string{"mcpServers"},
		Demands: Demands{
			Unmet: untrustedByGemini,
			Project: "Gemini CLI reads this file only in a folder that you trust (/permissions trust, or ~/.gemini/trustedFolders.json); " +
				"--skip-trust alone is not enough",
		},
		Home:    Home{"", "GEMINI_CLI_HOME"},
		Skills:  Dirs{Project: []string{".gemini/skills", ".agents/skills"}, User: []string{".gemini/skills", ".agents/skills"}},
		heading: heading{named: filled, described: given}, off: offInGemini,
		obstacles: obstaclesOfGemini, serverOff: serverOffInGemini,
		plugins: extensions(".gemini", "gemini"),
		mine: func(e *event.Event) bool {
			return strings.HasPrefix(e.Name, "Before") || strings.HasPrefix(e.Name, "After") || strings.Contains(e.TranscriptPath, "/.gemini/")
		},
		take:   tool{"activate_skill", "name"},
		shells: []string{"run_shell_command"}, edits: []string{"write_file", "replace"},
		typed: "/", denies: topLevel,
	}
}

// untrustedByGemini reports whether the person does not trust the project's folder.
func untrustedByGemini(t Trust) bool { return t.Project != "" && !trustedByGemini(t) }

// trustedByGemini reports whether Gemini CLI takes a folder for trusted. Measured with 0.61.0: variables come
// first; the longest rule that reaches the folder counts, where links lead; TRUST_PARENT is about the folder above.
// --skip-trust sets a variable, which trusts the folder's skills, but not its settings.
func trustedByGemini(t Trust) bool {
	word := t.env("GEMINI_CLI_TRUST_WORKSPACE")
	if word == "false" || t.env("GEMINI_RESTRICTED_MODE") == "true" {
		return false
	}
	if word == "true" {
		return true
	}
	trust := jsonx.Member(jsonx.Member(readPlain(filepath.Join(t.Config, ".gemini", "settings.json")), "security"), "folderTrust")
	if isFalse(jsonx.Member(trust, "enabled")) {
		return true
	}
	rules := map[string]string{}
	readCommented(cmp.Or(t.env("GEMINI_CLI_TRUSTED_FOLDERS_PATH"), filepath.Join(t.Config, ".gemini", "trustedFolders.json")), &rules)
	longest, level := "", ""
	for _, folder := range slices.Sorted(maps.Keys(rules)) {
		top := folder
		if rules[folder] == "TRUST_PARENT" {
			top = filepath.Dir(folder)
		}
		below, err := filepath.Rel(safefile.Resolve(top), safefile.Resolve(t.Dir))
		if err == nil && filepath.IsLocal(below) && len(folder) > len(longest) {
			longest, level = folder, rules[folder]
		}
	}
	return strings.HasPrefix(level, "TRUST_")
}

// settingsOfGemini returns the settings files that count in a folder. What the first one says wins. Other
// files than these two, such as the system's, are not read.
func settingsOfGemini(t Trust) (files []string) {
	if trustedByGemini(t) {
		files = append(files, filepath.Join(t.Dir, ".gemini", "settings.json"))
	}
	return append(files, filepath.Join(t.Config, ".gemini", "settings.json"))
}
