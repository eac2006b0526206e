package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// errSyntax is returned when no supported shell can parse a command line. The error that
// wraps it gives the position and the cause.
var errSyntax = errors.New("shell syntax error")

// maxLine limits the length of a command line, because the parser is recursive. Linux
// accepts no longer argument for sh -c.
const maxLine = 128 << 10

// Script is a parsed command line. The zero value is an empty one.
type Script struct {
	file *syntax.File
	line string
}

// Parse parses a command line as bash or, failing that, as a POSIX shell.
func Parse(line string) (Script, error) {
	if len(line) > maxLine {
		return Script{}, fmt.Errorf("%w: longer than %d KiB", errSyntax, maxLine>>10)
	}
	return parse(line, syntax.LangBash, syntax.LangPOSIX)
}

// parse parses a line as the first of the languages that accepts it.
func parse(line string, languages ...syntax.LangVariant) (Script, error) {
	var first error
	for _, language := range languages {
		file, err := syntax.NewParser(syntax.Variant(language), syntax.KeepComments(true)).Parse(strings.NewReader(line), "")
		if err == nil {
			return Script{file, line}, nil
		}
		if first == nil {
			first = err
		}
	}
	return Script{}, explain(line, first)
}

func explain(line string, err error) error {
	if e, ok := errors.AsType[syntax.ParseError](err); ok {
		return fmt.Errorf("%w at %v: %s", errSyntax, jsonx.PositionAt([]byte(line), int(e.Pos.Offset())), e.Text)
	}
	if e, ok := errors.AsType[syntax.LangError](err); ok {
		return fmt.Errorf("%w at %v: sh does not have %v", errSyntax, jsonx.PositionAt([]byte(line), int(e.Pos.Offset())), e.Feature)
	}
	return fmt.Errorf("%w: %w", errSyntax, err)
}

// FirstCommand returns the words of the simple command that runs first, without the
// assignments before it. It returns nil if the line begins with another construct, such
// as an if or a subshell.
func (s Script) FirstCommand() []Word {
	if s.file == nil || len(s.file.Stmts) == 0 {
		return nil
	}
	stmt := s.file.Stmts[0]
	for {
		switch command := stmt.Cmd.(type) {
		case *syntax.BinaryCmd:
			stmt = command.X
		case *syntax.CallExpr:
			return wordsOf(command.Args)
		default:
			return nil
		}
	}
}

// Calls returns the words of each simple command of the script, in the order of the text,
// without assignments before the command. It includes commands in substitutions, subshells
// and functions.
func (s Script) Calls() (calls [][]Word) {
	if s.file == nil {
		return nil
	}
	syntax.Walk(s.file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			calls = append(calls, wordsOf(call.Args))
		}
		return true
	})
	return calls
}

// Program returns the name of the program that the script runs first, behind cd and what only sets something. It is empty if that is a
// path, a word of the shell, or not known.
func (s Script) Program() string {
	for _, words := range s.Calls() {
		name, known := words[0].Text(none)
		switch {
		case !known || strings.Contains(name, "/"):
			return ""
		case slices.Contains(strings.Fields("cd pushd set export unset umask trap :"), name):
		case slices.Contains(builtins(), name):
			return ""
		default:
			return name
		}
	}
	return ""
}

// Call returns the words of a line that calls one program and has no operator, no assignment, and no redirection but of one
// descriptor to the other, as in 2>&1. The words must be literal, except that variables in the program's name are kept as $NAME. ok is
// false for any other line.
func Call(line string) (words []string, ok bool) {
	s, err := Parse(line)
	if err != nil || len(s.file.Stmts) != 1 {
		return nil, false
	}
	stmt := s.file.Stmts[0]
	call, isCall := stmt.Cmd.(*syntax.CallExpr)
	if !isCall || len(call.Args) == 0 || len(call.Assigns) > 0 || !isPlain(stmt) {
		return nil, false
	}
	for i, word := range wordsOf(call.Args) {
		lookup := none
		if i == 0 {
			lookup = itself
		}
		text, known := word.Text(lookup)
		if !known {
			return nil, false
		}
		words = append(words, text)
	}
	return words, true
}

// isPlain reports whether a statement consists only of its command, wherever that prints.
func isPlain(stmt *syntax.Stmt) bool {
	joins := func(r *syntax.Redirect) bool {
		to := r.Word.Lit()
		return r.Op == syntax.DplOut && (to == "1" || to == "2")
	}
	return !slices.ContainsFunc(stmt.Redirs, func(r *syntax.Redirect) bool { return !joins(r) }) && !stmt.Semicolon.IsValid() &&
		!stmt.Negated && !stmt.Background && !stmt.Coprocess && !stmt.Disown
}

func none(string) (string, bool)        { return "", false }
func itself(name string) (string, bool) { return "$" + name, true }
