package tasks

import (
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/fsmtx/fsmtx/internal/claude"
)

// ID returns the id of the task list that a session uses: the variable
// CLAUDE_CODE_TASK_LIST_ID if it is not empty, else the session's id, with every
// character outside [A-Za-z0-9_-] replaced by "-". The client counts UTF-16 code
// units, so that a character beyond the basic plane becomes two of them.
func ID(lookup func(string) (string, bool), session string) string {
	id, _ := lookup("CLAUDE_CODE_TASK_LIST_ID")
	if id == "" {
		id = session
	}
	var b strings.Builder
	for _, r := range id {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			b.WriteByte(byte(r))
		case r > 0xFFFF && r <= utf8.MaxRune:
			b.WriteString("--")
		default:
			b.WriteByte('-')
		}
	}
	return b.String()
}

// Root returns the directory of all task lists, absolute.
func Root(lookup func(string) (string, bool)) (string, error) {
	config, err := claude.ConfigDir(lookup)
	if err != nil {
		return "", err
	}
	return filepath.Join(config, "tasks"), nil
}

// Dir returns the directory of the task list that a session uses. It need not
// exist.
func Dir(lookup func(string) (string, bool), session string) (string, error) {
	root, err := Root(lookup)
	if err != nil {
		return "", err
	}
	return filepath.Join(root, ID(lookup, session)), nil
}
