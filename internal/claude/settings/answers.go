package settings

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/claude/plugins"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// AnswersFor returns the file and line of a hook of PermissionRequest that may answer for the
// person when the client asks about a call of the tool (fact 164), "" if the settings have none.
// What the hook answers is known only to the hook. Hooks of plugins are in AnswersOfPlugins.
func (s Effective) AnswersFor(tool string) string {
	for _, f := range slices.Concat(s.managed, s.flag, s.others) {
		if at := f.answers(tool); at != "" {
			return at
		}
	}
	return ""
}

// AnswersOfPlugins is AnswersFor of the hooks of plugins, which are in these directories: of
// those in hooks/hooks.json, in the manifest, and in the files that the manifest names.
func AnswersOfPlugins(fsys safefile.FS, roots []string, tool string) string {
	for _, root := range roots {
		manifest := read(fsys, filepath.Join(root, filepath.FromSlash(plugins.ManifestPath)), User)
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
		for _, f := range files {
			if at := f.answers(tool); at != "" {
				return at
			}
		}
	}
	return ""
}

// answers returns the place of a hook of PermissionRequest in the file that is for the tool, or "".
func (f file) answers(tool string) string {
	hooks, at := f.member("hooks")
	groups, below := file{data: hooks}.member("PermissionRequest")
	for _, group := range items(groups) {
		if matches(jsonx.StringMember(group, "matcher"), tool) {
			return fmt.Sprintf("%s:%d", f.path, at+below-1)
		}
	}
	return ""
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
