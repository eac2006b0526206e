package tasks

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// ID returns the id of the task list of a session: the environment variable
// CLAUDE_CODE_TASK_LIST_ID if it is not empty, else that of the team that the session leads, else the session's id, with every
// UTF-16 code unit outside [A-Za-z0-9_-] replaced by "-" (fact 1, client 2.1.197).
// lookup is os.LookupEnv or a stand-in for it.
func ID(lookup func(string) (string, bool), session string) string {
	id, _ := lookup("CLAUDE_CODE_TASK_LIST_ID")
	return CleanID(cmp.Or(id, team(lookup, session), session))
}

// TeamVariable switches agent teams on.
const TeamVariable = "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS"

// TeamPrefix begins the name of a team's list.
const TeamPrefix = "session-"

// team returns the id of the list of the team that a session leads, "" if it leads none: with -p there is none (fact 84, client 2.1.329).
func team(lookup func(string) (string, bool), session string) string {
	if on, _ := lookup(TeamVariable); on != "1" && on != "true" {
		return ""
	}
	config, err := client.ConfigDir(lookup)
	if err != nil {
		return ""
	}
	teams, _ := os.ReadDir(filepath.Join(config, "teams"))
	for _, e := range teams {
		data, err := safefile.ReadFile(filepath.Join(config, "teams", e.Name(), "config.json"), maxTeam, 0)
		if err == nil && session != "" && jsonx.StringMember(data, "leadSessionId") == session {
			return TeamPrefix + session[:min(8, len(session))]
		}
	}
	return ""
}

// maxTeam limits a team's configuration, in bytes.
const maxTeam = 1 << 20

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
