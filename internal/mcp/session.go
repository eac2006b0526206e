package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/presence"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
)

// chooser chooses the list that a call is about. It does so at every call, because the
// newest list changes when a skill is called.
type chooser struct {
	lookup func(string) (string, bool)
	flags  flags
	env    []string // environment of checks
	who    caller.Caller
}

var errNoList = errors.New("no session was named, and no task list of this project has a workflow: " +
	"call a skill that has an fsm.json first, or workflow_begin, or start the server with --session ID")

// choose returns the list of the session that the call names, or else of --session, or else
// of the environment. Without a session it returns the newest list of the project, and note
// says so.
func (c chooser) choose(ctx context.Context, named string) (f *gates.Frame, note string, err error) {
	found, project, err := c.list(ctx, named, false)
	if errors.Is(err, tasklist.ErrNoList) {
		return nil, "", errNoList
	}
	if err != nil {
		return nil, "", err
	}
	if found.Newest {
		note = fmt.Sprintf("(No session was named: this is the newest task list of %s, that of session %s.)", project, found.Session)
	}
	f = &gates.Frame{
		Store:     state.Store{List: tasks.List{Dir: found.Dir, Wait: c.flags.LockTimeout}, Session: found.Session, Log: c.log()},
		Env:       c.env,
		NoChecks:  hook.ChecksOff(c.lookup, found),
		Apply:     true,
		Unseen:    func() bool { return !c.fromClient(found.Dir) },
		Via:       state.By{How: state.ByMCP},
		Questions: found.Questions(),
		Unnamed:   func() bool { return tasklist.Unnamed(ctx, c.lookup, found.Dir) },
	}
	f.EndOrphans() // of a server that was killed
	return f, note, nil
}

// fromClient reports whether a client has started the server, and not the agent that works on the list.
func (c chooser) fromClient(list string) bool {
	who, _ := presence.Beside(c.who, list)
	return who.FromClient()
}

// log returns what appends decisions to the log in FSMTX_LOG, nil if there is none. An
// error of the log does not change an answer.
func (c chooser) log() func(decisions.Record) {
	path, _ := c.lookup(decisions.Variable)
	home, _ := c.lookup("HOME")
	if path = decisions.Path(path, home); path == "" {
		return nil
	}
	return func(r decisions.Record) { _ = decisions.File{Path: path}.Append(r) }
}

// list returns the list, and the project's directory. begins reports whether a workflow is
// begun in it.
func (c chooser) list(ctx context.Context, named string, begins bool) (found tasklist.Found, project string, err error) {
	if project, err = c.project(); err != nil {
		return found, "", err
	}
	found, err = tasklist.Find(ctx, tasklist.Query{
		Lookup: c.lookup, Named: cmp.Or(named, c.flags.Session), Dir: project, Who: func() caller.Caller { return c.who }, Serves: true,
		Begins: begins,
	})
	return found, project, err
}

// project returns the project's directory. Without CLAUDE_PROJECT_DIR it is the working
// directory, in which clients start their servers.
func (c chooser) project() (string, error) {
	if dir, _ := c.lookup("CLAUDE_PROJECT_DIR"); dir != "" {
		return dir, nil
	}
	return os.Getwd()
}
