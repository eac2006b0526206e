package shell

import (
	"errors"
	"os/exec"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Fault returns why a POSIX shell cannot run a command line, and how to write it, or "".
func Fault(line string) string {
	if len(line) > maxLine {
		return "" // it is told otherwise
	}
	s, err := parse(line, syntax.LangPOSIX)
	if err == nil {
		return s.bashism()
	}
	if _, noBash := parse(line, syntax.LangBash); noBash != nil {
		return noBash.Error()
	}
	return "it is for bash, and /bin/sh runs it (" + strings.TrimPrefix(err.Error(), errSyntax.Error()+" ") +
		"): write it for sh, or put it into a script of bash, and run that"
}

// insteadOf returns what to write for a command of bash that is none of sh, or "".
func insteadOf(name string) string {
	switch name {
	case "[[":
		return "[ … ], and for a pattern case"
	case "source":
		return ". ./FILE"
	case "declare", "typeset":
		return "NAME=VALUE"
	case "let":
		return "NAME=$((…))"
	case "shopt":
		return "it for sh"
	case "mapfile", "readarray":
		return "while read"
	case "pushd", "popd":
		return "cd"
	}
	return ""
}

// bashism returns which command of bash is in a script that a POSIX shell can parse, and that /bin/sh here does not know, and what to
// write for it, or "". It would fail there, and with it the test of an if, so that a check could never fail, or never pass.
func (s Script) bashism() string {
	own := s.functions()
	for _, call := range s.Calls() {
		var words []string
		for _, w := range call {
			words = append(words, s.line[w.word.Pos().Offset():w.End()])
		}
		name, instead, knows := words[0], insteadOf(words[0]), `command -v "$1"`
		switch {
		case slices.Contains(own, name):
			continue
		case instead != "":
		case (name == "[" || name == "test") && slices.Contains(words, "=="):
			name, instead, knows = "== in "+name, "=", "[ a == a ]"
		case name == "set" && slices.Contains(words, "pipefail") && !s.triesPipefail():
			name, instead, knows = "set -o pipefail", "the output of the first command to a file", "set -o pipefail"
		default:
			continue
		}
		if !knownHere(knows, name) {
			return "it is for bash, and /bin/sh runs it, which does not know " + name + ": write " + instead +
				", or put it into a script of bash, and run that"
		}
	}
	return ""
}

// knownHere reports whether /bin/sh is not known to fail at a line. Where bash or busybox is /bin/sh, it knows much of bash.
func knownHere(line, word string) bool {
	err := exec.Command("/bin/sh", "-c", line, "sh", word).Run()
	_, failed := errors.AsType[*exec.ExitError](err)
	return !failed
}

// functions returns the names of the functions of the script.
func (s Script) functions() (names []string) {
	syntax.Walk(s.file, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok {
			names = append(names, f.Name.Value)
		}
		return true
	})
	return names
}

// triesPipefail reports whether the script finds out in a subshell whether its shell has pipefail.
func (s Script) triesPipefail() bool { return strings.Contains(s.line, "(set -o pipefail)") }

// passers are programs that pass their input on, so that their status says nothing about what gives it to them.
var passers = []string{"tee", "cat", "tail", "head", "less", "more", "nl", "ts", "sort", "uniq", "tr", "cut", "fold", "column", "sed", "wc"}

// Hides returns why the status of a command line does not say whether what it runs has failed, and how to write it, or "".
func Hides(line string) string {
	s, err := parse(line, syntax.LangPOSIX)
	if err != nil || len(s.file.Stmts) == 0 {
		return ""
	}
	all := s.file.Stmts
	for len(all) > 1 && strings.Join(texts(wordsOfCall(all[len(all)-1])), " ") == "exit $?" { // as without it
		all = all[:len(all)-1]
	}
	last := all[len(all)-1]
	if last.Background {
		return "it ends with &, so that its status is always 0: leave out the &"
	}
	ended := slices.ContainsFunc(s.Calls(), func(call []Word) bool { // set -e, or pipefail, or it ends itself when something fails
		words := texts(call)
		line := strings.Join(words, " ")
		return len(words) > 1 && words[0] == "set" || len(words) > 0 && words[0] == "exit" && line != "exit 0" && line != "exit $?"
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
		case binary.Op == syntax.OrStmt && slices.Contains(passers, first):
			return "behind || " + name + " its status is that of " + first + ": leave that out (the end of the output is kept)"
		case (binary.Op == syntax.Pipe || binary.Op == syntax.PipeAll) && slices.Contains(passers, first) && !ended:
			return "its status is that of " + first + ", the last command of the pipe: leave out the pipe (the end of the output is kept), " +
				"or redirect the output to a file"
		}
		and = binary.Y.Cmd
	}
	name := strings.Join(texts(wordsOfCall(last)), " ")
	first, _, _ := strings.Cut(name, " ")
	switch {
	case len(all) < 2 || ended:
	case succeeds(name):
		return "it ends with " + name + ", so that its status is always 0: leave that out, or join the commands by &&"
	case slices.Contains(passers, first):
		return "it ends with " + name + ", whose status is all that counts: leave that out (the end of the output is kept)"
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
