package settings

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// The client's status line is one command, "statusLine" in its settings; nearer files overrule
// others, and the client shows what the command prints (facts 152 and 153, client 2.1.329). This
// program adds itself without taking the user's line away:
//
//	test ! -x P || exec P statusline --also        the file had none
//	test -x P && exec P statusline --also; LINE    the file had LINE
//
// In the second form only the beginning of the user's text is new, so that removing it restores
// every byte, and the user's line runs alone if the program is missing. With --also the program
// finds LINE, or the line of a file with less precedence, by StatusLine.

// statusKey is the member of the settings that has the status line.
const statusKey = "statusLine"

// statusWords are the words after the program in the registered status line.
var statusWords = []string{"statusline", "--also"}

// refresh is the number of seconds after which the client runs a status line again that was
// added, without an event: while the client waits for the person there is none (fact 154, client
// 2.1.329).
const refresh = 5

// StatusLine is the status line of a settings file.
type StatusLine struct {
	Set     bool   // the file has one
	Program string // this program, if it is registered; else empty
	Line    string // the line of the shell of the user, empty if there is none
}

// ReadStatusLine returns the status line of settings. Settings that the client could not use
// have none.
func ReadStatusLine(data []byte) StatusLine {
	data = []byte(strings.TrimPrefix(string(data), bom))
	value := jsonx.Member(jsontext.Value(data), statusKey)
	if value.Kind() != '{' || jsonx.StringMember(value, "type") != "command" {
		return StatusLine{}
	}
	l, _ := statusLineOf(jsonx.StringMember(value, "command"))
	return l
}

// statusLineOf returns what a line of the shell is, and whether a line of the user follows this
// program's; it may be empty.
func statusLineOf(line string) (l StatusLine, wraps bool) {
	l = StatusLine{Set: line != "", Line: line}
	if words, ok := shell.Guarded(line); ok && isStatus(words) {
		l.Program, l.Line = words[0], ""
	} else if program, rest, ok := cutStatus(line); ok {
		l.Program, l.Line, wraps = program, rest, true
	}
	return l, wraps
}

func isStatus(words []string) bool { return len(words) > 1 && words[1] == statusWords[0] }

// cutStatus returns the program and the rest of a line that begins with statusPrefix.
func cutStatus(line string) (program, rest string, ok bool) {
	const end = " --also; "
	at := strings.Index(line, end)
	if at < 0 {
		return "", "", false
	}
	begin, rest := line[:at+len(end)], line[at+len(end):]
	if i := strings.Index(begin, "&& exec "); i >= 0 {
		words, ok := shell.Call(strings.TrimSuffix(begin[i+len("&& exec "):], "; "))
		if ok && isStatus(words) && begin == statusPrefix(words[0]) {
			return words[0], rest, true
		}
	}
	return "", "", false
}

// statusPrefix is what is put before the user's line.
func statusPrefix(program string) string {
	there := "command -v " + word(program) + " >/dev/null"
	if strings.Contains(program, "/") {
		there = "test -x " + word(program)
	}
	return there + " && exec " + word(program) + " " + shell.Join(statusWords...) + "; "
}

// InspectStatusLine compares the status line of settings with the one that AddStatusLine
// registers. Errors are those of Inspect.
func InspectStatusLine(data []byte, program string) (Report, error) {
	if blank(data) {
		return Report{State: Absent}, nil
	}
	doc, err := parse(data)
	if err != nil {
		return Report{}, err
	}
	at, _, err := doc.statusLine()
	switch {
	case errors.Is(err, errNoLine):
		return Report{State: Absent}, nil
	case err != nil:
		return Report{}, err
	}
	line, _ := at.text("command")
	switch found, wraps := statusLineOf(line); {
	case found.Program == "":
		return Report{State: Absent}, nil
	case found.Program != program:
		return Report{State: Outdated, Why: []string{fmt.Sprintf("%s: runs %s, want %s", statusKey, found.Program, program)}}, nil
	case !wraps && line != ownStatus(program):
		return Report{State: Outdated, Why: []string{statusKey + ": has other arguments"}}, nil
	}
	return Report{State: Installed}, nil
}

func ownStatus(program string) string { return shell.Guard(word(program), statusWords) }

// errNoLine is returned by statusLine for settings without a status line.
var errNoLine = errors.New("no status line")

// statusLine returns the object of the status line and its index in the settings. It returns
// errNoLine, or ErrShape if it is not a command.
func (d document) statusLine() (object, int, error) {
	i := d.top.index(statusKey)
	if i < 0 {
		return object{}, i, errNoLine
	}
	value := d.top.Members[i].Value
	o, err := d.object(value, "/"+statusKey)
	if err != nil {
		return o, i, err
	}
	kind, _ := o.text("type")
	if _, ok := o.text("command"); !ok || kind != "command" {
		return o, i, fmt.Errorf("%v: %w: /%s is not a command", d.position(value), ErrShape, statusKey)
	}
	return o, i, nil
}

// AddStatusLine returns settings whose status line runs the program, and then the line that
// they had. Errors are those of Inspect.
func AddStatusLine(data []byte, program string) ([]byte, error) {
	report, err := InspectStatusLine(data, program)
	if err != nil || report.State == Installed {
		return data, err
	}
	if data, err = RemoveStatusLine(data); err != nil {
		return nil, err
	}
	doc, l, top, err := open(data)
	if err != nil {
		return nil, err
	}
	o, _, err := doc.statusLine()
	switch {
	case err == nil:
		literal := o.member("command").(hujson.Literal)
		prefix := hujson.String(statusPrefix(program))
		*o.value("command") = append(prefix[:len(prefix)-1:len(prefix)-1], literal[1:]...)
		return doc.pack(), nil
	case !errors.Is(err, errNoLine):
		return nil, err
	}
	before, indent := l.place(top)
	value, err := l.format(fmt.Appendf(nil, `{"type": "command", "command": %s, "refreshInterval": %d}`,
		[]byte(hujson.String(ownStatus(program))), refresh), indent)
	if err != nil {
		return nil, err
	}
	doc.top.add(before, statusKey, value)
	return doc.pack(), nil
}

// RemoveStatusLine returns settings whose status line is the user's again. It returns nil if
// nothing else is left of a file that AddStatusLine created. Errors are those of Inspect.
func RemoveStatusLine(data []byte) ([]byte, error) {
	if blank(data) {
		return data, nil
	}
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	o, i, err := doc.statusLine()
	if err != nil {
		if errors.Is(err, errNoLine) || errors.Is(err, ErrShape) {
			err = nil // it is not ours
		}
		return data, err
	}
	line, _ := o.text("command")
	switch found, wraps := statusLineOf(line); {
	case found.Program == "":
		return data, nil
	case !wraps:
		doc.dropPath([]place{{doc.top, i}})
		return doc.left(), nil
	default:
		literal := o.member("command").(hujson.Literal)
		*o.value("command") = literalAfter(literal, strings.TrimSuffix(line, found.Line))
		return doc.pack(), nil
	}
}

// literalAfter returns the text of JSON without its beginning, which is prefix in whatever
// spelling; the rest keeps its own.
func literalAfter(literal hujson.Literal, prefix string) hujson.Literal {
	for at := 1; at < len(literal); at++ {
		begin, err := jsontext.AppendUnquote(nil, append(literal[:at:at], '"'))
		if err == nil && string(begin) == prefix {
			return append(hujson.Literal{'"'}, literal[at:]...)
		}
	}
	return literal
}
