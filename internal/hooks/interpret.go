package hooks

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

const exitBlock = 2

// interpretWith returns how LLxprt and Gemini CLI read a hook that ended. silent
// is the reason of a block that wrote nothing to standard error; without one
// such a hook says nothing.
func interpretWith(silent string) func(rule, outcome) (Output, bool, []string) {
	return func(_ rule, o outcome) (Output, bool, []string) {
		complaint := trim(o.stderr)
		switch {
		case o.err != nil:
			return Output{}, false, nil
		case o.success():
			return readOutput(o.stdout)
		case o.blocks() && complaint != "":
			return say("decision", "deny", "reason", complaint), true, nil
		case o.blocks() && silent != "":
			return say("decision", "deny", "reason", silent), true, nil
		case !o.blocks() && complaint != "":
			return say("decision", "allow", "systemMessage", "Warning: "+complaint), true, nil
		}
		return Output{}, false, nil
	}
}

// readOutput reads the standard output of a hook that succeeded: JSON first,
// text otherwise. An object that was encoded twice is decoded twice.
func readOutput(stdout string) (said Output, isSaid bool, notes []string) {
	text := trim(stdout)
	if text == "" {
		return Output{}, false, nil
	}
	value, ok := parseValue(jsontext.Value(text))
	if inner, isText := stringOf(value); ok && isText {
		value, ok = parseValue(jsontext.Value(inner))
	}
	switch {
	case !ok:
		return say("decision", "allow", "systemMessage", text), true, nil
	case value.Kind() == '{':
		said, isSaid = ParseOutput(value)
		return said, isSaid, nil
	case value.Kind() == 'n':
		return Output{}, false, nil
	}
	return Output{}, false, []string{fmt.Sprintf("its output %s is JSON and no object, and says nothing", shown(value))}
}

// interpretClaude is how Claude Code reads a hook that ended.
func interpretClaude(r rule, o outcome) (Output, bool, []string) {
	switch {
	case o.err != nil:
		return Output{}, false, nil
	case o.success():
		return readClaudeOutput(r, trim(o.stdout))
	case o.blocks():
		return claudeBlock(r, o)
	}
	return Output{}, false, nil
}

func readClaudeOutput(r rule, text string) (Output, bool, []string) {
	said, isObject := ParseOutput(jsontext.Value(text))
	switch {
	case isObject:
		said, notes := addressed(r, said)
		return said, true, notes
	case strings.HasPrefix(text, "{"):
		return Output{}, false, []string{"its output begins as JSON and does not parse; it is not applied"}
	case text != "" && r.textIsContext:
		return Output{}.withSpecific("additionalContext", quote(text)), true, nil
	}
	return Output{}, false, nil
}

// claudeBlock is exit 2. JSON on standard output is documented as ignored then;
// measured, additional context still reaches the model.
func claudeBlock(r rule, o outcome) (Output, bool, []string) {
	complaint := trim(o.stderr)
	if complaint == "" {
		complaint = "No stderr output"
	}
	block := say("decision", "block", "reason", complaint)
	said, isObject := ParseOutput(jsontext.Value(trim(o.stdout)))
	if !isObject {
		return block, true, nil
	}
	said, notes := addressed(r, said)
	if context := said.Context(); context != "" {
		block = block.withSpecific("additionalContext", quote(context))
	}
	return block, true, notes
}

// addressed drops hookSpecificOutput unless it names the event it answers.
func addressed(r rule, said Output) (Output, []string) {
	if !said.has("hookSpecificOutput") {
		return said, nil
	}
	name := said.specific().text("hookEventName")
	if name == r.name {
		return said, nil
	}
	note := fmt.Sprintf("its hookSpecificOutput names the event %q, not %s, and is dropped", name, r.name)
	return Output{said.without("hookSpecificOutput")}, []string{note}
}
