package dialect

import (
	"cmp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Output is the output of one hook, or the merged output of several: decision, reason,
// continue, stopReason, suppressOutput, systemMessage and hookSpecificOutput. A field
// of the wrong type is treated as absent.
type Output struct {
	jsonx.Object
}

// ParseOutput reads an output; ok is false if data is not a JSON object.
func ParseOutput(data jsontext.Value) (o Output, ok bool) {
	object, ok := jsonx.ParseObject(data)
	return Output{object}, ok
}

// Decision returns the decision, "" if there is none.
func (o Output) Decision() string { return o.Text("decision") }

// Blocks reports whether the decision is block or deny.
func (o Output) Blocks() bool { return isBlock(o.Decision()) }

// denies reports whether permissionDecision is block or deny.
func (o Output) denies() bool { return isBlock(o.Specific().Text("permissionDecision")) }

// Stops reports whether continue is false, which stops the agent.
func (o Output) Stops() bool { return o.IsFalse("continue") }

// StopReason returns stopReason; if there is none, reason.
func (o Output) StopReason() string { return cmp.Or(o.Text("stopReason"), o.Text("reason")) }

// SystemMessage returns systemMessage.
func (o Output) SystemMessage() string { return o.Text("systemMessage") }

// SuppressesOutput reports whether suppressOutput is true.
func (o Output) SuppressesOutput() bool { return o.IsTrue("suppressOutput") }

// Context returns hookSpecificOutput.additionalContext.
func (o Output) Context() string { return o.Specific().Text("additionalContext") }

// Specific returns hookSpecificOutput.
func (o Output) Specific() jsonx.Object { return o.Object.Object("hookSpecificOutput") }

// WithSpecific returns o with one field of hookSpecificOutput set.
func (o Output) WithSpecific(name string, value jsontext.Value) Output {
	return Output{o.WithObject("hookSpecificOutput", o.Specific().With(name, value))}
}

// BlockedBy reports whether an output blocks the event.
func (e Event) BlockedBy(o Output) bool {
	return e.refusedBy(o) || e.ContextBlocks && o.Context() != ""
}

// refusedBy reports whether the decision of an output blocks the event.
func (e Event) refusedBy(o Output) bool {
	switch {
	case e.Behavior:
		return o.behavior() == "deny"
	case e.Action:
		return o.Blocks() || o.Specific().Text("action") == "decline" || o.Specific().Text("action") == "cancel"
	}
	return o.Blocks() || e.Permissions && o.denies()
}

// StoppedBy reports whether an output stops the agent at the event.
func (e Event) StoppedBy(o Output) bool {
	if e.Behavior {
		return o.behavior() == "deny" && o.Specific().Object("decision").IsTrue("interrupt")
	}
	return o.Stops() && !e.IgnoresStop
}

// behavior returns the decision about a permission request.
func (o Output) behavior() string { return o.Specific().Object("decision").Text("behavior") }

// The verdicts, of one output or of the hooks of an event together.
const (
	Undecided = "undecided" // the agent does what it would do without hooks
	Allow     = "allow"     // the agent goes on without asking the user
	Ask       = "ask"       // the agent asks the user
	Defer     = "defer"     // Claude Code only: stricter than ask
	Deny      = "deny"
)

// Verdict returns what an output decides on the event.
func (e Event) Verdict(o Output) string {
	permission := o.Specific().Text("permissionDecision")
	switch {
	case e.BlockedBy(o):
		return Deny
	case e.Behavior && o.behavior() == "allow", e.Action && o.Specific().Text("action") == "accept":
		return Allow
	case e.Behavior || e.Action || e.OnlyBlocks:
		return Undecided
	case e.Permissions && (permission == Ask || permission == Defer || permission == Allow):
		return permission
	case o.Decision() == "approve" || o.Decision() == Allow:
		return Allow
	case o.Decision() == Ask:
		return Ask
	}
	return Undecided
}

// Reason returns the reason that an output gives for its decision about the event.
func (e Event) Reason(o Output) string {
	if e.Permissions {
		if why := o.Specific().Text("permissionDecisionReason"); why != "" {
			return why
		}
	}
	if e.Behavior {
		return o.Specific().Object("decision").Text("message")
	}
	if e.ContextBlocks && !o.Blocks() {
		return o.Context()
	}
	return o.Text("reason")
}

func isBlock(decision string) bool { return decision == "block" || decision == "deny" }
