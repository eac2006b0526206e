package switches

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// AnswersFor returns the file and line of a hook of PermissionRequest that may answer for the
// person when the client asks about a call of the tool (fact 164), "" if the settings have none.
// What the hook answers is known only to the hook. Hooks of plugins are not looked at.
func (s Settings) AnswersFor(tool string) string {
	for _, f := range slices.Concat(s.Managed, s.Flag, s.Others) {
		hooks, at := f.member("hooks")
		groups, below := File{data: hooks}.member("PermissionRequest")
		for _, group := range items(groups) {
			if matches(jsonx.StringMember(group, "matcher"), tool) {
				return fmt.Sprintf("%s:%d", f.Path, at+below-1)
			}
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
