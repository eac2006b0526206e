package tasks

import (
	"path/filepath"
	"strings"
	"unicode/utf16"

	"github.com/fsmtx/fsmtx/internal/client"
)

// ID returns the id of the task list of a session: the environment variable
// CLAUDE_CODE_TASK_LIST_ID if it is not empty, else the session's id, with every
// UTF-16 code unit outside [A-Za-z0-9_-] replaced by "-" (fact 1, client 2.1.197).
// lookup is os.LookupEnv or a stand-in for it.
func ID(lookup func(string) (string, bool), session string) string {
	id, _ := lookup("CLAUDE_CODE_TASK_LIST_ID")
	if id == "" {
		id = session
	}
	return CleanID(id)
}

// CleanID returns the name with the characters that the client leaves in the name of a list: it
// replaces the others by "-".
func CleanID(id string) string {
	var b strings.Builder
	for _, r := range id {
		if strings.ContainsRune(idCharacters, r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Repeat("-", max(1, utf16.RuneLen(r))))
		}
	}
	return b.String()
}

const idCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// Root returns the directory of all task lists as an absolute path (fact 1, client
// 2.1.197). Its errors are those of client.ConfigDir.
func Root(lookup func(string) (string, bool)) (string, error) {
	config, err := client.ConfigDir(lookup)
	if err != nil {
		return "", err
	}
	return filepath.Join(config, "tasks"), nil
}

// Dir returns the directory of the task list of a session. It need not exist. Its
// errors are those of client.ConfigDir.
func Dir(lookup func(string) (string, bool), session string) (string, error) {
	root, err := Root(lookup)
	if err != nil {
		return "", err
	}
	return filepath.Join(root, ID(lookup, session)), nil
}
