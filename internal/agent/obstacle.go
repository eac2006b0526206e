package agent

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/jsonx/commented"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// Obstacle is what keeps an agent from running the hooks of a file or from starting the server, for people. The
// agent does not report it in its sessions.
type Obstacle struct{ What, Remedy string }

// ServerObstacles returns what keeps the agent from starting the server that a file has. Each was measured with the
// agent's Version.
func (a *Agent) ServerObstacles(t Trust) []Obstacle {
	if a.serverOff == nil {
		return nil
	}
	return a.serverOff(t)
}

// serverOffInCodex: a member of the server.
func serverOffInCodex(t Trust) []Obstacle {
	config, _ := decode(t.Data)
	if config.server()["enabled"] != false {
		return nil
	}
	return []Obstacle{{`"enabled" of the server is false in ` + t.File, "set it to true, or take it out"}}
}

// serverOffInOpenCode: a member of the server.
func serverOffInOpenCode(t Trust) []Obstacle {
	config, _ := commented.Plain(t.Data)
	if jsonx.Member(jsonx.Member(jsonx.Member(config, "mcp"), serverName), "enabled").Kind() != 'f' {
		return nil
	}
	return []Obstacle{{`"enabled" of the server is false in ` + t.File, "set it to true, or take it out"}}
}

// serverOffInGemini: the lists of all settings, and the person's list of disabled servers. Gemini CLI compares
// names without regard to case (0.61.0).
func serverOffInGemini(t Trust) (all []Obstacle) {
	for _, file := range settingsOfGemini(t) {
		var lists struct {
			Allowed  []string `json:"allowed"`
			Excluded []string `json:"excluded"`
		}
		_ = json.Unmarshal(jsonx.Member(readPlain(file), "mcp"), &lists, jsonx.Tolerant)
		if slices.ContainsFunc(lists.Excluded, isServer) {
			all = append(all, Obstacle{`"excluded" of "mcp" names it in ` + file, "take it out of the list"})
		}
		if len(lists.Allowed) > 0 && !slices.ContainsFunc(lists.Allowed, isServer) {
			all = append(all, Obstacle{`"allowed" of "mcp" does not name it in ` + file, "add " + serverName + " to the list"})
		}
	}
	file := filepath.Join(t.Config, ".gemini", "mcp-server-enablement.json") // of gemini mcp disable
	if isFalse(jsonx.Member(jsonx.Member(readPlain(file), serverName), "enabled")) {
		all = append(all, Obstacle{"it is disabled in " + file, "enable it: gemini mcp enable " + serverName})
	}
	return all
}

func isServer(name string) bool { return strings.EqualFold(strings.TrimSpace(name), serverName) }

// Obstacles returns what keeps the agent from running the hooks of a file, but for what it demands of the
// person. Each was measured with the agent's Version.
func (a *Agent) Obstacles(t Trust) (all []Obstacle) {
	if bytes.HasPrefix(t.Data, []byte(mark)) && !a.Hooks.Marked {
		all = append(all, Obstacle{t.File + " begins with a byte order mark, and " + a.Title + " does not read it then", "take the mark out"})
	}
	if a.obstacles != nil {
		all = append(all, a.obstacles(t)...)
	}
	return all
}

const disableAll = "disableAllHooks"

// allDisabled is the obstacle that disableAll has a value in a file.
func allDisabled(file, value string) Obstacle {
	return Obstacle{fmt.Sprintf("%q is %s in %s", disableAll, value, file), "take it out of the file"}
}

// obstaclesOfCodex: a feature of the person, or of a project that is trusted, which wins; and what
// hooks.json must not have.
func obstaclesOfCodex(t Trust) (all []Obstacle) {
	files := []string{filepath.Join(t.Config, "config.toml")}
	config := readTOML(files[0])
	if config.at("projects", t.Dir)["trust_level"] == "trusted" {
		files = append([]string{filepath.Join(t.Dir, ".codex", "config.toml")}, files...)
	}
	for _, file := range files {
		on, known := readTOML(file).at("features")["hooks"]
		if old, is := readTOML(file).at("features")["codex_hooks"]; is && !known {
			on, known = old, is
		}
		if on == false {
			all = append(all, Obstacle{"the feature hooks is false in " + file, "set it to true: codex features enable hooks"})
		}
		if known {
			break
		}
	}
	members, _ := jsonx.Members(bytes.TrimPrefix(t.Data, []byte(mark)))
	for name := range members {
		if name != "hooks" && name != "description" {
			all = append(all, Obstacle{fmt.Sprintf("%s has %q, which Codex does not know, and so it does not read the file", t.File, name),
				"take it out of the file"})
		}
	}
	return all
}

// obstaclesOfCopilot: the file itself, and the settings of the project that it shares with Claude Code or has
// for itself. A word of another kind makes the file invalid.
func obstaclesOfCopilot(t Trust) (all []Obstacle) {
	if off := jsonx.Member(t.Data, disableAll); off != nil && off.Kind() != 'f' {
		all = append(all, allDisabled(t.File, string(off)))
	}
	for _, name := range []string{".github/copilot/settings.json", ".github/copilot/settings.local.json", ".claude/settings.json",
		".claude/settings.local.json"} {
		file := filepath.Join(t.Dir, name)
		if jsonx.Member(readPlain(file), disableAll).Kind() == 't' {
			all = append(all, allDisabled(file, "true"))
		}
	}
	return all
}

// obstaclesOfGemini: the settings of the person, or of a project that they trust, which win for "enabled". The
// lists of both count.
func obstaclesOfGemini(t Trust) (all []Obstacle) {
	known := false
	for _, file := range settingsOfGemini(t) {
		config := jsonx.Member(readPlain(file), "hooksConfig")
		enabled := jsonx.Member(config, "enabled")
		if !known && isFalse(enabled) {
			all = append(all, Obstacle{`"enabled" of "hooksConfig" is false in ` + file, "set it to true, or take it out"})
		}
		known = known || enabled != nil
		var disabled []string
		_ = json.Unmarshal(jsonx.Member(config, "disabled"), &disabled, jsonx.Tolerant)
		for _, command := range disabled {
			if strings.Contains(command, " hook --agent=gemini") && strings.Contains(string(t.Data), string(quoted(command))) {
				all = append(all, Obstacle{`"disabled" of "hooksConfig" in ` + file + " names them", "take the command out of the list"})
			}
		}
	}
	return all
}

// obstaclesOfQwen: the settings of the person or of the project, which win. Any word but false counts.
func obstaclesOfQwen(t Trust) []Obstacle {
	for _, file := range []string{filepath.Join(t.Dir, ".qwen", "settings.json"), filepath.Join(t.Config, "settings.json")} {
		switch off := jsonx.Member(readPlain(file), disableAll); {
		case off.Kind() == 'f':
			return nil
		case off != nil:
			return []Obstacle{allDisabled(file, string(off))}
		}
	}
	return nil
}

// readTOML returns the tables of a file, none if it cannot be read.
func readTOML(file string) tables {
	data, err := safefile.ReadFile(file, maxConfig, 0)
	if err != nil {
		return nil
	}
	config, _ := decode(data)
	return config
}

// readPlain returns a JSON file, which may have comments, nil if it cannot be read.
func readPlain(file string) (value jsontext.Value) {
	readCommented(file, &value)
	return value
}

// isFalse reports whether a switch is off. Gemini CLI takes the word too.
func isFalse(value jsontext.Value) bool { return value.Kind() == 'f' || string(value) == `"false"` }

func quoted(text string) jsontext.Value {
	value, _ := json.Marshal(text)
	return value
}
