// Package claude holds the facts about the client, Claude Code: its subpackages know
// its events, its task list, its plugins, its settings and its transcripts, and this
// one knows where its configuration is. Facts are cited by their numbers in
// docs/client-facts.md, each with the version of the client it was measured on.
package claude

import (
	"errors"
	"fmt"
	"path/filepath"
)

// Tested is the newest version of the client that the tests run.
const Tested = "2.1.329"

// ErrNoHome is returned when neither CLAUDE_CONFIG_DIR nor HOME is set.
var ErrNoHome = errors.New("cannot find the client's configuration: neither CLAUDE_CONFIG_DIR nor HOME is set")

// ConfigDir returns the client's configuration directory as an absolute path:
// CLAUDE_CONFIG_DIR if it is not empty, else .claude in HOME (fact 1, client
// 2.1.197). lookup is os.LookupEnv or a stand-in for it.
func ConfigDir(lookup func(string) (string, bool)) (string, error) {
	dir, _ := lookup("CLAUDE_CONFIG_DIR")
	if dir == "" {
		home, _ := lookup("HOME")
		if home == "" {
			return "", ErrNoHome
		}
		dir = filepath.Join(home, ".claude")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("resolving the client's configuration directory %q: %w", dir, err)
	}
	return abs, nil
}
