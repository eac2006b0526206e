package install

import (
	"bufio"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// Person is who answers questions at a terminal.
type Person struct {
	terminal.Streams
	Typed *bufio.Reader
}

// NewPerson returns the person at the terminal.
func NewPerson(s terminal.Streams) Person { return Person{s, bufio.NewReader(s.In)} }

// Agrees asks and reports whether the answer is yes; enter is what Enter stands for. The end of the input is a no.
func (p Person) Agrees(question string, enter bool) bool {
	for {
		message.Fprintf(p.Out, "%s [%s] ", question, map[bool]string{true: "Y/n", false: "y/N"}[enter])
		line, err := p.Typed.ReadString('\n')
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "":
			return enter && err == nil
		case "y", "yes":
			return true
		case "n", "no":
			return false
		}
		if err != nil {
			return false
		}
		message.Fprintf(p.Out, "Please answer y or n.\n")
	}
}

// Choose asks what the client shall show of the steps, as far as the request leaves that open.
func (p Person) Choose(r Request) Request {
	list, line, file := open(p.Streams, r)
	if list {
		whose := ""
		if r.Scope == Project {
			whose = " of everyone who works on the project"
		}
		message.Fprintf(p.Out, "\nNewer models have no tools for the task list: they work by commands, "+
			"and the client draws no list of the steps.\n"+
			"A variable in %s gives them the tools, in every session%s.\n", file, whose)
		if p.Agrees("Shall the client show the steps as a list?", true) {
			r.TaskTools = With
		}
	}
	if line && p.Agrees("Shall its status line show the step that is worked on?", false) {
		r.Line = With
	}
	return r
}
