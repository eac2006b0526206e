package rewrite

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
	"github.com/fsmtx/fsmtx/internal/visible"
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
	return format(data, false)
}

// Renumber is like Format but gives the tasks the ids 1, 2, 3 and so on, in the order of the
// file and in each array by itself, and adapts the references to them.
func Renumber(data []byte) ([]byte, error) {
	return format(data, true)
}

// numbering returns the new ids of the tasks of a level.
func numbering(tasks jsontext.Value, renumber bool) func(int64) int64 {
	if !renumber {
		return func(id int64) int64 { return id }
	}
	number := map[int64]int64{}
	for i, task := range elements(tasks) {
		for _, m := range members(task) {
			if m.name == "id" {
				number[idOf(m.value)] = int64(i + 1)
			}
		}
	}
	return func(id int64) int64 { return number[id] }
}

func format(data []byte, renumber bool) ([]byte, error) {
	if _, err := fsmspec.Parse(data); err != nil {
		return nil, err
	}
	steps, vars := jsontext.Value(data), ""
	if steps.Kind() == '[' {
		return visible.JSON(append(writeTasks(steps, renumber), '\n')), nil
	}
	for _, m := range members(steps) {
		switch m.name {
		case "steps":
			steps = m.value
		case "vars":
			vars = fmt.Sprintf("  \"vars\": %s,\n", bytes.ReplaceAll(lines(m.value), []byte("\n    "), []byte("\n  ")))
		}
	}
	indented := bytes.ReplaceAll(writeTasks(steps, renumber), []byte("\n"), []byte("\n  "))
	return visible.JSON(fmt.Appendf(nil, "{\n  \"fsm\": %d,\n%s  \"steps\": %s\n}\n", fsmspec.WithOutcomes, vars, indented)), nil
}

// writeTasks returns the array of the tasks in its canonical form.
func writeTasks(tasks jsontext.Value, renumber bool) []byte {
	var out bytes.Buffer
	number := numbering(tasks, renumber)
	before := "[\n  "
	for _, task := range elements(tasks) {
		out.WriteString(before)
		writeTask(&out, task, number, renumber)
		before = ",\n  "
	}
	if out.Len() == 0 {
		return []byte("[]")
	}
	out.WriteString("\n]")
	return out.Bytes()
}

// writeTask writes a task with each member on a separate line.
func writeTask(out *bytes.Buffer, task jsontext.Value, number func(int64) int64, renumber bool) {
	separator := "{\n    "
	for _, m := range sorted(members(task)) {
		value := m.value
		switch {
		case value.Kind() == 'n' && slices.Contains(fsmspec.Fields(), m.name):
			continue
		case m.name == "id":
			value = appendNumber(nil, value, number)
		case m.name == "blocks" || m.name == "blockedBy":
			value = ids(value, number)
		case m.name == "produces" || m.name == "ready":
			value = texts(value)
		case m.name == "outcomes":
			value = outcomes(value, number)
		case m.name == "when":
			value = conditions(value, number)
		case m.name == "do" && value.Kind() == '[':
			value = bytes.ReplaceAll(writeTasks(value, renumber), []byte("\n"), []byte("\n    "))
		case m.name == "set":
			value = lines(value)
		case m.name == "decides" && value.Kind() == '{', m.name == "each" && value.Kind() == '{':
			value = oneLine(value)
		case value.Kind() == '"':
			value = quoted(unquoted(value))
		default:
			value = bytes.Clone(value)
			_ = value.Indent(jsontext.WithIndentPrefix("    "), jsontext.WithIndent("  "))
			value = bytes.TrimSpace(value)
		}
		fmt.Fprintf(out, "%s%s: %s", separator, quoted(m.name), value)
		separator = ",\n    "
	}
	out.WriteString("\n  }")
}

type field struct {
	name  string
	value jsontext.Value
}

// sorted returns the fields in their canonical order.
func sorted(fields []field) []field {
	place := func(f field) int {
		if i := slices.Index(fsmspec.Fields(), f.name); i >= 0 {
			return i
		}
		return len(fsmspec.Fields())
	}
	slices.SortStableFunc(fields, func(a, b field) int { return place(a) - place(b) })
	return fields
}

func members(object jsontext.Value) (fields []field) {
	decoder := jsontext.NewDecoder(bytes.NewReader(object))
	_, _ = decoder.ReadToken()
	for decoder.PeekKind() == '"' {
		name, _ := decoder.ReadToken()
		text := name.String()
		value, _ := decoder.ReadValue()
		fields = append(fields, field{text, bytes.Clone(value)})
	}
	return fields
}

// elements returns the elements of a valid array.
func elements(array jsontext.Value) (all []jsontext.Value) {
	decoder := jsontext.NewDecoder(bytes.NewReader(array))
	_, _ = decoder.ReadToken() // the file is valid, here and below
	for decoder.PeekKind() != ']' {
		value, _ := decoder.ReadValue()
		all = append(all, bytes.Clone(value))
	}
	return all
}

// ids writes a list of ids on one line.
func ids(list jsontext.Value, number func(int64) int64) jsontext.Value {
	decoder := jsontext.NewDecoder(bytes.NewReader(list))
	_, _ = decoder.ReadToken()
	text := []byte{'['}
	for i := 0; decoder.PeekKind() == '0'; i++ {
		if i > 0 {
			text = append(text, ", "...)
		}
		id, _ := decoder.ReadValue()
		text = appendNumber(text, id, number)
	}
	return append(text, ']')
}

// texts writes a list of strings, on one line unless the line would be long.
func texts(list jsontext.Value) jsontext.Value {
	const longest = 90
	decoder := jsontext.NewDecoder(bytes.NewReader(list))
	_, _ = decoder.ReadToken()
	var all []string
	for decoder.PeekKind() == '"' {
		text, _ := decoder.ReadValue()
		all = append(all, string(quoted(unquoted(text))))
	}
	if line := "[" + strings.Join(all, ", ") + "]"; len(line) <= longest {
		return jsontext.Value(line)
	}
	return jsontext.Value("[\n      " + strings.Join(all, ",\n      ") + "\n    ]")
}

// outcomes writes the outcomes of a step: names on one line, or each outcome with its effects
// on a line of its own.
func outcomes(value jsontext.Value, number func(int64) int64) jsontext.Value {
	if value.Kind() == '[' {
		return texts(value)
	}
	var lines []string
	for _, o := range members(value) {
		var effects []string
		if o.value.Kind() == '{' {
			for _, e := range members(o.value) {
				switch {
				case e.value.Kind() == 'n':
					continue
				case e.name == "back":
					e.value = appendNumber(nil, e.value, number)
				case e.name == "max":
					e.value = appendNumber(nil, e.value, func(n int64) int64 { return n })
				}
				effects = append(effects, fmt.Sprintf("%s: %s", quoted(e.name), oneLine(e.value)))
			}
		}
		lines = append(lines, fmt.Sprintf("%s: {%s}", quoted(o.name), strings.Join(effects, ", ")))
	}
	return jsontext.Value("{\n      " + strings.Join(lines, ",\n      ") + "\n    }")
}

// lines writes an object with each member on a line.
func lines(object jsontext.Value) jsontext.Value {
	var all []string
	for _, m := range members(object) {
		all = append(all, fmt.Sprintf("%s: %s", quoted(m.name), oneLine(m.value)))
	}
	if len(all) == 0 {
		return jsontext.Value("{}")
	}
	return jsontext.Value("{\n      " + strings.Join(all, ",\n      ") + "\n    }")
}

// conditions writes the conditions of a step on one line.
func conditions(value jsontext.Value, number func(int64) int64) jsontext.Value {
	var all []string
	for _, c := range members(value) {
		id, _ := strconv.ParseInt(c.name, 10, 64)
		all = append(all, fmt.Sprintf("%q: %s", strconv.FormatInt(number(id), 10), oneLine(c.value)))
	}
	return jsontext.Value("{" + strings.Join(all, ", ") + "}")
}

// oneLine writes a value on one line, with a space after each comma and colon, and strings in
// their shortest spelling.
func oneLine(value jsontext.Value) jsontext.Value {
	value = bytes.Clone(value)
	_ = value.Format(jsontext.Multiline(false), jsontext.SpaceAfterComma(true), jsontext.SpaceAfterColon(true), jsontext.PreserveRawStrings(false))
	return value
}

// appendNumber appends the new number of an id, which may be spelled like 1.0 or 1e0.
func appendNumber(text []byte, id jsontext.Value, number func(int64) int64) []byte {
	return strconv.AppendInt(text, number(idOf(id)), 10)
}

func idOf(id jsontext.Value) int64 {
	n, _ := new(big.Rat).SetString(string(id))
	return n.Num().Int64()
}

func unquoted(value jsontext.Value) string {
	text, _ := jsontext.AppendUnquote(nil, value)
	return string(text)
}

func quoted(text string) jsontext.Value {
	value, _ := jsontext.AppendQuote(nil, text)
	return value
}

// HasComments reports whether the file is not JSON and [Fix] can make it JSON: only comments,
// trailing commas and text around the JSON are wrong.
func HasComments(data []byte) bool {
	if jsonx.Check(data, jsonx.Tolerant) == nil {
		return false
	}
	fixed, _ := Fix(data)
	return jsonx.Check(fixed, jsonx.Tolerant) == nil
}
