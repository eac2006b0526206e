package settings

import (
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// Elicitation stands for the questions of MCP servers, as the tool that a hook may answer for.
const Elicitation = "Elicitation"

// Answerer is a hook that may answer for the person. What it answers is known only to the hook.
type Answerer struct {
	Event string
	Place string // file and line
	Sum   string // of what it is
	Ours  bool   // it runs this program
}

// Answerers returns the hooks in the settings that may answer for the person when the client asks about a call of the tool (fact
// 164), when the agent asks by it, or a server by Elicitation. Hooks of plugins are in AnswerersOfPlugins.
func (s Effective) Answerers(tool string) (all []Answerer) {
	for _, f := range slices.Concat(s.managed, s.flag, s.others) {
		all = append(all, f.answerers(tool)...)
	}
	return all
}

// AnswerersOfPlugins is Answerers of the hooks of plugins, which are in these directories: of
// those in hooks/hooks.json, in the manifest, and in the files that the manifest names.
func AnswerersOfPlugins(fsys safefile.FS, roots []string, tool string) (all []Answerer) {
	for _, f := range filesOfPlugins(fsys, roots) {
		all = append(all, f.answerers(tool)...)
	}
	return all
}

// filesOfPlugins returns the files from which the client takes the hooks of plugins.
func filesOfPlugins(fsys safefile.FS, roots []string) (all []file) {
	for _, root := range roots {
		manifest := read(fsys, filepath.Join(root, filepath.FromSlash(client.ManifestPath)), User)
		files := []file{read(fsys, filepath.Join(root, "hooks", "hooks.json"), User), manifest}
		listed, _ := manifest.member("hooks")
		for _, value := range append(items(listed), listed) {
			var path string
			if value.Kind() == '{' {
				files = append(files, file{path: manifest.path, data: fmt.Appendf(nil, `{"hooks": %s}`, value)})
			} else if json.Unmarshal(value, &path, jsonx.Tolerant) == nil && path != "" {
				files = append(files, read(fsys, filepath.Join(root, filepath.FromSlash(path)), User))
			}
		}
		all = append(all, files...)
	}
	return all
}

// answerers returns the hooks in the file that may answer for the tool.
func (f file) answerers(tool string) (all []Answerer) {
	hooks, at := f.member("hooks")
	for _, event := range answering(tool) {
		groups, below := file{data: hooks}.member(event)
		for _, group := range items(groups) {
			if tool == Elicitation || matches(jsonx.StringMember(group, "matcher"), tool) {
				_ = group.Canonicalize() // a client that writes the file again changes its spaces
				entry := append([]byte(`{"hooks":{"`+event+`":[`), append(slices.Clone(group), "]}}"...)...)
				hooks, calls, is := items(jsonx.Member(group, "hooks")), Calls(entry), string(group)
				if len(hooks) == 1 && len(calls) == 1 && jsonx.StringMember(hooks[0], "type") == "command" &&
					(isHook(calls[0].Args, ofClaude) || calls[0].Runs("guard")) {
					is = calls[0].Command // it answers nothing, and fsmtx install changes its flags and tools
				}
				all = append(all, Answerer{event, fmt.Sprintf("%s:%d", f.path, at+below-1),
					fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(event+is))), len(calls) > 0})
			}
		}
	}
	return all
}

// answering returns the events whose hooks may answer for a tool.
func answering(tool string) []string {
	switch tool {
	case Elicitation:
		return []string{"Elicitation", "ElicitationResult"}
	case client.QuestionTool:
		return []string{"PreToolUse", "PermissionRequest"}
	}
	return []string{"PermissionRequest"}
}

// matches reports whether a matcher may select the tool: one that is not a list of names is a
// regular expression, which is taken to select it.
func matches(matcher, tool string) bool {
	isOther := func(r rune) bool {
		return r != '_' && r != '|' && r != ',' && r != ' ' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	}
	if matcher == "" || strings.ContainsFunc(matcher, isOther) {
		return true
	}
	return slices.Contains(strings.FieldsFunc(matcher, func(r rune) bool { return strings.ContainsRune("|, ", r) }), tool)
}
