package command

import (
	"errors"
	"io"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// errTyped is returned if standard input is a terminal: a person has typed the command.
var errTyped = errors.New("standard input is a terminal; it must be the client's event")

// NotFed is the error of a command that a person has typed without the event that it needs.
func NotFed(command string) error { return Unfed("an event", command+" < event.json") }

// Unfed is the error of a command that a person has typed without what it reads.
func Unfed(what, hint string) error {
	return &Exit{ExitNo, errors.New("standard input is a terminal; it must be " + what), hint}
}

// ReadEvent reads the event of a hook from standard input. It returns errTyped or an error of event.Read.
func ReadEvent(s terminal.Streams) (*event.Event, error) {
	if s.InputIsTerminal() {
		return nil, errTyped
	}
	return event.Read(s.In)
}

// deliver prints a hook's answer and returns the error with its exit code. A reply that
// cannot be printed is reported, but is not a failure: what the hook has done stays done. Only a
// call about which it decides is refused.
func deliver(s terminal.Streams, a event.Answer) error {
	if err := a.Write(s.Out, s.Err); err != nil {
		s.Errorf("cannot write the reply: %v", err)
		if code := a.Undelivered(); code != a.Exit {
			a.Exit = code
			s.Errorf("the call is refused, because it depends on that reply: make it again")
		}
		if out, ok := s.Out.(*terminal.Output); ok {
			out.Forget()
		}
	}
	if a.Exit == event.ExitOK {
		return nil
	}
	return &Exit{Code: a.Exit}
}

// SurviveBrokenPipe turns SIGPIPE, which would end a hook whose client has exited, into an
// error of the write.
func SurviveBrokenPipe(s terminal.Streams) {
	for _, w := range []io.Writer{s.Out, s.Err} {
		if out, ok := w.(*terminal.Output); ok {
			out.SurviveBrokenPipe()
		}
	}
}

// ownPath returns the path of this program, by which any shell of the agent can run it; a
// login shell may not have the PATH of the hooks. It is "fsmtx" if the path is unknown.
func ownPath() string {
	self, err := programs.Path()
	if err != nil {
		return settings.Program
	}
	return self
}
