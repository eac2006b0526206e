package write

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
)

// Format returns a valid file in its canonical form:
//
//   - indented by two spaces, with a line feed at the end
//   - the fields of a task in the order in which the client writes them, then unknown fields
//   - without optional fields that are null, which means the same
//   - lists of ids, short lists of texts, conditions, each, and every outcome and value on one line
//   - ids as plain numbers
//   - strings in their shortest spelling, but with escapes for invisible characters
//
// The error is a *fsmspec.InvalidError.
func Format(data []byte) ([]byte, error) {
	if _, err := fsmspec.Parse(data); err != nil {
		return nil, err
	}
	steps, shell, vars := jsontext.Value(data), "", ""
	if steps.Kind() == '[' {
		return message.JSON(append(writeTasks(steps), '\n')), nil
	}
	for m := range jsonx.Parts(steps) {
		switch m.Name {
		case "steps":
			steps = m.Value
		case "shell":
			if m.Value.Kind() != 'n' {
				shell = fmt.Sprintf("  \"shell\": %s,\n", m.Value)
			}
		case "vars":
			vars = fmt.Sprintf("  \"vars\": %s,\n", bytes.ReplaceAll(lines(m.Value), []byte("\n    "), []byte("\n  ")))
		}
	}
	indented := bytes.ReplaceAll(writeTasks(steps), []byte("\n"), []byte("\n  "))
	return message.JSON(fmt.Appendf(nil, "{\n  \"fsm\": %d,\n%s%s  \"steps\": %s\n}\n", fsmspec.WithOutcomes, shell, vars, indented)), nil
}

// writeTasks returns the array of the tasks in its canonical form.
func writeTasks(tasks jsontext.Value) []byte {
	var out bytes.Buffer
	before := "[\n  "
	for task := range jsonx.Parts(tasks) {
		out.WriteString(before)
		writeTask(&out, task.Value)
		before = ",\n  "
	}
	if out.Len() == 0 {
		return []byte("[]")
	}
	out.WriteString("\n]")
	return out.Bytes()
}

// writeTask writes a task with each member on a separate line.
func writeTask(out *bytes.Buffer, task jsontext.Value) {
	separator := "{\n    "
	for _, m := range sorted(task) {
		value := m.Value
		switch {
		case value.Kind() == 'n' && slices.Contains(fsmspec.Fields(), m.Name):
			continue
		case m.Name == "id":
			value = appendNumber(nil, value)
		case m.Name == "blocks" || m.Name == "blockedBy":
			value = ids(value)
		case fsmspec.HasPatterns(m.Name):
			value = texts(value)
		case m.Name == "outcomes":
			value = outcomes(value)
		case m.Name == "when":
			value = conditions(value)
		case m.Name == "do" && value.Kind() == '[':
			value = bytes.ReplaceAll(writeTasks(value), []byte("\n"), []byte("\n    "))
		case m.Name == "set":
			value = lines(value)
		case m.Name == "decides" && value.Kind() == '{', m.Name == "each" && value.Kind() == '{':
			value = oneLine(value)
		case value.Kind() == '"':
			value = quoted(unquoted(value))
		default:
			value = bytes.Clone(value)
			_ = value.Indent(jsontext.WithIndentPrefix("    "), jsontext.WithIndent("  "))
			value = bytes.TrimSpace(value)
		}
		fmt.Fprintf(out, "%s%s: %s", separator, quoted(m.Name), value)
		separator = ",\n    "
	}
	out.WriteString("\n  }")
}

// sorted returns the members of an object in their canonical order.
func sorted(object jsontext.Value) []jsonx.Part {
	place := func(p jsonx.Part) int {
		if i := slices.Index(fsmspec.Fields(), p.Name); i >= 0 {
			return i
		}
		return len(fsmspec.Fields())
	}
	var members []jsonx.Part
	for p := range jsonx.Parts(object) {
		members = append(members, p)
	}
	slices.SortStableFunc(members, func(a, b jsonx.Part) int { return place(a) - place(b) })
	return members
}

// ids writes a list of ids on one line.
func ids(list jsontext.Value) jsontext.Value {
	text := []byte{'['}
	for id := range jsonx.Parts(list) { // the file is valid, here and below
		if len(text) > 1 {
			text = append(text, ", "...)
		}
		text = appendNumber(text, id.Value)
	}
	return append(text, ']')
}

// texts writes a list of strings, on one line unless the line would be long.
func texts(list jsontext.Value) jsontext.Value {
	const longest = 90
	var all []string
	for text := range jsonx.Parts(list) {
		all = append(all, string(quoted(unquoted(text.Value))))
	}
	if line := "[" + strings.Join(all, ", ") + "]"; len(line) <= longest {
		return jsontext.Value(line)
	}
	return jsontext.Value("[\n      " + strings.Join(all, ",\n      ") + "\n    ]")
}

// outcomes writes the outcomes of a step: names on one line, or each outcome with its effects
// on a line of its own.
func outcomes(value jsontext.Value) jsontext.Value {
	if value.Kind() == '[' {
		return texts(value)
	}
	var lines []string
	for o := range jsonx.Parts(value) {
		var effects []string
		if o.Value.Kind() == '{' {
			for e := range jsonx.Parts(o.Value) {
				switch {
				case e.Value.Kind() == 'n':
					continue
				case e.Name == "back" || e.Name == "max":
					e.Value = appendNumber(nil, e.Value)
				}
				effects = append(effects, fmt.Sprintf("%s: %s", quoted(e.Name), oneLine(e.Value)))
			}
		}
		lines = append(lines, fmt.Sprintf("%s: {%s}", quoted(o.Name), strings.Join(effects, ", ")))
	}
	return jsontext.Value("{\n      " + strings.Join(lines, ",\n      ") + "\n    }")
}

// lines writes an object with each member on a line.
func lines(object jsontext.Value) jsontext.Value {
	var all []string
	for m := range jsonx.Parts(object) {
		all = append(all, fmt.Sprintf("%s: %s", quoted(m.Name), oneLine(m.Value)))
	}
	if len(all) == 0 {
		return jsontext.Value("{}")
	}
	return jsontext.Value("{\n      " + strings.Join(all, ",\n      ") + "\n    }")
}

// conditions writes the conditions of a step on one line.
func conditions(value jsontext.Value) jsontext.Value {
	var all []string
	for c := range jsonx.Parts(value) {
		id, _ := strconv.ParseInt(c.Name, 10, 64)
		all = append(all, fmt.Sprintf("%q: %s", strconv.FormatInt(id, 10), oneLine(c.Value)))
	}
	return jsontext.Value("{" + strings.Join(all, ", ") + "}")
}

// oneLine writes a value on one line, with a space after each comma and colon, and strings in
// their shortest spelling.
func oneLine(value jsontext.Value) jsontext.Value {
	value = bytes.Clone(value)
	_ = value.Format(jsontext.Multiline(false), jsontext.SpaceAfterComma(true), jsontext.SpaceAfterColon(true),
		jsontext.PreserveRawStrings(false))
	return value
}

// appendNumber appends an id, which may be spelled like 1.0 or 1e0, as a plain number.
func appendNumber(text []byte, id jsontext.Value) []byte {
	n, _ := new(big.Rat).SetString(string(id))
	return n.Num().Append(text, 10)
}

func unquoted(value jsontext.Value) string {
	text, _ := jsontext.AppendUnquote(nil, value)
	return string(text)
}

func quoted(text string) jsontext.Value {
	value, _ := jsontext.AppendQuote(nil, text)
	return value
}
