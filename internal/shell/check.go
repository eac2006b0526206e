package shell

import (
	"cmp"
	"errors"
	"os/exec"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fsmtx/fsmtx/internal/pattern"
)

// Fault returns why a POSIX shell cannot run a command line, and how to write it, or "".
func Fault(line string) string {
	if len(line) > maxLine {
		return "" // it is told otherwise
	}
	s, err := parse(line, syntax.LangPOSIX)
	if err == nil {
		return cmp.Or(s.bashism(), s.innerFault())
	}
	if _, noBash := parse(line, syntax.LangBash); noBash != nil {
		return noBash.Error()
	}
	return "it is for bash, and /bin/sh runs it (" + strings.TrimPrefix(err.Error(), errSyntax.Error()+" ") +
		"): write it for sh, or put it into a script of bash, and run that"
}

// innerFault returns why a shell cannot run a script that another script gives it, as in bash -c 'if make; then', or "".
func (s Script) innerFault() string {
	for _, call := range s.Calls() {
		if script, language, _, ok := inner(call); ok {
			if _, err := parse(script, language); err != nil {
				return "in what it gives to " + texts(call)[0] + ": " + err.Error()
			}
		}
	}
	return ""
}

// inner returns the script that a call gives to a shell by -c, and the options before it.
func inner(call []Word) (script string, language syntax.LangVariant, options string, ok bool) {
	words := texts(call)
	switch path.Base(words[0]) {
	case "bash":
		language = syntax.LangBash
	case "sh", "dash":
		language = syntax.LangPOSIX
	default:
		return "", language, "", false
	}
	for i, word := range words[1:] {
		isOption := strings.HasPrefix(word, "-")
		switch options += " " + word; {
		case isOption && strings.HasSuffix(word, "c") && i+2 < len(words):
			script, ok = call[i+2].Literal()
			return script, language, options, ok
		case !isOption && !strings.HasSuffix(words[i], "o"): // it runs a file
			return "", language, "", false
		}
	}
	return "", language, "", false
}

// insteadOf returns what to write for a command of bash that is none of sh, or "".
func insteadOf(name string) string {
	switch name {
	case "[[":
		return "[ … ] for each test, && and || between them, and for a pattern case"
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
			name, instead, knows = "set -o pipefail", s.withoutPipefail(words), "set -o pipefail"
		default:
			continue
		}
		if !knownHere(knows, name) {
			return notKnown(name, instead)
		}
	}
	if s.isArithmetic() && !knownHere("((1))", "") {
		return notKnown("((…))", "[ … ] with -eq, -lt and the like")
	}
	if m := braces.Regexp().FindString(s.line); m != "" && s.hasWord(m) && !knownHere("set -- {1..2}; [ $# = 2 ]", "") {
		return notKnown(m, "each word, or seq")
	}
	return ""
}

// braces is a sequence.
var braces = pattern.New(`\{-?\w+\.\.-?\w+(?:\.\.-?\d+)?\}`)

func notKnown(name, instead string) string {
	return "it is for bash, and /bin/sh runs it, which does not know " + name + ": write " + instead +
		", or put it into a script of bash, and run that"
}

// hasWord reports whether a text is in a word outside quotes.
func (s Script) hasWord(text string) (has bool) {
	syntax.Walk(s.file, func(n syntax.Node) bool {
		if word, ok := n.(*syntax.Word); ok {
			for _, part := range word.Parts {
				lit, isLit := part.(*syntax.Lit)
				has = has || isLit && strings.Contains(lit.Value, text)
			}
		}
		return true
	})
	return has
}

// isArithmetic reports whether a subshell is in another one at once, which is arithmetic for bash.
func (s Script) isArithmetic() (is bool) {
	syntax.Walk(s.file, func(n syntax.Node) bool {
		if outer, ok := n.(*syntax.Subshell); ok && strings.HasPrefix(s.line[outer.Pos().Offset():], "((") {
			is = true
		}
		return true
	})
	return is
}

// withoutPipefail returns what to write for a call of set with pipefail.
func (s Script) withoutPipefail(words []string) (instead string) {
	if flags := strings.TrimSuffix(words[1], "o"); flags != "-" && len(words) == 3 {
		instead = "set " + flags
	}
	pipes := false
	syntax.Walk(s.file, func(n syntax.Node) bool {
		binary, ok := n.(*syntax.BinaryCmd)
		pipes = pipes || ok && binary.Op == syntax.Pipe
		return true
	})
	switch {
	case pipes && instead != "":
		return instead + ", and the output of the first command of a pipe to a file"
	case pipes:
		return "the output of the first command of a pipe to a file"
	}
	return cmp.Or(instead, "it without that, for there is no pipe")
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
	if err != nil {
		return ""
	}
	if why := s.hides(s.file.Stmts, s.guards("")); why != "" {
		return why
	}
	for _, call := range s.Calls() {
		words := texts(call)
		if len(words) > 1 && words[0] == "echo" && echoOption.Regexp().MatchString(words[1]) && !knownHere(`[ "$(echo -e a)" = a ]`, "") {
			return "echo " + words[1] + " is for bash, and /bin/sh writes " + words[1] + ", too: write printf"
		}
	}
	return ""
}

// ending says what of a script ends it when something fails.
type ending struct{ pipes, commands bool }

var echoOption = pattern.New(`^-[neE]*[eE][neE]*$`)

// guards returns what ends the script when something fails: set -e, pipefail, or a command exit, beside the options of its shell.
func (s Script) guards(options string) (g ending) {
	set := func(option string) {
		g.pipes = g.pipes || option == "pipefail"
		g.commands = g.commands || option == "errexit" || strings.HasPrefix(option, "-") && strings.Contains(option, "e")
	}
	for option := range strings.FieldsSeq(options) {
		set(option)
	}
	for _, call := range s.Calls() {
		words := texts(call)
		switch line := strings.Join(words, " "); {
		case words[0] == "set":
			for _, option := range words[1:] {
				set(option)
			}
		case words[0] == "exit" && line != "exit 0" && line != "exit $?":
			g = ending{true, true}
		}
	}
	return g
}

// hides returns why the status of some statements does not say whether one of them has failed, or "".
func (s Script) hides(all []*syntax.Stmt, g ending) string {
	for len(all) > 1 && nameOf(all[len(all)-1]) == "exit $?" { // as without it
		all = all[:len(all)-1]
	}
	if len(all) == 0 {
		return ""
	}
	last := all[len(all)-1]
	if last.Background {
		return "it ends with &, so that its status is always 0: leave out the &"
	}
	for {
		binary, ok := last.Cmd.(*syntax.BinaryCmd)
		if !ok {
			break
		}
		name := nameOf(binary.Y)
		first, _, _ := strings.Cut(name, " ")
		switch {
		case binary.Op == syntax.OrStmt && succeeds(name):
			return "behind || " + s.text(binary.Y) + " its status is always 0: leave that out"
		case binary.Op == syntax.OrStmt && slices.Contains(passers, first):
			return "behind || " + s.text(binary.Y) + " its status is that of " + first + ": leave that out (the end of the output is kept)"
		case binary.Op != syntax.OrStmt && binary.Op != syntax.AndStmt && slices.Contains(passers, first) && !g.pipes:
			return "its status is that of " + first + ", the last command of the pipe: leave out the pipe (the end of the output is kept), " +
				"or redirect the output to a file"
		}
		last = binary.Y
	}
	name := nameOf(all[len(all)-1])
	first, _, _ := strings.Cut(name, " ")
	switch {
	case len(all) < 2 || g.commands:
	case succeeds(name):
		return "it ends with " + s.text(last) + ", so that its status is always 0: leave that out, or join the commands by &&"
	case slices.Contains(passers, first):
		return "it ends with " + s.text(last) + ", whose status is all that counts: leave that out (the end of the output is kept)"
	}
	return s.hidesIn(last, g)
}

// hidesIn is hides for what the last statement has: a group, an if, a script for another shell.
func (s Script) hidesIn(last *syntax.Stmt, g ending) string {
	switch cmd := last.Cmd.(type) {
	case *syntax.Subshell:
		return s.hides(cmd.Stmts, g)
	case *syntax.Block:
		return s.hides(cmd.Stmts, g)
	case *syntax.IfClause:
		if n := len(cmd.Then); cmd.Else == nil && n > 0 && succeeds(nameOf(cmd.Then[n-1])) && !g.commands {
			return "an if without else whose commands end with " + s.text(cmd.Then[n-1]) +
				" has always the status 0: write what it tests alone, or else exit 1"
		}
	case *syntax.CallExpr:
		if len(cmd.Args) == 0 {
			return ""
		}
		if script, language, options, ok := inner(wordsOf(cmd.Args)); ok {
			if other, err := parse(script, language); err == nil {
				return other.hides(other.file.Stmts, other.guards(options))
			}
		}
	}
	return ""
}

// text returns a statement as it is written.
func (s Script) text(stmt *syntax.Stmt) string {
	return strings.TrimRight(s.line[stmt.Pos().Offset():stmt.End().Offset()], "; \n")
}

// nameOf returns the words of a command without quotes, also if it is alone in a group; "" if it is something else.
func nameOf(stmt *syntax.Stmt) string {
	var only []*syntax.Stmt
	switch cmd := stmt.Cmd.(type) {
	case *syntax.Subshell:
		only = cmd.Stmts
	case *syntax.Block:
		only = cmd.Stmts
	}
	if len(only) == 1 && !stmt.Negated {
		return nameOf(only[0])
	}
	return strings.Join(texts(wordsOfCall(stmt)), " ")
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

var (
	answers = pattern.New(`(?i)^\s*\(?\s*(?:Test-Path|Select-String|Compare-Object)\b`)
	decides = pattern.New(`(?i)\b(?:exit|throw|if)\b`)
)

// HidesInPowerShell returns why the status of a line of PowerShell says nothing, or "": of a command that only prints what it has found.
func HidesInPowerShell(line string) string {
	if answers.Regexp().MatchString(line) && !decides.Regexp().MatchString(line) {
		return "what it finds is printed only, and the check passes: if (-not (...)) { exit 1 }"
	}
	return ""
}
