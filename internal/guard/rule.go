package guard

import "github.com/fsmtx/fsmtx/internal/claude/event"

// A Rule decides one kind of event of the client.
type Rule struct {
	ID      string   // as on the command line: H01 … H13
	Name    string   // as in logs, messages and the breaker's file
	Event   string   // the client's event that it decides
	Matcher string   // what the client matches, empty if the event has nothing to match
	Flag    string   // its own switch under feature_flags, empty if only the master switch applies
	Timeout int      // in seconds, for the client's configuration
	Brief   string   // what it enforces, as a phrase
	Rows    []string // the conditions of its table, in order
	Keeps   []Kept   // files it keeps for each session

	Settings []string // keys of the configuration that it decides by, for people

	// Binds reports whether the rule applies where and when the event happened. It is
	// asked before anything is written, logged, said or refused. A cheap answer of
	// false may be wrong: if the rule would act, it is asked again, thoroughly. Nil
	// means always.
	Binds func(c *Call, thoroughly bool) bool

	// Decide returns the verdict of the first row that holds. An error is a failure
	// of the rule's own, never something that the model can cause.
	Decide func(*Call) (Verdict, error)
}

// Kept is a file that a rule keeps for each session, next to those of the frame.
type Kept struct {
	What string // what it holds, for people
	Path func(Session) string
}

// stops reports whether the rule can keep an agent or a turn from ending.
func (r Rule) stops() bool { return r.Event == event.Stop || r.Event == event.SubagentStop }

// passWord is the log's word for "no objection".
func (r Rule) passWord() string {
	switch r.Event {
	case event.PreToolUse:
		return "ALLOW"
	case event.Stop, event.SubagentStop:
		return "APPROVE"
	}
	return "SILENT"
}
