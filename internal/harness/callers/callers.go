// Package callers lets a test say who runs fsmtx. The program looks at the processes above
// it (package caller), and above a test may be a person's shell, an agent, a daemon or
// nothing. No test may depend on that. The programs that are shipped do not link this
// package, and know none of its variables.
package callers

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// variable names who runs the program: "person", "script" or "unknown". With FSMTX_TEST_YOUNG what is above it begins now. With
// FSMTX_TEST_TYPES the person types that at the terminal, or "the word" that it shows.
const variable = "FSMTX_TEST_CALLER"

// Environ returns the entry of an environment that names the caller.
func Environ(kind caller.Kind) string { return variable + "=" + string(kind) }

// Script is who runs a command in tests that are about something else.
func Script() caller.Caller {
	return caller.Caller{Kind: caller.Script, Why: "it is not in the foreground of a terminal"}
}

// Named returns the streams of this process, with the caller that FSMTX_TEST_CALLER names. Without
// it the caller is whoever really runs the process, as in a hook of a real client.
func Named() terminal.Streams {
	s := types(terminal.Process())
	if s.Env(variable) != "" {
		s.Caller, s.Imitates = func() caller.Caller { return named(s) }, nil
	}
	return s
}

// Played returns the streams of this process, with the caller that FSMTX_TEST_CALLER names. Without
// it the environment alone decides: the caller is an agent if CLAUDECODE or AI_AGENT is set
// (FSMTX_TEST_PROGRAM names its program), and else a person at a terminal. A test that passes on its own
// environment calls Forget first.
func Played() terminal.Streams {
	s := types(terminal.Process())
	s.Imitates = nil
	s.Caller = func() caller.Caller {
		switch {
		case s.Env(variable) != "":
			return named(s)
		case s.Env("CLAUDECODE") != "" || s.Env("AI_AGENT") != "":
			return caller.Caller{Kind: caller.Agent, Program: cmp.Or(s.Env("FSMTX_TEST_PROGRAM"), caller.Claude),
				Started: started(), Shell: strings.HasSuffix(s.Env("AI_AGENT"), "_agent"), Why: "claude (process 7) is above it"}
		}
		return person(s)
	}
	return s
}

// started returns the command line of the shell that has started this process, which FSMTX_TEST_LINE may say, or its own.
func started() []string {
	if line := os.Getenv("FSMTX_TEST_LINE"); line != "" {
		return []string{"sh", "-c", line}
	}
	if line := caller.Arguments(os.Getppid()); len(line) > 0 && filepath.Base(line[0]) == "sh" {
		return line
	}
	return append([]string{"fsmtx"}, os.Args[1:]...)
}

func person(s terminal.Streams) caller.Caller {
	return young(s, caller.Caller{Kind: caller.Person, Terminal: "/dev/pts/7", Leader: os.Getppid()})
}

func young(s terminal.Streams, c caller.Caller) caller.Caller {
	if s.Env("FSMTX_TEST_YOUNG") != "" {
		c.Since = time.Now()
	}
	return c
}

// types lets the person type at the terminal.
func types(s terminal.Streams) terminal.Streams {
	if typed := s.Env("FSMTX_TEST_TYPES"); typed != "" {
		s.Terminal = func() (io.ReadWriteCloser, error) { return &screen{typed: typed}, nil }
	}
	return s
}

// screen is a terminal at which a person types. What it shows is printed on standard error.
type screen struct{ typed, shown string }

func (s *screen) Write(p []byte) (int, error) {
	s.shown += string(p)
	return os.Stderr.Write(append([]byte("[terminal] "), p...))
}

func (s *screen) Read(p []byte) (int, error) {
	text := s.typed
	if _, after, ok := strings.Cut(s.shown, "Type "); ok && text == "the word" {
		text, _, _ = strings.Cut(after, " ")
	}
	return copy(p, text+"\n"), nil
}

func (s *screen) Close() error { return nil }

func named(s terminal.Streams) caller.Caller {
	switch kind := caller.Kind(s.Env(variable)); kind {
	case caller.Person:
		return person(s)
	case caller.Script:
		return young(s, Script())
	default:
		return caller.Caller{Kind: kind, Why: "nothing is above it"}
	}
}

// Forget removes the variables of an agent from the environment of the tests, which an
// agent may have started.
func Forget() {
	for _, name := range caller.Variables() {
		_ = os.Unsetenv(name)
	}
}
