package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Functions returns the names of the functions that a script declares.
func (s Script) Functions() (names []string) {
	s.each(func(n syntax.Node) {
		if f, ok := n.(*syntax.FuncDecl); ok {
			names = append(names, f.Name.Value)
		}
	})
	return names
}

// Writes reports whether a script has a redirection into something other than /dev/null and another descriptor.
func (s Script) Writes() (writes bool) {
	s.each(func(n syntax.Node) {
		r, ok := n.(*syntax.Redirect)
		if !ok {
			return
		}
		switch r.Op {
		case syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.DplIn:
		case syntax.DplOut:
			writes = writes || !strings.Contains("0123456789-", r.Word.Lit()) || r.Word.Lit() == ""
		default:
			writes = writes || r.Word.Lit() != "/dev/null"
		}
	})
	return writes
}

// Detaches reports whether a script starts a command that it does not wait for.
func (s Script) Detaches() (detaches bool) {
	s.each(func(n syntax.Node) {
		stmt, ok := n.(*syntax.Stmt)
		detaches = detaches || ok && (stmt.Background || stmt.Coprocess)
	})
	return detaches
}

func (s Script) each(visit func(syntax.Node)) {
	if s.file == nil {
		return
	}
	syntax.Walk(s.file, func(n syntax.Node) bool {
		if n != nil {
			visit(n)
		}
		return true
	})
}
