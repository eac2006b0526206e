package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Surrounded is a simple command of a script, with what in the script may change the environment in which it runs. What sets up the
// programs of the shell (nvm use, source venv/bin/activate) does not count.
type Surrounded struct {
	Words   []Word
	Changes string   // what may change its environment, as the line has it; empty if nothing does
	Sets    []string // variables of the shell that are set before it, and that are in its environment only if they were there before
}

// change is something in a script that may change the environment of what comes after it, or sets a variable.
type change struct {
	at     uint
	inside []syntax.Node // the subshells
	what   string
	sets   bool
}

// surroundings reads what in a script may change the environment of its commands.
type surroundings struct {
	line    string
	above   []syntax.Node
	changes []change
	calls   []Surrounded
}

// Surrounded returns the simple commands of the script in the order of Calls. What a subshell changes concerns what is in it.
func (s Script) Surrounded() []Surrounded {
	if s.file == nil {
		return nil
	}
	around := surroundings{line: s.line}
	syntax.Walk(s.file, func(n syntax.Node) bool {
		if n == nil {
			around.above = around.above[:len(around.above)-1]
			return true
		}
		around.read(n)
		around.above = append(around.above, n)
		return true
	})
	return around.calls
}

// read takes in a node.
func (s *surroundings) read(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.FuncDecl:
		if isRunner(funcName(n)) {
			s.change(n, "a function")
		}
	case *syntax.DeclClause: // export, declare, typeset, local, readonly
		s.declared(n)
	case *syntax.WordIter: // for, select
		s.set(n, n.Name.Value)
	case *syntax.BinaryArithm:
		if strings.HasSuffix(n.Op.String(), "=") && !slices.Contains([]string{"==", "!=", "<=", ">="}, n.Op.String()) {
			s.setArithmetic(n, n.X)
		}
	case *syntax.UnaryArithm:
		if n.Op == syntax.Inc || n.Op == syntax.Dec {
			s.setArithmetic(n, n.X)
		}
	case *syntax.ParamExp:
		if n.Param != nil && n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			s.set(n, n.Param.Value)
		}
	case *syntax.CallExpr:
		s.called(n)
	}
}

// called takes in a simple command, or assignments without one.
func (s *surroundings) called(n *syntax.CallExpr) {
	if len(n.Args) == 0 {
		for _, a := range n.Assigns {
			s.set(n, a.Name.Value)
		}
		return
	}
	words := wordsOf(n.Args)
	one := Surrounded{Words: words}
	if len(n.Assigns) > 0 {
		one.Changes = n.Assigns[0].Name.Value + "=…"
	}
	here := s.shells()
	for _, c := range s.changes {
		switch reaches := len(c.inside) <= len(here) && slices.Equal(c.inside, here[:len(c.inside)]); {
		case c.at >= n.Pos().Offset() || !reaches:
		case c.sets:
			one.Sets = append(one.Sets, c.what)
		case one.Changes == "":
			one.Changes = c.what
		}
	}
	s.calls = append(s.calls, one)
	s.builtin(n, words)
}

// declared takes in what declares variables.
func (s *surroundings) declared(n *syntax.DeclClause) {
	exports := n.Variant.Value == "export"
	prints := func(a *syntax.Assign) bool {
		if a.Name != nil || a.Value == nil {
			return false
		}
		flag, known := Word{a.Value}.Literal()
		return known && strings.HasPrefix(flag, "-") && strings.Contains(flag, "p")
	}
	if slices.ContainsFunc(n.Args, prints) && !slices.ContainsFunc(n.Args, func(a *syntax.Assign) bool { return a.Name != nil && !a.Naked }) {
		return
	}
	for _, a := range n.Args {
		switch {
		case a.Name != nil && !exports:
			s.set(n, a.Name.Value)
		case a.Name != nil && a.Value != nil && isHomeOfNVM(a.Name.Value, Word{a.Value}.In(s.line)):
		case a.Name != nil:
			s.change(n, n.Variant.Value)
		default:
			flag, known := Word{a.Value}.Literal()
			if !known || flag == "--" || strings.ContainsAny(strings.TrimLeft(flag, "-+"), "xn") {
				s.change(n, n.Variant.Value)
			}
		}
	}
}

// builtin takes in what a command does to the shell that runs it.
func (s *surroundings) builtin(n syntax.Node, words []Word) {
	name, known := words[0].Literal()
	var rest []string
	for _, w := range words[1:] {
		text, _ := w.Literal()
		rest = append(rest, text)
	}
	switch name {
	case "":
		if text := words[0].In(s.line); !known && text != "[" && !strings.Contains(text, "/") { // a path is no command of the shell's own
			s.change(n, text)
		}
	case "source", ".", "eval":
		if !s.setsUp(name, words[1:]) {
			s.change(n, name)
		}
	case "export", "declare", "typeset": // behind command
		s.change(n, name)
	case "alias":
		for i, w := range words[1:] {
			of, _, _ := strings.Cut(rest[i], "=")
			if _, known := w.Literal(); !known || isRunner(of) {
				s.change(n, "an alias")
			}
		}
	case "exec", "hash", "enable", "set", "shopt", "trap", "mapfile", "readarray":
		if what := changing(name, rest); what != "" {
			s.change(n, what)
		}
	}
	switch name {
	case "command", "builtin": // which runs what is behind it
		if len(words) > 1 {
			s.builtin(n, words[1:])
		}
	case "read", "mapfile", "readarray", "getopts", "unset":
		s.setNamed(n, name, words[1:])
	case "printf":
		if len(rest) > 0 && strings.HasPrefix(rest[0], "-v") {
			s.setNamed(n, name, words[1:min(len(words), 3)])
		}
	}
}

// isRunner reports whether a command of this name is ours, may stand before it, or sets up the shell.
func isRunner(name string) bool {
	return strings.TrimSuffix(path.Base(name), ".exe") == "fsmtx" || slices.Contains(runners(), name) || slices.Contains(setters, name)
}

// isHomeOfNVM reports whether a variable is the directory of nvm that its own lines for startup files set.
func isHomeOfNVM(name, value string) bool {
	return name == "NVM_DIR" && slices.Contains([]string{"$HOME/.nvm", "${HOME}/.nvm", "~/.nvm"}, strings.Trim(value, `"`))
}

// setters print what sets up the programs of a shell, for eval.
var setters = []string{"direnv", "pyenv", "rbenv", "nodenv", "jenv", "mise", "asdf", "fnm", "conda", "micromamba", "opam", "brew"}

// setUpAtHome are files below the home directory that set up the programs of a shell.
var setUpAtHome = []string{".cargo/env", ".asdf/asdf.sh", ".sdkman/bin/sdkman-init.sh"}

// setsUp reports whether source or eval sets up the programs of the shell as people do it: from the file activate of a venv, nvm.sh,
// conda.sh, a startup file of the home directory or one of setUpAtHome, or from what a program prints that is for that. Like nvm use and
// conda activate it is let pass; another file or text may set any variable.
func (s *surroundings) setsUp(name string, words []Word) bool {
	if len(words) != 1 {
		return false
	}
	if name != "eval" {
		file := strings.Trim(words[0].In(s.line), `"'`)
		dir, base := path.Split(file)
		for _, home := range []string{"~/", "$HOME/", "${HOME}/"} {
			rest, ok := strings.CutPrefix(file, home)
			if ok && (rest == base && strings.HasPrefix(base, ".") || slices.Contains(setUpAtHome, rest)) {
				return true
			}
		}
		return base == "activate" || base == "nvm.sh" || base == "conda.sh" && strings.HasSuffix(dir, "/etc/profile.d/")
	}
	parts := words[0].word.Parts
	if quoted, ok := parts[0].(*syntax.DblQuoted); ok && len(parts) == 1 {
		parts = quoted.Parts
	}
	printed, ok := parts[0].(*syntax.CmdSubst)
	if !ok || len(parts) != 1 || len(printed.Stmts) != 1 {
		return false
	}
	call := texts(wordsOfCall(printed.Stmts[0]))
	return len(call) > 1 && slices.Contains(setters, path.Base(call[0]))
}

// changing returns what a command with these arguments is that may change the environment of the commands after it in the same shell.
func changing(name string, args []string) string {
	switch name {
	case "exec": // without a command it only redirects
		if len(args) > 0 {
			return name
		}
	case "hash", "enable":
		if len(args) > 1 {
			return name
		}
	case "trap": // what runs before the next command, or when one says so
		for _, at := range args[min(len(args), 1):] {
			if !slices.Contains([]string{"0", "EXIT", "INT", "TERM", "HUP"}, strings.TrimPrefix(at, "SIG")) {
				return name
			}
		}
	case "mapfile", "readarray":
		if slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-C") }) {
			return name
		}
	default: // set, shopt
		for _, arg := range args {
			if arg == "allexport" || arg == "keyword" ||
				name == "set" && strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.ContainsAny(arg, "ak") {
				return name + " " + arg
			}
		}
	}
	return ""
}

// setNamed takes the words that may be names for variables that are set. One that is known only when it runs may be any.
func (s *surroundings) setNamed(n syntax.Node, program string, words []Word) {
	for _, w := range words {
		name, known := w.Literal()
		name = strings.TrimPrefix(name, "-v")
		switch {
		case !known:
			s.change(n, program)
		case name != "" && nameAt(name) == name:
			s.set(n, name)
		}
	}
}

// setArithmetic takes in an assignment in arithmetic.
func (s *surroundings) setArithmetic(n syntax.Node, to syntax.ArithmExpr) {
	if w, ok := to.(*syntax.Word); ok {
		s.set(n, w.Lit())
	}
}

func (s *surroundings) change(n syntax.Node, what string) { s.add(n, what, false) }

func (s *surroundings) set(n syntax.Node, name string) { s.add(n, name, true) }

func (s *surroundings) add(n syntax.Node, what string, sets bool) {
	s.changes = append(s.changes, change{n.Pos().Offset(), s.shells(), what, sets})
}

// shells returns the subshells in which the node is that is read.
func (s *surroundings) shells() (in []syntax.Node) {
	for _, n := range s.above {
		switch n.(type) {
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
			in = append(in, n)
		}
	}
	return in
}

// HasBackground reports whether a command of the script may run on after it.
func (s Script) HasBackground() (found bool) {
	if s.file == nil {
		return false
	}
	syntax.Walk(s.file, func(n syntax.Node) bool {
		if stmt, ok := n.(*syntax.Stmt); ok {
			found = found || stmt.Background || stmt.Coprocess || stmt.Disown
		}
		return true
	})
	return found
}
