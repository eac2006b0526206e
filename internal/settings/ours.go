package settings

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// Call is a call of this program by a hook in a settings file or in a plugin's hooks file.
type Call struct {
	Command string
	Args    []string
	Place   string // the file, for Effective.Calls and CallsOfPlugins
}

// Calls returns the calls of this program by the hooks in the settings.
func (s Effective) Calls() []Call { return callsIn(slices.Concat(s.managed, s.flag, s.others)) }

// CallsOfPlugins returns those by the hooks of plugins in these directories.
func CallsOfPlugins(fsys safefile.FS, roots []string) []Call {
	return callsIn(filesOfPlugins(fsys, roots))
}

func callsIn(files []file) (all []Call) {
	for _, f := range files {
		for _, c := range Calls(f.data) {
			c.Place = f.path
			all = append(all, c)
		}
	}
	return all
}

// Runs reports whether the hook calls this subcommand.
func (c Call) Runs(name string) bool { return len(c.Args) > 0 && c.Args[0] == name }

// Hydrates reports whether the hook puts the workflows of skills into the task list.
func (c Call) Hydrates() bool { return isHook(c.Args, ofClaude) }

// Enforces reports whether the hook enforces the steps of workflows.
func (c Call) Enforces() bool {
	return isHook(c.Args, ofClaude) && !c.Runs("hydrate") && !slices.Contains(c.Args, "--steps=off")
}

// Calls returns the calls of this program in a file with hooks. What is not valid has none.
func Calls(data []byte) (calls []Call) {
	var file struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string   `json:"command"`
				Args    []string `json:"args"`
			} `json:"hooks"`
		} `json:"hooks"`
	}
	_ = json.Unmarshal(bytes.TrimPrefix(data, []byte(bom)), &file, jsonx.Tolerant) // values of an unexpected shape are not our hooks
	for _, groups := range file.Hooks {
		for _, group := range groups {
			for _, h := range group.Hooks {
				if program, args := Called(h.Command, h.Args); IsNamed(program) {
					calls = append(calls, Call{program, args, ""})
				}
			}
		}
	}
	return calls
}

// EnforcedTools returns the tools about which the hooks of steps in these files decide, and whether there are
// such hooks.
func EnforcedTools(files []string) (have Only, enforced bool) {
	for _, path := range files {
		data, err := safefile.ReadFile(path, MaxBytes, 0)
		if err != nil {
			continue
		}
		if only, err := FindOnly(data); err == nil {
			have = have.With(only)
		}
		enforced = enforced || slices.ContainsFunc(Calls(data), Call.Enforces)
	}
	return have, enforced
}

// Opens says how the hooks of steps in a file, which may be a plugin's, let steps through if the program is broken. It is
// empty if they do not, and if there are none.
func Opens(data []byte) string {
	doc, err := parse(data)
	if err != nil {
		return ""
	}
	wanted := Hooks(Program, nil, Duty{})
	found, _ := doc.entries(wanted)
	for _, e := range found {
		if e.event != client.PreToolUse || !strings.Contains(e.matcher, steppingTool) || strings.Contains(e.matcher, otherTaskTools) {
			continue
		}
		if e.onFailure != "block" || e.line != "" && !strings.Contains(e.line, string(shell.Refuse)) {
			return "the entry of " + steppingTool + " lets steps through if the program is broken"
		}
	}
	return ""
}
