package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Fault returns why a POSIX shell cannot run a command line, and how to write it, or "".
func Fault(line string) string {
	if len(line) > maxLine {
		return "" // it is told otherwise
	}
	_, err := parse(line, syntax.LangPOSIX)
	if err == nil {
		return ""
	}
	if _, noBash := parse(line, syntax.LangBash); noBash != nil {
		return noBash.Error()
	}
	return "it is for bash, and /bin/sh runs it (" + strings.TrimPrefix(err.Error(), errSyntax.Error()+" ") +
		"): write it for sh, or put it into a script of bash, and run that"
}

// passers are programs that pass their input on, so that their status says nothing about what gives it to them.
var passers = []string{"tee", "cat", "tail", "head", "less", "more", "nl", "ts", "sort", "uniq", "tr", "cut", "fold", "column", "sed", "wc"}

// Hides returns why the status of a command line does not say whether what it runs has failed, and how to write it, or "".
func Hides(line string) string {
	s, err := parse(line, syntax.LangPOSIX)
	if err != nil || len(s.file.Stmts) == 0 {
		return ""
	}
	last := s.file.Stmts[len(s.file.Stmts)-1]
	if last.Background {
		return "it ends with &, so that its status is always 0: leave out the &"
	}
	ended := slices.ContainsFunc(s.Calls(), func(call []Word) bool { // set -e, or pipefail
		words := texts(call)
		return len(words) > 1 && words[0] == "set"
	})
	and := last.Cmd
	for {
		binary, ok := and.(*syntax.BinaryCmd)
		if !ok {
			break
		}
		name := strings.Join(texts(wordsOfCall(binary.Y)), " ")
		first, _, _ := strings.Cut(name, " ")
		switch {
		case binary.Op == syntax.OrStmt && succeeds(name):
			return "behind || " + name + " its status is always 0: leave that out"
		case (binary.Op == syntax.Pipe || binary.Op == syntax.PipeAll) && slices.Contains(passers, first) && !ended:
			return "its status is that of " + first + ", the last command of the pipe: leave out the pipe (the end of the output is kept), " +
				"or redirect the output to a file"
		}
		and = binary.Y.Cmd
	}
	name := strings.Join(texts(wordsOfCall(last)), " ")
	if len(s.file.Stmts) > 1 && succeeds(name) && !ended {
		return "it ends with " + name + ", so that its status is always 0: leave that out, or join the commands by &&"
	}
	return ""
}

// succeeds reports whether a command always exits with 0.
func succeeds(name string) bool {
	first, _, _ := strings.Cut(name, " ")
	return name == "true" || name == ":" || name == "exit 0" || first == "echo" || first == "printf"
}

func wordsOfCall(s *syntax.Stmt) []Word {
	if call, ok := s.Cmd.(*syntax.CallExpr); ok && !s.Negated {
		return wordsOf(call.Args)
	}
	return nil
}

// texts returns words as they are written, without quotes.
func texts(words []Word) (all []string) {
	for _, w := range words {
		text, _ := w.Text(func(name string) (string, bool) { return "$" + name, true })
		all = append(all, text)
	}
	return all
}
