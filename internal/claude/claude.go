// Package claude knows where the client, Claude Code, keeps its things.
package claude

import (
	"errors"
	"fmt"
	"path/filepath"
)

// ErrNoHome means that neither CLAUDE_CONFIG_DIR nor HOME says where the
// client's configuration is.
var ErrNoHome = errors.New("cannot tell where the client keeps its files: neither CLAUDE_CONFIG_DIR nor HOME is set")

// ConfigDir returns the client's configuration directory as an absolute path:
// CLAUDE_CONFIG_DIR if it is not empty, else .claude in HOME. lookup is
// os.LookupEnv or its stand-in.
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
