package dialect

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/js"
	"github.com/fsmtx/fsmtx/internal/hooks/process"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// ExitBlock is the exit code of a hook that objects.
const ExitBlock = 2

// Answer is what a hook said.
type Answer struct {
	Output *Output  // nil if it said nothing
	Notes  []string // for the log: what was ignored, and why
}

// Read returns what a hook of an event said, by the row of the event's table. A hook
// that could not be started or was stopped said nothing.
func (d Dialect) Read(e Event, o process.Outcome) Answer {
	switch {
	case o.Err != nil:
		return Answer{}
	case o.Exited(0):
		return d.readStdout(e, js.Trim(o.Stdout))
	case o.Exited(ExitBlock):
		return d.readExit2(e, o)
	}
	return d.meaning(e.Said.Failure, js.Trim(o.Stderr))
}

// readStdout reads the trimmed standard output of a hook that exited with 0.
func (d Dialect) readStdout(e Event, text string) Answer {
	if text == "" {
		return Answer{}
	}
	value, isJSON := js.Parse(jsontext.Value(text))
	if inner, isText := js.String(value); isText && d.Answers.DecodesTwice {
		value, isJSON = js.Parse(jsontext.Value(inner))
	}
	switch {
	case isJSON && value.Kind() == '{':
		said, _ := ParseOutput(value)
		return d.addressed(e, said)
	case isJSON:
		return d.meaning(e.Said.OtherJSON, text).noting(e.Said.ignoresJSON(value), fmt.Sprintf("its output is JSON and %s; it is ignored", jsonx.Got(value.Kind(), "an object")))
	case strings.HasPrefix(text, "{"):
		return d.meaning(e.Said.Broken, text).noting(e.Said.Broken == Nothing, "its output begins as JSON and does not parse; it is ignored")
	}
	return d.meaning(e.Said.Text, text)
}

// ignoresJSON reports whether a JSON value is ignored where text would not be, which
// is worth a note. null is the documented way to say nothing.
func (s Said) ignoresJSON(value jsontext.Value) bool {
	return s.OtherJSON == Nothing && s.Text != Nothing && value.Kind() != 'n'
}

// readExit2 reads a hook that exited with 2.
func (d Dialect) readExit2(e Event, o process.Outcome) Answer {
	text := js.Trim(o.Stderr)
	if text == "" {
		text = d.Answers.SilentReason
	}
	answer := d.meaning(e.Said.Exit2, text)
	said, isObject := ParseOutput(jsontext.Value(js.Trim(o.Stdout)))
	if answer.Output == nil || !isObject || !d.Answers.ContextOnBlock {
		return answer
	}
	from := d.addressed(e, said)
	if context := from.Output.Context(); context != "" {
		*answer.Output = answer.Output.WithSpecific("additionalContext", js.Quote(context))
	}
	return Answer{answer.Output, from.Notes}
}

// meaning returns the output that a text stands for. An empty text says nothing.
func (d Dialect) meaning(m Meaning, text string) Answer {
	var o Output
	switch {
	case m == Nothing || text == "":
		return Answer{}
	case m == SystemMessage:
		o.Object = o.WithText("decision", "allow").WithText("systemMessage", text)
	case m == Warning:
		o.Object = o.WithText("decision", "allow").WithText("systemMessage", "Warning: "+text)
	case m == Context:
		o = o.WithSpecific("additionalContext", js.Quote(text))
	case m == Block:
		o.Object = o.WithText("decision", d.Answers.BlockDecision).WithText("reason", text)
	}
	return Answer{Output: &o}
}

func (a Answer) noting(when bool, note string) Answer {
	if when {
		a.Notes = append(a.Notes, note)
	}
	return a
}

// addressed drops hookSpecificOutput if the dialect requires it to name its event and
// it names another one.
func (d Dialect) addressed(e Event, said Output) Answer {
	name := said.Specific().Text("hookEventName")
	if !d.Answers.NamesEvent || !said.Has("hookSpecificOutput") || name == e.Name {
		return Answer{Output: &said}
	}
	note := fmt.Sprintf("its hookSpecificOutput names the event %q, not %s; it is ignored", name, e.Name)
	return Answer{&Output{said.Without("hookSpecificOutput")}, []string{note}}
}
