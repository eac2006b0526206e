package install

import (
	"errors"
	"fmt"
	"slices"

	"github.com/fsmtx/fsmtx/internal/settings"
)

// member is something of this program that a file has or should have.
type member interface {
	// inspect compares the file with what add would write. Errors are those of settings.Inspect, and that the file has another
	// program's member of this name.
	inspect(data []byte) (settings.Report, error)
	add(data []byte) ([]byte, error)
	remove(data []byte) ([]byte, error) // nil if add has made the file
}

// hooks are the hooks in a file, and the variable of the task tools.
type hooks []settings.Hook

func (h hooks) inspect(data []byte) (settings.Report, error) { return settings.Inspect(data, h) }
func (h hooks) add(data []byte) ([]byte, error)              { return settings.Add(data, h) }
func (h hooks) remove(data []byte) ([]byte, error)           { return settings.Remove(data, h) }

// jsonServer is the MCP server in a JSON file.
type jsonServer settings.Server

func (s jsonServer) inspect(data []byte) (settings.Report, error) {
	r, err := settings.InspectServer(data, settings.Server(s))
	if r.State == settings.Absent {
		r.Why = []string{"MCP server: is missing"}
	}
	return r, err
}

func (s jsonServer) add(data []byte) ([]byte, error) {
	return settings.AddServer(data, settings.Server(s))
}

func (s jsonServer) remove(data []byte) ([]byte, error) {
	return settings.RemoveServer(data, settings.Server(s))
}

// statusLine is the line of Claude Code that shows the workflow, or that should not.
type statusLine struct {
	command string
	wanted  bool
}

func (l statusLine) inspect(data []byte) (settings.Report, error) {
	r, err := settings.InspectStatusLine(data, l.command)
	switch {
	case err != nil:
	case l.wanted && r.State == settings.Absent:
		r.Why = []string{"statusLine: does not run fsmtx statusline"}
	case !l.wanted && r.State != settings.Absent:
		r = settings.Report{State: settings.Outdated, Why: []string{"statusLine: runs fsmtx statusline, but should not with --statusline=false"}}
	}
	return r, err
}

func (l statusLine) add(data []byte) ([]byte, error) {
	if !l.wanted {
		return settings.RemoveStatusLine(data)
	}
	return settings.AddStatusLine(data, l.command)
}

func (l statusLine) remove(data []byte) ([]byte, error) { return settings.RemoveStatusLine(data) }

// lineOf returns the status line that a file has or should have, none if it is somebody else's or there is none.
func (l Switch) lineOf(data []byte, command string) ([]member, error) {
	line := statusLine{command, l != Without}
	r, err := line.inspect(data)
	switch {
	case err != nil && l == With:
		return nil, err
	case err != nil, l != With && r.State == settings.Absent:
		return nil, nil
	}
	return []member{line}, nil
}

// wanted is a file of an agent, with what it should have.
type wanted struct {
	*settings.File
	members []member
	data    []byte          // the file as it should be
	report  settings.Report // how it differs from that

	tools   *taskTools // in the settings of Claude Code
	beside  string     // the name of the file that install writes, if the agent reads this one after it
	unknown error      // why it is not known whether the file has the member
	demand  string     // what the person has to do before the agent runs the hooks; empty if nothing is known
}

// edit sets the report about the file, and its data with or without what it should have.
func (w *wanted) edit(remove bool) (err error) {
	w.report, w.data = settings.Report{}, w.Data
	for i, m := range w.members {
		r, err := m.inspect(w.Data)
		if err != nil && !(remove && errors.Is(err, settings.ErrNewer)) {
			return inFile(w.File, err)
		}
		if i == 0 {
			w.report.State = r.State
		} else if r.State != w.report.State {
			w.report.State = settings.Outdated
		}
		w.report.Why = append(w.report.Why, r.Why...)
	}
	if w.report.State == settings.Absent {
		w.report.Why = nil
	}
	if w.beside != "" {
		w.report = settings.Report{State: settings.Outdated,
			Why: []string{"MCP server: this file overrules " + w.beside + ", where install writes it; install takes it out here"}}
	}
	members, change := w.members, member.add
	if remove || w.beside != "" { // what was put last is removed first: the first may have created the file
		members, change = slices.Clone(members), member.remove
		slices.Reverse(members)
	}
	for _, m := range members {
		if w.data, err = change(m, w.data); err != nil {
			return inFile(w.File, err)
		}
	}
	return nil
}

// hooks returns the hooks of the file, none if it should have none.
func (w *wanted) hooks() hooks {
	for _, m := range w.members {
		if h, is := m.(hooks); is {
			return h
		}
	}
	return nil
}

// what names what the file has.
func (w *wanted) what() string {
	served := slices.ContainsFunc(w.members, func(m member) bool {
		_, isJSON := m.(jsonServer)
		_, isTOML := m.(tomlServer)
		return isJSON || isTOML
	})
	switch {
	case len(w.hooks()) == 0:
		return "the MCP server"
	case served:
		return "the hooks and the MCP server"
	}
	return "the hooks"
}

// inFile adds the file's path to an error about its content.
func inFile(file *settings.File, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s:%w", file.Path, err)
}
