package install

import (
	"errors"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

// serverFile returns the file in which the client reads the MCP server for the scope, if it has the server or should have it.
// Without --mcp, one that has another server of this name counts as a file without ours, and of one that cannot be read or understood
// it is not known.
func (j *job) serverFile(s terminal.Streams, command string) ([]wanted, error) {
	w, had, err := j.readServer(s, command)
	switch {
	case err == nil && (j.MCP && j.verb != remove || had):
		return []wanted{w}, nil
	case err == nil, !j.MCP && (errors.Is(err, settings.ErrForeign) || errors.Is(err, errNoKey)):
		return nil, nil
	case j.MCP && j.verb != remove:
		return nil, err
	}
	return []wanted{{unknown: err, report: settings.Report{State: settings.Installed}}}, nil
}

// readServer reads the file that has the MCP server or should have it, and reports whether it has.
func (j *job) readServer(s terminal.Streams, command string) (w wanted, had bool, err error) {
	server := jsonServer{Path: []string{"mcpServers"}, Command: command, Args: []string{"mcp"}}
	path := client.ProjectConfig
	if j.Scope != Project {
		if path, err = client.ConfigFile(s.Getenv); err != nil {
			return w, false, err
		}
	}
	if j.Scope == Local {
		dir, err := projectKey()
		if err != nil {
			return w, false, err
		}
		server.Path = []string{"projects", dir, "mcpServers"}
	}
	if w.File, err = settings.Read(path); err != nil {
		return w, false, err
	}
	w.members = []member{server}
	if j.verb != remove {
		err = settings.Strict(w.Data)
	}
	var r settings.Report
	if err == nil {
		r, err = server.inspect(w.Data)
	}
	return w, err == nil && r.State != settings.Absent, inFile(w.File, err)
}

// errNoKey is returned for a project that the client's file cannot name. With U+FFFD in its place two such projects, or
// two runs of install, would be one member twice, and then no program could edit the file any more.
var errNoKey = message.NewError("the path of this project is not valid UTF-8, so no MCP server can be registered for it alone",
	"use --user or --project, or rename the directory")

// projectKey returns the name of the working directory's project in the client's file.
func projectKey() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if here, err = filepath.EvalSymlinks(here); err != nil {
		return "", err
	}
	key := client.ProjectKey(locator.OS{}, here)
	if !utf8.ValidString(key) {
		return "", errNoKey
	}
	return key, nil
}
