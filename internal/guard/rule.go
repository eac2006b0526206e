package guard

import "github.com/fsmtx/fsmtx/internal/client"

// A Rule decides one kind of event of the client.
type Rule struct {
	ID      string   // as on the command line: H01 … H13
	Name    string   // in logs, messages and the breaker's file
	Event   string   // name of the client's event
	Matcher string   // of the hook, empty if the event has nothing to match
	Flag    string   // its own switch under feature_flags, empty if only the master switch applies
	Timeout int      // of the hook, in seconds
	Brief   string   // what it enforces, as a phrase
	Rows    []string // the conditions of its table, in order
	Keeps   []Kept   // files it keeps for each session

	// Binds reports whether the rule applies to the event at all; nil means always. It
	// is called before the rule or the frame writes, logs, prints or refuses anything.
	// Without thoroughly it must be cheap and may return false by mistake. If the rule
	// would act on the event, it is called again with thoroughly.
	Binds func(c *Call, thoroughly bool) bool

	// Decide returns the verdict of the first row whose condition holds. An error is a
	// failure of the rule itself; nothing that the model can write may cause one.
	Decide func(*Call) (Verdict, error)
}

// Kept is a file that a rule keeps for each session, in addition to those of the frame.
type Kept struct {
	What string // name of the content, for people
	Path func(Session) string
}

// stops reports whether the rule can block the end of an agent or turn.
func (r Rule) stops() bool { return r.Event == client.Stop || r.Event == client.SubagentStop }

// passWord is the log's word for "no objection".
func (r Rule) passWord() string {
	switch r.Event {
	case client.PreToolUse:
		return "ALLOW"
	case client.Stop, client.SubagentStop:
		return "APPROVE"
	}
	return "SILENT"
}
