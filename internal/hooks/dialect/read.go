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
	Heard  bool     // its output counts, whatever the exit
	Text   bool     // the output is what a text stands for
}

// Read returns what a hook of an event said, by the row of the event's table. A hook
// that could not be started or was stopped said nothing.
func (d Dialect) Read(e Event, o process.Outcome) Answer {
	switch {
	case o.Err != nil:
		return Answer{}
	case d.Answers.Loose:
		return d.readLoose(o)
	case d.Answers.Heard:
		return d.readAnyExit(e, o)
	case o.Exited(0):
		return d.readStdout(e, js.Trim(o.Stdout))
	case o.Exited(ExitBlock):
		return d.readExit2(e, o)
	}
	return d.meaning(e.Said.Failure, js.Trim(o.Stderr))
}

// readAnyExit reads a hook of an agent for which an object on standard output counts
// whatever the exit. An exit of 2 blocks as well.
func (d Dialect) readAnyExit(e Event, o process.Outcome) Answer {
	text := js.Trim(o.Stdout)
	value, isJSON := js.Parse(jsontext.Value(text))
	said, isObject := ParseOutput(value)
	if !isJSON || !isObject {
		return d.readText(e, o, text)
	}
	if said.IsTrue("async") {
		return Answer{Notes: []string{`its output is {"async": true}: it runs on in the background, and nothing that it does blocks`}}
	}
	if why := d.Answers.Schema.Violation(said); why != "" {
		answer := d.readText(e, o, "")
		answer.Notes = append(answer.Notes, append([]string{why + "; the whole output is ignored"}, d.Answers.Schema.Meant(e, said)...)...)
		return answer
	}
	answer := d.addressed(e, said)
	answer.Heard = true
	answer.Notes = append(answer.Notes, d.Answers.Schema.Meant(e, said)...)
	if e.Action && !o.Exited(0) && answer.Output.Has("hookSpecificOutput") {
		answer.Output.Object = answer.Output.Without("hookSpecificOutput")
		answer.Notes = append(answer.Notes, fmt.Sprintf("hookSpecificOutput counts at %s only with exit 0", e.Name))
	}
	if e.Verbatim && o.Exited(0) && !e.BlockedBy(*answer.Output) {
		answer.Output.Object = answer.Output.Without("decision", "continue", "stopReason")
		whole := answer.Output.WithSpecific("additionalContext", js.Quote(text))
		answer.Output, answer.Text = &whole, true
		answer.Notes = append(answer.Notes, "the model reads the whole object as text")
	}
	if o.Exited(ExitBlock) && e.BlockedBy(*answer.Output) && !answer.Output.Has("decision") && e.Said.Exit2 == Block {
		answer.Output.Object = answer.Output.WithText("decision", d.Answers.BlockDecision)
	}
	if o.Exited(ExitBlock) && !e.BlockedBy(*answer.Output) {
		blocked := d.readText(e, o, "")
		if blocked.Output != nil {
			merged := Output{answer.Output.Merged(blocked.Output.Object)}
			if specific := merged.Specific().Without("permissionDecision"); merged.Has("hookSpecificOutput") {
				merged.Object = merged.WithObject("hookSpecificOutput", specific)
			}
			answer.Output = &merged
		}
	}
	return answer
}

// readLoose reads a hook of an agent that takes standard error for the output if there is
// no other. A signal counts as exit 0.
func (d Dialect) readLoose(o process.Outcome) Answer {
	text := js.Trim(o.Stdout)
	if text == "" {
		text = js.Trim(o.Stderr)
	}
	value, isJSON := js.Parse(jsontext.Value(text))
	if inner, isText := js.String(value); isText {
		value, isJSON = js.Parse(jsontext.Value(inner))
	}
	if said, isObject := ParseOutput(value); isJSON {
		switch {
		case isObject:
			return Answer{Output: &said, Heard: true}
		case value.Kind() == '[':
			return Answer{Output: &Output{}, Heard: true}
		}
		return Answer{Notes: []string{"its output is JSON and " + jsonx.Got(value.Kind(), "an object") + "; it is ignored, and so is its exit code"}}
	}
	meaning := Block
	switch {
	case o.Signal != "" || o.ExitCode == 0:
		meaning = SystemMessage
	case o.ExitCode == 1:
		meaning = Warning
	}
	answer := d.meaning(meaning, text)
	answer.Heard = answer.Output != nil
	return answer
}

// readText reads a hook whose standard output is no object.
func (d Dialect) readText(e Event, o process.Outcome, text string) Answer {
	switch {
	case o.Exited(0):
		return d.readStdout(e, text)
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
		if why := d.Answers.Schema.Violation(said); why != "" {
			return Answer{Notes: append([]string{why + "; the whole output is ignored"}, d.Answers.Schema.Meant(e, said)...)}
		}
		if d.Answers.NeedsReason && e.BlockedBy(said) && e.Reason(said) == "" {
			return Answer{Notes: []string{"it blocks and gives no reason; the whole output is ignored"}}
		}
		answer := d.addressed(e, said)
		answer.Notes = append(answer.Notes, d.Answers.Schema.Meant(e, said)...)
		return answer
	case isJSON:
		return d.meaning(e.Said.OtherJSON, text).noting(e.Said.ignoresJSON(value), fmt.Sprintf("its output is JSON and %s; it is ignored", jsonx.Got(value.Kind(), "an object")))
	case strings.HasPrefix(text, "{"):
		note := "its output begins as JSON and does not parse; it is ignored"
		if e.Said.Broken == Context {
			note = "its output begins as JSON and does not parse; the model reads it as text"
		}
		return d.meaning(e.Said.Broken, text).noting(e.Said.Broken == Nothing || e.Said.Broken == Context, note)
	}
	return d.meaning(e.Said.Text, text).noting(d.hasDecision(text), "a JSON object counts only if there is no other text on standard output: all of it is read as text")
}

// hasDecision reports whether a text contains a line that would count if it were alone.
func (d Dialect) hasDecision(text string) bool {
	for line := range strings.Lines(text) {
		said, isObject := ParseOutput(jsontext.Value(js.Trim(line)))
		for name := range said.All() {
			if isObject && d.Answers.Schema.Fields != nil && d.Answers.Schema.Knows(name) {
				return true
			}
		}
	}
	return false
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
	return d.meaning(e.Said.Exit2, text)
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
	return Answer{Output: &o, Text: true}
}

func (a Answer) noting(when bool, note string) Answer {
	if when {
		a.Notes = append(a.Notes, note)
	}
	return a
}

// addressed drops what does not count if hookSpecificOutput names another event than the
// one that fired: hookSpecificOutput itself, and continue.
func (d Dialect) addressed(e Event, said Output) Answer {
	name := said.Specific().Text("hookEventName")
	if d.Answers.Schema.Fields == nil || d.Answers.Schema.AnyEvent || !said.Has("hookSpecificOutput") || name == e.Name {
		return Answer{Output: &said}
	}
	note := fmt.Sprintf("its hookSpecificOutput names the event %q, not %s; it is ignored, and so is continue", name, e.Name)
	return Answer{Output: &Output{said.Without("hookSpecificOutput", "continue", "stopReason")}, Notes: []string{note}}
}
