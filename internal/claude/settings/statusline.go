package settings

import (
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
// In the second form the user's line runs alone if the program is missing. With --also the program
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
	doc, err := parse(data)
	if err != nil {
		return Report{}, err
	}
	_, line, err := doc.statusLine()
	if err != nil {
		return Report{}, err
	}
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

// statusLine returns the object of the status line and its command, nil if there is none. It returns ErrShape if it
// is not a command.
func (d *document) statusLine() (*hujson.Object, string, error) {
	i := index(d.top, statusKey)
	if i < 0 {
		return nil, "", nil
	}
	value := d.top.Members[i].Value
	o, err := d.object(value, "/"+statusKey)
	if err != nil {
		return nil, "", err
	}
	kind, _ := text(member(o, "type"))
	line, ok := text(member(o, "command"))
	if !ok || kind != "command" {
		return nil, "", fmt.Errorf("%v: %w: /%s is not a command", d.position(value), ErrShape, statusKey)
	}
	return o, line, nil
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
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	if o, line, _ := doc.statusLine(); o != nil {
		o.Members[index(o, "command")].Value.Value = hujson.String(statusPrefix(program) + line)
		return doc.pack(), nil
	}
	err = doc.insert([]string{statusKey}, struct {
		Type            string `json:"type"`
		Command         string `json:"command"`
		RefreshInterval int    `json:"refreshInterval"`
	}{"command", ownStatus(program), refresh}, false)
	return doc.pack(), err
}

// RemoveStatusLine returns settings whose status line is the user's again. It returns nil if
// nothing else is left. Errors are those of Inspect.
func RemoveStatusLine(data []byte) ([]byte, error) {
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	o, line, _ := doc.statusLine() // one that is not a command is not ours
	switch found, wraps := statusLineOf(line); {
	case found.Program == "":
		return data, nil
	case wraps:
		o.Members[index(o, "command")].Value.Value = hujson.String(found.Line)
	default:
		drop(doc.top, statusKey)
	}
	return doc.pack(), nil
}
