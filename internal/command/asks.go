package command

import (
	"bufio"
	"strings"

	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/visible"
)

// person is who answers questions at a terminal.
type person struct {
	terminal.Streams
	in *bufio.Reader
}

func newPerson(s terminal.Streams) person { return person{s, bufio.NewReader(s.In)} }

// agrees asks and reports whether the answer is yes; enter is what Enter stands for. The end of the input is a no.
func (p person) agrees(question string, enter bool) bool {
	visible.Fprintf(p.Out, "%s [%s] ", question, map[bool]string{true: "Y/n", false: "y/N"}[enter])
	line, err := p.in.ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "":
		return enter && err == nil
	case "y", "yes":
		return true
	}
	return false
}

// choose asks what the client shall show of the steps, as far as the request leaves that open.
func (p person) choose(r install.Request) install.Request {
	list, line, file := install.Open(p.Streams, r)
	if list {
		visible.Fprintf(p.Out, "\nNewer models have no task tools: they work by commands, and the client draws no list of the steps.\n"+
			"A variable in %s gives them the tools, in every session.\n", file)
		if p.agrees("Shall the client show the steps as a list?", true) {
			r.TaskTools = install.With
		}
	}
	if line && p.agrees("Shall its status line show the step that is worked on?", false) {
		r.Line = install.With
	}
	return r
}
