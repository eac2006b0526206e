package client

import (
	"fmt"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/message"
)

// Tested is the newest version of the client that the end-to-end tests run against.
const Tested = "2.1.329"

// QuestionTool is the tool with which the agent asks the person. Hooks hear the answers.
const QuestionTool = "AskUserQuestion"

// ErrNoHome is returned when neither CLAUDE_CONFIG_DIR nor HOME is set.
var ErrNoHome = message.NewError("cannot find the client's configuration: neither CLAUDE_CONFIG_DIR nor HOME is set", "set HOME")

// The client's files in which MCP servers are configured (fact 90, client 2.1.329): the
// person's, see [ConfigFile], and the one in a project's directory.
const (
	configFile    = ".claude.json"
	ProjectConfig = ".mcp.json"
)

// ConfigFile returns the path of the file with the person's MCP servers: in
// CLAUDE_CONFIG_DIR if that is not empty, else in HOME (fact 90, client 2.1.329). Without
// either it returns ErrNoHome. lookup is os.LookupEnv or a stand-in for it.
func ConfigFile(lookup func(string) (string, bool)) (string, error) {
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "HOME"} {
		if dir, _ := lookup(name); dir != "" {
			return filepath.Join(dir, configFile), nil
		}
	}
	return "", ErrNoHome
}

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
