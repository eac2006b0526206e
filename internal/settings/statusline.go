package settings

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/process"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// The client's status line is one command, "statusLine" in its settings; nearer files overrule
// others, and the client shows what the command prints (facts 152 and 153, client 2.1.329). This
// program is registered as
//
//	test ! -x P || exec P statusline --also
//
// in a file that has none. With --also the program runs the line of a file with less precedence, which it finds by
// StatusLine.

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
	Line    string // the line of the shell of the user, empty if there is none or this program is registered
}

// ReadStatusLine returns the status line of settings. Settings that the client could not use
// have none.
func ReadStatusLine(data []byte) StatusLine {
	data = []byte(strings.TrimPrefix(string(data), bom))
	value := jsonx.Member(jsontext.Value(data), statusKey)
	if value.Kind() != '{' || jsonx.StringMember(value, "type") != "command" {
		return StatusLine{}
	}
	return statusLineOf(jsonx.StringMember(value, "command"))
}

// statusLineOf returns what a line of the shell is.
func statusLineOf(line string) StatusLine {
	if words, ok := shell.Guarded(strings.TrimPrefix(line, "& ")); ok && len(words) > 1 && strings.HasPrefix(ownStatus(words[0]), line) {
		return StatusLine{Set: true, Program: words[0]}
	}
	return StatusLine{Set: line != "", Line: line}
}

// InspectStatusLine compares the status line of settings with the one that AddStatusLine
// registers. Errors are those of Inspect.
func InspectStatusLine(data []byte, program string) (Report, error) {
	doc, err := parse(data)
	if err != nil {
		return Report{}, err
	}
	line, err := doc.statusLine()
	if err != nil {
		return Report{}, err
	}
	switch found := statusLineOf(line); {
	case found.Program == "":
		return Report{State: Absent}, nil
	case ownStatus(found.Program) != ownStatus(program):
		return Report{State: Outdated, Why: []string{fmt.Sprintf("%s: runs %s, want %s", statusKey, found.Program, program)}}, nil
	case line != ownStatus(program):
		return Report{State: Outdated, Why: []string{statusKey + ": has other arguments"}}, nil
	}
	return Report{State: Installed}, nil
}

// ownStatus returns the line. On Windows it is one that the Bash of Git and PowerShell both run, unless the path has to be quoted: then it
// is one of the shell that is there.
func ownStatus(program string) string {
	if words := append([]string{strings.ReplaceAll(program, `\`, "/")}, statusWords...); isExec(program) {
		if _, err := process.Sh(); err != nil {
			return shell.JoinInPowerShell(words...)
		}
		return shell.Join(words...)
	}
	return shell.Guard(word(program), statusWords)
}

// statusLine returns the command of the status line, empty if there is none. It returns ErrShape if it is not a command.
func (d *document) statusLine() (string, error) {
	i := index(d.top, statusKey)
	if i < 0 {
		return "", nil
	}
	value := d.top.Members[i].Value
	o, err := d.object(value, "/"+statusKey)
	if err != nil {
		return "", err
	}
	kind, _ := text(member(o, "type"))
	line, ok := text(member(o, "command"))
	if !ok || kind != "command" {
		return "", fmt.Errorf("%v: %w: /%s is not a command", d.position(value), ErrShape, statusKey)
	}
	return line, nil
}

// AddStatusLine returns settings whose status line runs the program. Errors are ErrStatusLine and those of Inspect.
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
	if i := index(doc.top, statusKey); i >= 0 {
		return nil, fmt.Errorf("%v: %w", doc.position(doc.top.Members[i].Value), ErrStatusLine)
	}
	err = doc.insert([]string{statusKey}, struct {
		Type            string `json:"type"`
		Command         string `json:"command"`
		RefreshInterval int    `json:"refreshInterval"`
	}{"command", ownStatus(program), refresh}, false)
	return doc.pack(), err
}

// RemoveStatusLine returns settings without the status line of this program. It returns nil if
// nothing else is left. Errors are those of Inspect.
func RemoveStatusLine(data []byte) ([]byte, error) {
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	if line, _ := doc.statusLine(); statusLineOf(line).Program == "" {
		return data, nil
	}
	err = doc.drop(statusKey)
	return doc.pack(), err
}
