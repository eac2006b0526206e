package command

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/claude/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// readEvent reads the event of a hook. It does not wait for a person to type one.
func readEvent(s terminal.Streams) (*event.Event, error) {
	if s.InputIsTerminal() {
		return nil, errors.New("standard input is a terminal; it must be the client's event")
	}
	return event.Read(s.In)
}

// deliver prints a hook's answer and ends the program with its exit code. A reply
// that cannot be printed is reported but is not a failure: nothing is undone by it.
func deliver(s terminal.Streams, a event.Answer) error {
	if err := a.Write(s.Out, s.Err); err != nil {
		s.Errorf("cannot write the reply: %v", err)
	}
	if a.Exit == event.ExitOK {
		return nil
	}
	return &exit{code: a.Exit}
}

// surviveBrokenPipe turns SIGPIPE, which ends a hook whose client has gone, into
// an error of the write. Notify does that; Ignore would be inherited by child
// processes.
func surviveBrokenPipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// programInShell returns the path by which the agent's shell runs this program, empty if
// its name on PATH does.
func programInShell() string {
	self, err := os.Executable()
	if err != nil || settings.CheckName() == nil {
		return ""
	}
	return self
}
