package hooks

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Output is what one hook said, or several together: decision, reason, continue,
// stopReason, suppressOutput, systemMessage and hookSpecificOutput. Fields of
// another type than they should have count as absent.
type Output struct {
	object
}

// ParseOutput reads an output from a JSON object.
func ParseOutput(data jsontext.Value) (Output, bool) {
	o, ok := parseObject(data)
	return Output{o}, ok
}

// Decision returns the decision, "" if there is none.
func (o Output) Decision() string { return o.text("decision") }

// Blocks reports whether the decision is block or deny.
func (o Output) Blocks() bool { return isBlock(o.Decision()) }

// Denies reports whether the compatibility field permissionDecision is block or
// deny. Only a tool's permission event honours it.
func (o Output) Denies() bool { return isBlock(o.specific().text("permissionDecision")) }

// Stops reports whether continue is false: the agent is to stop.
func (o Output) Stops() bool { return o.isFalse("continue") }

// StopReason returns stopReason, else reason.
func (o Output) StopReason() string { return cmp.Or(o.text("stopReason"), o.text("reason")) }

// SystemMessage returns systemMessage.
func (o Output) SystemMessage() string { return o.text("systemMessage") }

// SuppressesOutput reports whether suppressOutput is true.
func (o Output) SuppressesOutput() bool { return o.isTrue("suppressOutput") }

// Context returns hookSpecificOutput.additionalContext.
func (o Output) Context() string { return o.specific().text("additionalContext") }

func (o Output) specific() object { return o.object.object("hookSpecificOutput") }

// withSpecific returns o with one field of hookSpecificOutput set.
func (o Output) withSpecific(name string, value jsontext.Value) Output {
	return Output{o.withObject("hookSpecificOutput", o.specific().with(name, value))}
}

// blockedBy reports whether o blocks under an event's rule.
func (r rule) blockedBy(o Output) bool {
	return o.Blocks() || r.permissions && o.Denies()
}

// reason returns why o blocks: the compatibility field first, where it counts.
func (r rule) reason(o Output) string {
	if r.permissions {
		if why := o.specific().text("permissionDecisionReason"); why != "" {
			return why
		}
	}
	return o.text("reason")
}

func isBlock(decision string) bool { return decision == "block" || decision == "deny" }

// say returns an output made of string fields, name by name.
func say(namesAndValues ...string) Output {
	var b builder
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		b.set(namesAndValues[i], quote(namesAndValues[i+1]))
	}
	return Output{b.object}
}

// lines joins the texts that are not empty by newlines.
func lines(texts []string) string {
	var some []string
	for _, t := range texts {
		if t != "" {
			some = append(some, t)
		}
	}
	return strings.Join(some, "\n")
}
