package dialect

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/process"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Answer is what a hook's exit code and output mean.
type Answer struct {
	Output  *Output  // nil if there is none
	Notes   []string // for the log: what was ignored, and why
	AnyExit bool     // the output counts although the hook may not have exited with 0
	From    string   // the stream, or the exit code, that Meanings gives this output; "" if the output is the hook's object
}

// Read returns what the outcome of a hook means at an event. A hook that could not be
// started, or was stopped, has no output.
func (d Dialect) Read(e Event, o process.Outcome) Answer {
	if o.Err != nil {
		return Answer{}
	}
	switch d.Answers.Objects {
	case ObjectsOnAnyStream:
		return d.readAnyStream(e, o)
	case ObjectsOnAnyExit:
		return d.readAnyExit(e, o)
	}
	if d.Answers.TextByLook {
		return d.readByExit(e, o, strings.TrimSpace(o.Stdout)) // a byte order mark is text
	}
	return d.readByExit(e, o, jsonx.Trim(o.Stdout))
}

// readByExit reads a hook by its exit code. output is its trimmed standard output, which
// is read only with exit 0.
func (d Dialect) readByExit(e Event, o process.Outcome, output string) Answer {
	if o.Exited(0) {
		return d.readStdout(e, output)
	}
	if text := jsonx.Trim(o.Stderr); text != "" || !o.Exited(ExitBlock) {
		return d.meaning(e.Meanings.of(o), text, stderr)
	}
	return d.meaning(e.Meanings.of(o), d.Answers.SilentReason, FromExit)
}

// readAnyExit reads a hook of an agent that reads an object on standard output whatever
// the exit. Exit 2 blocks as well.
func (d Dialect) readAnyExit(e Event, o process.Outcome) Answer {
	text := jsonx.Trim(o.Stdout)
	value, isJSON := jsonx.Parse(jsontext.Value(text))
	out, isObject := ParseOutput(value)
	if !isJSON || !isObject {
		return d.readByExit(e, o, text)
	}
	if out.IsTrue("async") {
		return Answer{Notes: []string{`its output is {"async": true}: it continues in the background and cannot block`}}
	}
	if why := d.Answers.Schema.violation(e, out); why != "" {
		return d.readByExit(e, o, "").withNote(true, why+discarded)
	}
	answer := d.withoutForeignFields(e, out)
	answer.AnyExit = true
	if e.Action && !o.Exited(0) && answer.Output.Has("hookSpecificOutput") {
		answer.Output.Object = answer.Output.Without("hookSpecificOutput")
		answer.Notes = append(answer.Notes, fmt.Sprintf("hookSpecificOutput counts at %s only with exit 0", e.Name))
	}
	if e.Verbatim && o.Exited(0) && !e.BlockedBy(*answer.Output) {
		answer.Output.Object = answer.Output.Without("decision", "continue", "stopReason")
		whole := answer.Output.WithSpecific("additionalContext", jsonx.Quote(text))
		answer.Output, answer.From = &whole, stdout
		answer.Notes = append(answer.Notes, "the model reads the whole object as text")
	}
	if o.Exited(ExitBlock) {
		d.addExitBlock(e, o, answer.Output)
	}
	return answer
}

// addExitBlock adds to the object of a hook what its exit 2 means: a block, whose reason is
// the object's if the object blocks itself, and standard error otherwise.
func (d Dialect) addExitBlock(e Event, o process.Outcome, out *Output) {
	if e.refusedBy(*out) {
		if !out.Has("decision") && e.Meanings.Exit2 == Block {
			out.Object = out.WithText("decision", d.Answers.BlockDecision)
		}
		return
	}
	block := d.readByExit(e, o, "").Output
	if block == nil {
		return
	}
	merged := Output{out.Merged(block.Object)}
	if merged.Has("hookSpecificOutput") { // its permission must not contradict the block
		merged.Object = merged.WithObject("hookSpecificOutput", merged.Specific().Without("permissionDecision"))
	}
	*out = merged
}

// readAnyStream reads a hook of an agent that reads standard error if standard output is
// empty, and an object on either whatever the exit.
func (d Dialect) readAnyStream(e Event, o process.Outcome) Answer {
	text, from := jsonx.Trim(o.Stdout), stdout
	if text == "" {
		text, from = jsonx.Trim(o.Stderr), stderr
	}
	value, isJSON := d.parse(text)
	if !isJSON {
		answer := d.meaning(e.Meanings.of(o), text, from)
		answer.AnyExit = answer.Output != nil
		return answer
	}
	out, isObject := ParseOutput(value)
	switch specific := out.Get("hookSpecificOutput"); {
	case isObject && specific != nil && strings.ContainsRune(`"0t`, rune(specific.Kind())):
		return Answer{Notes: []string{"its hookSpecificOutput: " + jsonx.Got(specific.Kind(), "an object") + "; the whole output is ignored"}}
	case isObject:
		return Answer{Output: &out, AnyExit: true}
	case value.Kind() == '[':
		return Answer{Output: &Output{}, AnyExit: true}
	}
	return Answer{Notes: []string{"its output and its exit code are ignored: " + jsonx.Got(value.Kind(), "a JSON object")}}
}

// parse returns the JSON value in a text, or the one in a JSON string if the agent decodes
// twice.
func (d Dialect) parse(text string) (value jsontext.Value, ok bool) {
	value, ok = jsonx.Parse(jsontext.Value(text))
	if inner, isText := jsonx.String(value); isText && d.Answers.DecodesTwice {
		return jsonx.Parse(jsontext.Value(inner))
	}
	return value, ok
}

// readStdout reads the trimmed standard output of a hook that exited with 0.
func (d Dialect) readStdout(e Event, text string) Answer {
	if text == "" {
		return Answer{}
	}
	value, isJSON := d.parse(text)
	looksLikeJSON := strings.HasPrefix(text, "{") || d.Answers.TextByLook && strings.HasPrefix(text, "[")
	isJSON = isJSON && (looksLikeJSON || !d.Answers.TextByLook)
	switch {
	case isJSON && value.Kind() == '{':
		return d.readObject(e, value)
	case isJSON:
		note := "its output is ignored: " + jsonx.Got(value.Kind(), "a JSON object")
		return d.meaning(e.Meanings.OtherJSON, text, stdout).withNote(e.Meanings.ignoresJSON(value), note)
	case looksLikeJSON:
		note := fmt.Sprintf("its output begins with %c and is not valid JSON; it is ignored", text[0])
		if e.Meanings.Broken == Context {
			note = fmt.Sprintf("its output begins with %c and is not valid JSON; the model reads it as text", text[0])
		}
		return d.meaning(e.Meanings.Broken, text, stdout).withNote(e.Meanings.Broken == Nothing || e.Meanings.Broken == Context, note)
	}
	return d.meaning(e.Meanings.Text, text, stdout)
}

// readObject reads the object on the standard output of a hook that exited with 0.
func (d Dialect) readObject(e Event, value jsontext.Value) Answer {
	out, _ := ParseOutput(value)
	if why := d.Answers.Schema.violation(e, out); why != "" {
		return Answer{Notes: []string{why + discarded}}
	}
	return d.withoutForeignFields(e, out)
}

// discarded ends the note about an output that violates the schema.
const discarded = "; the whole output is ignored"

// ignoresJSON reports whether a JSON value is ignored where text would not be, which
// is worth a note. null is the documented way to say nothing.
func (m Meanings) ignoresJSON(value jsontext.Value) bool {
	return m.OtherJSON == Nothing && m.Text != Nothing && value.Kind() != 'n'
}

// What an output is made of, in messages.
const (
	stdout = "standard output"
	stderr = "standard error"

	// FromExit is for ExitBlock without a text.
	FromExit = "exit code 2"
)

// meaning returns the output that a text stands for, which is from a stream or the exit code. An
// empty text has none.
func (d Dialect) meaning(m Meaning, text, from string) Answer {
	var o Output
	switch {
	case m == Nothing || text == "":
		return Answer{}
	case m == SystemMessage:
		o.Object = o.WithText("decision", "allow").WithText("systemMessage", text)
	case m == Warning:
		o.Object = o.WithText("decision", "allow").WithText("systemMessage", "Warning: "+text)
	case m == Context:
		o = o.WithSpecific("additionalContext", jsonx.Quote(text))
	case m == Block:
		o.Object = o.WithText("decision", d.Answers.BlockDecision).WithText("reason", text)
	}
	return Answer{Output: &o, From: from}
}

func (a Answer) withNote(when bool, note string) Answer {
	if when {
		a.Notes = append(a.Notes, note)
	}
	return a
}

// withoutForeignFields drops hookSpecificOutput and continue if hookSpecificOutput names
// another event than the one that fired.
func (d Dialect) withoutForeignFields(e Event, out Output) Answer {
	name := out.Specific().Text("hookEventName")
	if d.Answers.Schema.fields == nil || d.Answers.Schema.anyEvent || !out.Has("hookSpecificOutput") || name == e.Name {
		return Answer{Output: &out}
	}
	note := fmt.Sprintf("its hookSpecificOutput names the event %q, not %s; it is ignored, and so is continue", name, e.Name)
	return Answer{Output: &Output{out.Without("hookSpecificOutput", "continue", "stopReason")}, Notes: []string{note}}
}
