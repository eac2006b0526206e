package state

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// Grant permits one command of one tool call of the agent, about which the client asks the
// person. The client runs the call only after a yes. So it is for the process that the client
// starts for it, which its command line shows, and not for a script or a loop that runs the same.
type Grant struct {
	Command string    `json:"command"` // its path, flags and arguments
	Session string    `json:"session"`
	Agent   string    `json:"agent,omitzero"`   // id of the subagent; empty for the session's own agent
	Use     string    `json:"use"`              // id of the tool call
	Written string    `json:"written,omitzero"` // path of the transcript
	Time    time.Time `json:"time"`
}

// ErrNoGrant is returned for a command to which no person has agreed in a call that is still
// being carried out.
var ErrNoGrant = errors.New("no person has agreed to exactly this command in this call")

// maxGrants limits the file. A call has a grant for each of its commands.
const maxGrants = 50

// Grant lets the command run once. The caller then has the client ask the person about it.
func (st *Store) Grant(ctx context.Context, g Grant) error {
	g.Time = Now().UTC()
	return st.Remember(ctx, func(m *Memory) {
		m.Grants = append(m.Grants, g)
		m.Grants = m.Grants[max(0, len(m.Grants)-maxGrants):]
	})
}

// UseGrant uses up the grant of a command, which runs below a process that the client has started with this command line. It
// returns ErrNoGrant if there is none, or if its call is over.
func (st *Store) UseGrant(ctx context.Context, command string, started []string) (found Grant, err error) {
	is := func(g Grant) bool { return g.Command == command }
	m, err := st.Memory()
	if err != nil || !slices.ContainsFunc(m.Grants, is) || !strings.Contains(shell.Bare(strings.Join(started, " ")), shell.Bare(command)) {
		return found, errors.Join(ErrNoGrant, err) // without a grant S is not created
	}
	used := false
	err = st.Remember(ctx, func(m *Memory) {
		// One to which the person said no may be there still: the client writes that late.
		m.Grants = slices.DeleteFunc(m.Grants, func(g Grant) bool {
			over, _ := client.Transcript(g.Written).Over(g.Use)
			return is(g) && over
		})
		if i := slices.IndexFunc(m.Grants, is); i >= 0 {
			found, used = m.Grants[i], true
			m.Grants = slices.Delete(m.Grants, i, i+1)
		}
	})
	if err == nil && !used {
		err = ErrNoGrant
	}
	return found, err
}

// Seen is an event of the session that may end grants.
type Seen struct {
	Session string
	Agent   string // id of the subagent; empty for the session's own agent
	Use     string // id of the tool call; empty if the event is not about one
	Between bool   // no call of the agent is being carried out: a stop, the start of a session
}

// EndGrants removes the grants that die with an event: those of its session whose call is
// not one of the same message. It locks nothing if there are none, as at nearly every event.
func (st *Store) EndGrants(ctx context.Context, e Seen) error {
	m, err := st.Memory()
	ends := func(g Grant) bool { return g.endsWith(e) }
	if err != nil || !slices.ContainsFunc(m.Grants, ends) {
		return err
	}
	return st.Remember(ctx, func(m *Memory) { m.Grants = slices.DeleteFunc(m.Grants, ends) })
}

// endsWith reports whether the grant dies with the event. While the client asks the person, other agents of the session go on, and a
// prompt may come: the transcript shows whether the call is over. Without one nothing shows that two calls are of one message.
func (g Grant) endsWith(e Seen) bool {
	switch {
	case g.Session != e.Session || g.Agent != e.Agent || e.Use != "" && e.Use == g.Use:
		return false
	case e.Between || g.Written == "":
		return true
	}
	over, known := client.Transcript(g.Written).Over(g.Use)
	return over || !known
}
