package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

// server is the MCP server and the file in which the client reads it for the chosen scope.
type server struct {
	settings.Server
	file    *settings.File
	report  settings.Report
	unknown error // why it is not known whether the file has the server; nil if it is
}

// findServer returns the MCP server. Without --mcp and --remove, a file that has another server of this
// name counts as a file without ours, and a file that cannot be read or understood gives a server that is unknown.
func (j *job) findServer(s terminal.Streams, command string) (server, error) {
	found, err := j.readServer(s, command)
	switch {
	case err == nil || j.MCP:
		return found, err
	case errors.Is(err, settings.ErrForeign), errors.Is(err, errNoKey):
		return server{}, nil
	case j.verb == remove && !j.preview:
		return server{}, fmt.Errorf("cannot find out whether the MCP server fsmtx is registered, so it was not removed: %w", err)
	}
	return server{unknown: err}, nil
}

// readServer reads the file that has the MCP server or should have it.
func (j *job) readServer(s terminal.Streams, command string) (found server, err error) {
	found.Server = settings.Server{Path: []string{"mcpServers"}, Command: command, Args: []string{"mcp"}}
	path := client.ProjectConfig
	if j.Scope != Project {
		if path, err = client.ConfigFile(s.Getenv); err != nil {
			return found, err
		}
	}
	if j.Scope == Local {
		dir, err := projectKey()
		if err != nil {
			return found, err
		}
		found.Path = []string{"projects", dir, "mcpServers"}
	}
	if found.file, err = settings.Read(path); err != nil {
		return found, err
	}
	if j.verb != remove {
		err = settings.Strict(found.file.Data)
	}
	if err == nil {
		found.report, err = settings.InspectServer(found.file.Data, found.Server)
	}
	return found, inFile(found.file, err)
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

// installServer registers the MCP server if --mcp is given, and updates an outdated
// registration.
func (j *job) installServer(s terminal.Streams, found server) error {
	if found.unknown != nil && !j.preview {
		return found.printUnknown(s)
	}
	if j.preview || !j.MCP && found.report.State != settings.Outdated {
		return nil
	}
	data, err := settings.AddServer(found.file.Data, found.Server)
	if err != nil {
		return inFile(found.file, err)
	}
	done := map[settings.State]string{
		settings.Absent:    "registered the MCP server fsmtx in %s\n",
		settings.Outdated:  "updated the MCP server fsmtx in %s\n",
		settings.Installed: "the MCP server fsmtx is already registered in %s\n",
	}
	return write(s, found.file, data, done[found.report.State], found.file.Path)
}

// printUnknown says why it is not known whether the server is registered.
func (found server) printUnknown(s terminal.Streams) error {
	_, err := message.Fprintf(s.Out, "  it is not known whether the MCP server fsmtx is registered: %v\n", found.unknown)
	return err
}

// uninstallServer removes the registration of the MCP server, if there is one.
func (j *job) uninstallServer(s terminal.Streams, found server) error {
	if j.preview || found.report.State == settings.Absent {
		return nil
	}
	data, err := settings.RemoveServer(found.file.Data, found.Server)
	if err != nil {
		return inFile(found.file, err)
	}
	return write(s, found.file, data, "removed the MCP server fsmtx from %s\n", found.file.Path)
}

// checkServer adds the problems of the MCP server to a report.
func (j *job) checkServer(report settings.Report, found server) settings.Report {
	why := found.report.Why
	if j.MCP && found.report.State == settings.Absent && report.State != settings.Absent {
		why = []string{"MCP server: is missing from " + found.file.Path}
	}
	if len(why) > 0 {
		report.Why = append(report.Why, why...)
		report.State = settings.Outdated
	}
	return report
}
