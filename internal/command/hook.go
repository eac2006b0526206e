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

// readEvent reads the event of a hook from standard input. It returns an error if that is
// a terminal.
func readEvent(s terminal.Streams) (*event.Event, error) {
	if s.InputIsTerminal() {
		return nil, errors.New("standard input is a terminal; it must be the client's event")
	}
	return event.Read(s.In)
}

// deliver prints a hook's answer and returns the error with its exit code. A reply that
// cannot be printed is reported, but is not a failure: what the hook has done stays done.
func deliver(s terminal.Streams, a event.Answer) error {
	if err := a.Write(s.Out, s.Err); err != nil {
		s.Errorf("cannot write the reply: %v", err)
	}
	if a.Exit == event.ExitOK {
		return nil
	}
	return &exit{code: a.Exit}
}

// surviveBrokenPipe turns SIGPIPE, which would end a hook whose client has exited, into an
// error of the write. It uses Notify, because child processes would inherit the effect of
// Ignore.
func surviveBrokenPipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// programInShell returns the path with which the agent's shell can run this program, empty
// if the name fsmtx on PATH runs it.
func programInShell() string {
	self, err := os.Executable()
	if err != nil || settings.CheckName() == nil {
		return ""
	}
	return self
}
