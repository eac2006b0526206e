package tasklist

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/txn"
)

// ErrNoList is returned when no list was named, and no task list has ever had a workflow of
// the project.
var ErrNoList = errors.New("no workflow of this project is on record")

// Query is what is known about the list that is looked for.
type Query struct {
	Lookup func(string) (string, bool) // os.LookupEnv or a stand-in for it

	Named   string // the list that the user named: a session's id or a list's name; may be empty
	Session string // the id of the session in an event of Claude Code; may be empty
	Dir     string // the project's directory or one below it; empty is the working directory

	// Agent is the agent whose event this is, as caller.Programs names it. If it is empty, Who
	// is asked, unless Session is set.
	Agent string
	Who   func() caller.Caller // nil: the caller is unknown

	// Own is the id of the session as the event or call of another agent than Claude Code names it. If it is empty, the variable in which
	// the agent's shell shows it is read.
	Own string

	Serves bool // for an agent that may not be known: a server
	Begins bool // a workflow is begun, so the list need not exist
	Over   bool // lists without open steps can be meant, too

	Cleared bool // those with steps that were open when their task files were removed can be meant, too
}

// Found is a task list.
type Found struct {
	Dir     string // absolute; it need not exist
	Session string // the id of the session that called the skill; the list's name if it is a project's list
	Project string // the root of the project; empty if the list is a session's

	Known *state.Known // what is known of it; nil is nothing
}

// Questions returns the tool by which the agent of the list asks its person, if hooks hear the
// answers. The list of a session is Claude Code's.
func (f Found) Questions() string {
	if f.Project != "" {
		return ""
	}
	return client.QuestionTool
}

// IsOfSession reports whether the list is one session's, and not one that the sessions of a project share.
func (f Found) IsOfSession() bool {
	return f.Project == "" || !strings.HasPrefix(f.Name(), nameOf(f.Project))
}

// at returns the list as one of the project with this root.
func (f Found) at(root string) Found {
	f.Project = root
	return f
}

// Name returns the name by which Query.Named finds the list.
func (f Found) Name() string { return filepath.Base(f.Dir) }

// Find returns the list that is meant:
//
//  1. the named one, by its name or the beginning of it; see ShortName
//  2. in Claude Code, that of the session, or of CLAUDE_CODE_TASK_LIST_ID
//  3. below another agent that names its session, that of the session, or as long as that has none, the project's if it has open steps
//  4. below another agent, or for a workflow that is begun, the project's
//  5. for a server, and for whoever is not a person at a terminal, the project's if there is one
//  6. the only list of the project with open steps, or with Query.Over the only one; of whichever agent
//
// Below another agent than Claude Code the variables of Claude Code are ignored: it was
// started in the shell of Claude Code's agent.
//
// Errors: ErrNoList, ErrNoSuchList, *SeveralError, client.ErrNoHome, or the file system's.
func Find(ctx context.Context, q Query) (Found, error) {
	found, err := q.find(ctx)
	found.Known = cmp.Or(found.Known, new(state.Known))
	return found, err
}

func (q Query) find(ctx context.Context) (Found, error) {
	if q.Session != "" && q.Named == "" && q.Agent == "" {
		return q.ofSession(q.Session)
	}
	if q.Dir == "" {
		here, err := os.Getwd()
		if err != nil {
			return Found{}, err
		}
		q.Dir = here
	}
	who := q.who()
	q.Who = func() caller.Caller { return who } // once
	switch {
	case q.Named != "":
		return q.named()
	case q.inClaude():
		inherited, _ := q.Lookup("CLAUDE_CODE_SESSION_ID")
		return q.ofSession(inherited)
	case q.isOther(who):
		return q.ofAgent(ctx)
	case q.Begins:
		return q.ofProject("")
	case q.Serves || who.Kind != caller.Person:
		if f, err := q.ofProject(""); err == nil && exists(f.Dir) {
			return f, nil
		}
	}
	return q.sole(ctx)
}

// isOther reports whether another agent than Claude Code is meant.
func (q Query) isOther(who caller.Caller) bool {
	return who.Kind == caller.Agent && who.Program != caller.Claude && (who.Program != "" || !q.isMarked())
}

// inClaude reports whether the list is that of the environment.
func (q Query) inClaude() bool { return q.isMarked() && !q.isOther(q.who()) }

// isMarked reports whether the environment has the variables of Claude Code.
func (q Query) isMarked() bool {
	inherited, _ := q.Lookup("CLAUDE_CODE_SESSION_ID")
	shared, _ := q.Lookup(Variable)
	return inherited+shared != ""
}

// ofAgent returns the list of another agent: that of its session, or else the project's. If several lists of the project have open steps,
// the agent has to name one.
func (q Query) ofAgent(ctx context.Context) (Found, error) {
	f, err := q.ofProject("")
	if err != nil {
		return f, err
	}
	program := q.who().Program
	variable := caller.SessionVariable(program)
	if variable != "" {
		inherited, _ := q.Lookup(variable)
		if session := cmp.Or(q.Own, inherited); clean(session) != "" {
			return q.ofItsSession(ctx, session, f), nil
		}
	}
	if q.Begins || exists(f.Dir) {
		return f, nil
	}
	all, err := openOfProject(ctx, q.Lookup, q.Dir, false)
	if err != nil {
		return f, err
	}
	all = slices.DeleteFunc(all, func(l Listed) bool {
		return l.Project == "" || program != "" && variable == "" && l.at(Project(q.Lookup, l.Project)).IsOfSession()
	})
	switch len(all) {
	case 0:
		return f, nil
	case 1:
		return all[0].Found, nil
	}
	return Found{}, &SeveralError{all}
}

// ofItsSession returns the list of a session of another agent than Claude Code. As long as the session has none, a workflow that was begun
// for the project is its own.
func (q Query) ofItsSession(ctx context.Context, session string, project Found) Found {
	name := distinct(session)
	own := Found{Dir: filepath.Join(filepath.Dir(project.Dir), name), Session: name, Project: project.Project}
	if history, err := txn.ReadHistory(own.Dir); err != nil || len(history) > 0 || !exists(project.Dir) {
		return own
	}
	project.Known = new(state.Known)
	s, err := (&state.Store{List: tasks.List{Dir: project.Dir}, Known: project.Known}).Now(ctx)
	if err != nil || s.HasOpen() || q.Over && len(s.Steps) > 0 {
		return project
	}
	return own
}

func (q Query) who() caller.Caller {
	switch {
	case q.Agent != "":
		return caller.Caller{Kind: caller.Agent, Program: q.Agent}
	case q.Who == nil:
		return caller.Caller{}
	}
	return q.Who()
}

// Variable gives Claude Code another list than the session's.
const Variable = "CLAUDE_CODE_TASK_LIST_ID"

// OwnOnly returns lookup without Variable: the list of a session is its own.
func OwnOnly(lookup func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if name == Variable {
			return "", false
		}
		return lookup(name)
	}
}

// OfSession returns the directory of the list of a session of Claude Code. It need not exist. The
// error is that neither a home nor a configuration directory is known.
func OfSession(lookup func(string) (string, bool), session string) (dir string, err error) {
	return tasks.Dir(lookup, session)
}

func (q Query) ofSession(session string) (Found, error) {
	dir, err := OfSession(q.Lookup, session)
	return Found{Dir: dir, Session: session}, err
}

// exists reports whether the list was ever hydrated, or has tasks.
func exists(dir string) bool {
	if state, err := txn.StateDir(dir); err == nil {
		if _, err := os.Lstat(state); err == nil {
			return true
		}
	}
	_, err := os.Lstat(dir)
	return err == nil
}
