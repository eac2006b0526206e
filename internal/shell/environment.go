package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Surrounded is a simple command of a script, with what in the script changes the environment in which it runs.
type Surrounded struct {
	Words   []Word
	Changes string   // what changes its environment, as the line has it; empty if nothing does
	Sets    []string // variables of the shell that are set before it, and that are in its environment only if they were there before
}

// change is something in a script that changes the environment of what comes after it, or sets a variable.
type change struct {
	at     uint
	inside []syntax.Node // the subshells
	what   string
	sets   bool
}

// surrounded returns a command with those of the changes that reach it. here are the subshells in which it is.
func surrounded(n *syntax.CallExpr, words []Word, changes []change, here []syntax.Node) Surrounded {
	one := Surrounded{Words: words}
	if len(n.Assigns) > 0 {
		one.Changes = n.Assigns[0].Name.Value + "=…"
	}
	for _, c := range changes {
		switch reaches := len(c.inside) <= len(here) && slices.Equal(c.inside, here[:len(c.inside)]); {
		case c.at >= n.Pos().Offset() || !reaches:
		case c.sets:
			one.Sets = append(one.Sets, strings.TrimSuffix(c.what, "=…"))
		case one.Changes == "":
			one.Changes = c.what
		}
	}
	return one
}

// Surrounded returns the simple commands of the script in the order of Calls. What a subshell changes concerns what is in it.
func (s Script) Surrounded() (all []Surrounded) {
	if s.file == nil {
		return nil
	}
	var changes []change
	var above []syntax.Node
	used := s.uses()
	shells := func() (in []syntax.Node) {
		for _, n := range above {
			switch n.(type) {
			case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
				in = append(in, n)
			}
		}
		return in
	}
	add := func(n syntax.Node, what string, sets bool) {
		changes = append(changes, change{n.Pos().Offset(), shells(), what, sets})
	}
	syntax.Walk(s.file, func(n syntax.Node) bool {
		if n == nil {
			above = above[:len(above)-1]
			return true
		}
		switch n := n.(type) {
		case *syntax.FuncDecl:
			add(n, "a function", false)
		case *syntax.DeclClause: // export, declare, typeset, local, readonly
			add(n, n.Variant.Value, false)
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				for _, a := range n.Assigns {
					add(n, a.Name.Value+"=…", used[a.Name.Value])
				}
				break
			}
			words := wordsOf(n.Args)
			if what := changesEnvironment(words); what != "" {
				add(n, what, false)
			}
			all = append(all, surrounded(n, words, changes, shells()))
		}
		above = append(above, n)
		return true
	})
	return all
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

// uses returns the variables that the script expands.
func (s Script) uses() map[string]bool {
	all := map[string]bool{}
	syntax.Walk(s.file, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil {
			all[p.Param.Value] = true
		}
		return true
	})
	return all
}

// changesEnvironment returns the command if it may change the environment of the commands after it in the same shell.
func changesEnvironment(words []Word) string {
	name, _ := words[0].Literal()
	var rest []string
	for _, w := range words[1:] {
		text, _ := w.Literal()
		rest = append(rest, text)
	}
	switch name {
	case "source", ".", "eval", "unset", "alias", "export", "declare", "typeset": // the last three behind command
		return name
	case "exec": // without a command it only redirects
		if len(rest) > 0 {
			return name
		}
	case "hash", "enable":
		if len(rest) > 1 {
			return name
		}
	case "command", "builtin": // which runs what is behind it
		if len(words) > 1 {
			return changesEnvironment(words[1:])
		}
	case "set":
		for _, arg := range rest {
			if arg == "allexport" || strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.Contains(arg, "a") {
				return "set " + arg
			}
		}
	}
	return ""
}
