package fsmspec

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// otherFormat returns a message for a file with a syntax error at offset that is empty or in
// another format, or "" if it is neither.
func otherFormat(data []byte, offset int) string {
	if bytes.ContainsAny(data[:min(offset, len(data))], "[{\"") {
		return ""
	}
	lines := meaningfulLines(data)
	switch {
	case len(lines) == 0:
		return "the file is empty: write an array of tasks, such as [{\"id\": 1, \"subject\": \"Set up\"}]"
	case bytes.HasPrefix(lines[0], []byte("```")), bytes.HasPrefix(lines[0], []byte("~~~")):
		return "the file is a Markdown code block: remove the line before the array and the line after it"
	case string(lines[0]) == "---" && slices.ContainsFunc(lines[1:], func(line []byte) bool { return string(line) == "---" }):
		return "the file is Markdown with a frontmatter, or several YAML documents, and not a workflow"
	case slices.ContainsFunc(lines[:min(len(lines), 3)], isYAML):
		return "the file is YAML, and has to be JSON"
	}
	return ""
}

// meaningfulLines returns the first lines that are not blank and not YAML comments.
func meaningfulLines(data []byte) (lines [][]byte) {
	for line := range bytes.Lines(data[:min(len(data), 4096)]) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}

// isYAML reports whether a line is the beginning of a YAML document, an element of a
// list, or a key.
func isYAML(line []byte) bool {
	if bytes.Equal(line, []byte("---")) || bytes.HasPrefix(line, []byte("- ")) {
		return true
	}
	key, _, found := bytes.Cut(line, []byte(":"))
	return found && len(key) > 0 && len(bytes.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-")) == 0
}

// objectRemedy returns a hint for a file that holds an object instead of an array, or "". data
// begins with the object.
func objectRemedy(data []byte) string {
	end, ok := objectEnd(data)
	if !ok {
		return ""
	}
	object, rest := jsontext.Value(data[:end]), bytes.TrimLeft(data[end:], " \t\r\n,")
	if bytes.HasPrefix(rest, []byte("{")) {
		return ": put the tasks into one array, [{…}, {…}]"
	}
	for _, name := range []string{"tasks", "steps", "todos", "items", "workflow"} {
		if jsonx.Member(object, name).Kind() == '[' {
			return fmt.Sprintf(": keep only the array in %q", name)
		}
	}
	if (jsonx.Member(object, "id") != nil || jsonx.Member(object, "subject") != nil) && jsonx.Member(object, "states") == nil {
		return ": put brackets around the task, [{…}]"
	}
	return ", or be " + objectForm
}

// objectEnd returns the offset of the end of the JSON value with which data begins. ok is
// false if that value is not valid.
func objectEnd(data []byte) (end int, ok bool) {
	decoder := jsontext.NewDecoder(bytes.NewBuffer(data), jsonx.Tolerant)
	if _, err := decoder.ReadValue(); err != nil {
		return 0, false
	}
	return int(decoder.InputOffset()), true
}

// isShown is the number of characters of a subject that a task list shows in a terminal of 80
// columns. A list may cut it 15 columns before the edge (fact 80).
const isShown = 65

// warnSubject warns if a task list would not show the subject as it is written.
func (p *parser) warnSubject(t token, name, text string) {
	for _, r := range text {
		if fault := subjectFault(r); fault != "" {
			p.warn(t.start, "%s has %s", name, fault)
			break
		}
	}
	if n := len([]rune(text)); n > isShown {
		p.warn(t.start, "%s has %d characters, and in 80 columns a task list shows the first %d: move the rest into description", name, n,
			isShown)
	}
}

// subjectFault returns why a subject should not contain the character, or "".
func subjectFault(r rune) string {
	switch {
	case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
		return "a line break: write one line, and the rest into description"
	case r < ' ' || r >= 0x7F && r <= 0x9F:
		return fmt.Sprintf("the control character %U, which does not show: remove it", r)
	case r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069':
		return fmt.Sprintf("the invisible character %U, which changes the order in which text is shown: remove it", r)
	}
	return ""
}
