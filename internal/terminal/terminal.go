// Package terminal defines how this program writes to people: results on standard
// output; messages on standard error, in lower case with the prefix "fsmtx: "; advice
// on a line of its own with the prefix "hint: "; colour only on a terminal.
package terminal

import (
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/message"
)

// Streams are the three standard streams of a command and its environment.
// Commands use only these, so that tests can replace them.
type Streams struct {
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Getenv func(string) (string, bool) // as os.LookupEnv; HOME is the directory in which the client has its files

	// Caller returns who runs the command; nil means caller.Of.
	Caller func() caller.Caller

	// Imitates is caller.Imitates for the command; nil means that of Caller.
	Imitates func() bool

	// Terminal opens the terminal at which a person is asked; nil means the one that this process has.
	Terminal func() (io.ReadWriteCloser, error)
}

// Who returns who runs the command: an agent, a person at a terminal, or neither.
func (s Streams) Who() caller.Caller {
	if s.Caller == nil {
		return caller.Of(s.Getenv)
	}
	return s.Caller()
}

// Forged reports whether an event that the command reads was written in the agent's shell; see caller.Caller.Imitates.
func (s Streams) Forged() bool {
	if s.Imitates == nil {
		return s.Who().Imitates()
	}
	return s.Imitates()
}

// Process returns the streams of this process.
func Process() Streams {
	prepare()
	return Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: lookup,
		Caller:   sync.OnceValue(func() caller.Caller { return caller.Of(os.LookupEnv) }),
		Imitates: sync.OnceValue(func() bool { return caller.Imitates(os.LookupEnv) })}
}

// Env returns the variable's value, empty if it is not set.
func (s Streams) Env(name string) string {
	v, _ := s.Getenv(name)
	return v
}

// Printf prints a result for people on standard output. Like Errorf and Hintf, it escapes
// the operands as message.Sprintf does.
func (s Streams) Printf(format string, args ...any) error {
	_, err := message.Fprintf(s.Out, format, args...)
	return err
}

// Errorf prints a message for people on standard error.
func (s Streams) Errorf(format string, args ...any) {
	_, _ = io.WriteString(s.Err, Message(message.Sprintf(format, args...)))
}

// Hintf prints advice on standard error.
func (s Streams) Hintf(format string, args ...any) {
	_, _ = io.WriteString(s.Err, Hint(message.Sprintf(format, args...)))
}

// Message returns a message for people as Errorf prints it. A message of several
// lines gets the prefix on its first line only.
func Message(text string) string {
	return message.Text("fsmtx: "+strings.TrimRight(text, "\n")) + "\n"
}

// Hint returns advice as Hintf prints it, always on one line: people copy commands from it,
// and a name in it must not add another command.
func Hint(text string) string { return message.Line("hint: "+text) + "\n" }

// InputIsTerminal reports whether In is a terminal, where a person would have to type
// the input.
func (s Streams) InputIsTerminal() bool { return IsTerminal(s.In) }

// Colour reports whether output to w may be coloured: w is a terminal, TERM is not
// "dumb", and NO_COLOR (no-color.org) is unset or empty.
func (s Streams) Colour(w io.Writer) bool {
	return s.Env("NO_COLOR") == "" && s.Env("TERM") != "dumb" && IsTerminal(w)
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := File(stream)
	return ok && term.IsTerminal(int(f.Fd()))
}
