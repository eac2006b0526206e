package state

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"github.com/fsmtx/fsmtx/internal/client"
)

// Grant permits one command of one tool call of the agent, about which the client asks the
// person. The hook puts a token into the command about which it asks; S keeps only the
// token's hash, so that a command that was refused cannot be run in another way.
type Grant struct {
	Command string    `json:"command"` // its path, flags and arguments
	Session string    `json:"session"`
	Agent   string    `json:"agent,omitzero"`   // id of the subagent; empty for the session's own agent
	Prompt  string    `json:"prompt,omitzero"`  // id of the person's prompt; empty if unknown
	Use     string    `json:"use"`              // id of the tool call
	Written string    `json:"written,omitzero"` // path of the transcript
	Time    time.Time `json:"time"`
	Hash    string    `json:"hash"` // of the token
}

// ErrNoGrant is returned for a token with which no person has agreed to this command in a
// call that is still being carried out.
var ErrNoGrant = errors.New("no person has agreed to exactly this command in this call")

// maxGrants limits the file. A call has a grant for each of its commands.
const maxGrants = 50

// Grant returns the token with which the command may run once. The caller then has the
// client ask the person about the command with this token.
func (st *Store) Grant(ctx context.Context, g Grant) (token string, err error) {
	token = rand.Text()
	g.Time, g.Hash = time.Now().UTC(), digest([]byte(token))
	return token, Remember(ctx, st, GrantsFile, func(all []Grant) []Grant {
		all = append(all, g)
		return all[max(0, len(all)-maxGrants):]
	})
}

// UseGrant uses up the grant of a token, whatever it is for. It returns ErrNoGrant unless
// the grant is for this command and its call is still being carried out.
func (st *Store) UseGrant(ctx context.Context, token, command string) (found Grant, err error) {
	if all, err := Recall[[]Grant](st, GrantsFile); err != nil || len(all) == 0 {
		return found, errors.Join(ErrNoGrant, err) // without a grant S is not created
	}
	err = Remember(ctx, st, GrantsFile, func(all []Grant) []Grant {
		i := slices.IndexFunc(all, func(g Grant) bool { return g.Hash == digest([]byte(token)) })
		if i < 0 {
			return all
		}
		found = all[i]
		return slices.Delete(all, i, i+1)
	})
	if err != nil {
		return found, err
	}
	over, _ := client.Over(found.Written, found.Use)
	if found.Hash == "" || found.Command != command || over {
		return found, ErrNoGrant
	}
	return found, nil
}

// Seen is an event of the session that may end grants.
type Seen struct {
	Session, Prompt string
	Use             string // id of the tool call; empty if the event is not about one
	Between         bool   // no call of the agent is being carried out: a stop, the start of a session
}

// EndGrants removes the grants that die with an event: those of its session whose call is
// not one of the same message. It does nothing, and locks nothing, if there are no grants.
func (st *Store) EndGrants(ctx context.Context, e Seen) error {
	if st.lacks(GrantsFile) {
		return nil // as at nearly every event
	}
	all, err := Recall[[]Grant](st, GrantsFile)
	if err != nil || !slices.ContainsFunc(all, func(g Grant) bool { return g.endsWith(e) }) {
		return err
	}
	return Remember(ctx, st, GrantsFile, func(all []Grant) []Grant {
		return slices.DeleteFunc(all, func(g Grant) bool { return g.endsWith(e) })
	})
}

// endsWith reports whether the grant dies with the event. Without a transcript nothing
// shows that two calls are of one message.
func (g Grant) endsWith(e Seen) bool {
	switch {
	case g.Session != e.Session || e.Use != "" && e.Use == g.Use:
		return false
	case e.Between || e.Prompt != g.Prompt || g.Written == "":
		return true
	}
	over, known := client.Over(g.Written, g.Use)
	return over || !known
}
