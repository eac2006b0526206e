package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/presence"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
)

// chooser chooses the list that a call is about. It does so at every call, because the
// only list with open steps changes when a skill is called.
type chooser struct {
	lookup func(string) (string, bool)
	flags  flags
	env    []string // environment of checks
	who    caller.Caller
}

var errNoList = errors.New("no session was named, and no task list of this project has a workflow: " +
	"call a skill that has an fsm.json first, or workflow_begin, or start the server with --list NAME")

// choose returns the list of the session that the call names, or else of --list, or else
// of the environment, or else the only list of the project with open steps.
func (c chooser) choose(ctx context.Context, named string) (f *gates.Frame, err error) {
	found, project, err := c.list(ctx, named, false)
	if errors.Is(err, tasklist.ErrNoList) {
		return nil, c.noList(ctx, project, err)
	}
	if err != nil {
		return nil, which(c.lookup, err)
	}
	f = &gates.Frame{
		Store: state.Store{List: tasks.List{Dir: found.Dir, Wait: tasklist.Wait}, Session: found.Session, Log: c.log(),
			ListName: func() string { return tasklist.ShortName(c.lookup, found.Dir) }},
		Env:       c.env,
		NoChecks:  hook.ChecksOff(c.lookup, found),
		Observe:   hook.Observing(c.lookup, found, false),
		Apply:     true,
		Unseen:    func() bool { return !c.fromClient(found.Dir) },
		Via:       state.By{How: state.ByMCP},
		Questions: found.Questions(),
	}
	f.EndOrphans() // of a server that was killed
	return f, nil
}

// noList is errNoList, with what may be the cause: a list that cannot be read, or a project that was moved, which a person has to say.
func (c chooser) noList(ctx context.Context, project string, err error) error {
	var more []string
	if err.Error() != tasklist.ErrNoList.Error() {
		more = append(more, message.Words(err.Error()))
	}
	if moved := strings.TrimPrefix(tasklist.OrMoved(ctx, c.lookup, project, ""), "; "); moved != "" {
		more = append(more, "a person can say in a terminal outside the client that it was moved: "+moved)
	}
	if len(more) == 0 {
		return errNoList
	}
	return fmt.Errorf("%w; %s", errNoList, strings.Join(more, "; "))
}

// which names the lists of which the call has to name one.
func which(lookup func(string) (string, bool), err error) error {
	var several *tasklist.SeveralError
	if !errors.As(err, &several) {
		return err
	}
	var all []string
	for _, l := range several.Lists {
		all = append(all, tasklist.ShortName(lookup, l.Dir)+" ("+l.String()+")")
	}
	return message.Lines(several.Error() + "; name one as session: " + strings.Join(all, ", "))
}

// fromClient reports whether a client has started the server, and not the agent that works on the list.
func (c chooser) fromClient(list string) bool {
	who, _, _ := presence.Beside(c.who, list)
	return who.FromClient()
}

// agent returns the agent as who calls a tool for a list: in a server that it has started in its shell, it is past the hooks.
func (c chooser) agent(list string) state.By {
	if !c.fromClient(list) {
		return state.By{Who: state.TheAgent, How: state.ByShell}
	}
	return state.By{Who: state.TheAgent, How: state.ByMCP}
}

// log returns what appends decisions to the log in FSMTX_LOG, nil if there is none. An
// error of the log does not change an answer.
func (c chooser) log() decisions.Log {
	path, _ := c.lookup(decisions.Variable)
	home, _ := c.lookup("HOME")
	if path = decisions.Path(path, home); path == "" {
		return nil
	}
	return decisions.File{Path: path}
}

// list returns the list, and the project's directory. begins reports whether a workflow is
// begun in it.
func (c chooser) list(ctx context.Context, named string, begins bool) (found tasklist.Found, project string, err error) {
	if project, err = c.project(); err != nil {
		return found, "", err
	}
	found, err = tasklist.Find(ctx, tasklist.Query{
		Lookup: c.lookup, Named: cmp.Or(named, c.flags.Session), Dir: project, Who: func() caller.Caller { return c.who }, Serves: true,
		Begins: begins, Own: sessionIn(ctx),
	})
	return found, project, err
}

// callerKey is the key of the session of a call in its context.
type callerKey struct{}

// ofSession is middleware that keeps which session a call is of. Codex starts its servers without the variable of its shell, and names
// the session in each call (measured with 0.169.0).
func ofSession(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if params, ok := r.GetParams().(*mcp.CallToolParamsRaw); ok && params != nil {
			turn, _ := params.GetMeta()["x-codex-turn-metadata"].(map[string]any)
			if session, _ := turn["session_id"].(string); session != "" {
				ctx = context.WithValue(ctx, callerKey{}, session)
			}
		}
		return next(ctx, method, r)
	}
}

func sessionIn(ctx context.Context) string {
	session, _ := ctx.Value(callerKey{}).(string)
	return session
}

// project returns the project's directory. Without CLAUDE_PROJECT_DIR it is the working
// directory, in which clients start their servers.
func (c chooser) project() (string, error) {
	if dir, _ := c.lookup("CLAUDE_PROJECT_DIR"); dir != "" {
		return dir, nil
	}
	return os.Getwd()
}
