package shell

import (
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fsmtx/fsmtx/internal/pattern"
)

// isHidden reports whether shells differ in what they make of a character.
func isHidden(c rune) bool {
	return c != ' ' && c != '\n' && c != '\t' && (unicode.IsSpace(c) || unicode.IsControl(c)) || c == '\u200b' || c == '\ufeff'
}

// target matches what a simple redirection names.
var target = pattern.New(`^[\w./][\w./-]*$`)

// odd matches a literal with a brace or a tilde, or with a backslash before a blank or at its end.
var odd = pattern.New(`[{}~]|\\(?:\s|$)`)

// isPlainNode reports whether Claude Code certainly looks into a part of a line: a list of commands with simple words and
// redirections. It looks into more, which this does not.
func isPlainNode(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.SglQuoted:
		return !n.Dollar
	case *syntax.DblQuoted:
		return !n.Dollar
	case *syntax.Lit:
		return !strings.HasPrefix(n.Value, "=") && !odd.Regexp().MatchString(n.Value)
	case *syntax.Redirect:
		return isPlainRedirect(n)
	case *syntax.Stmt:
		return isPlainStmt(n)
	case *syntax.File, *syntax.Comment, *syntax.BinaryCmd, *syntax.CallExpr, *syntax.Word:
		return true
	}
	return false
}

func isPlainRedirect(r *syntax.Redirect) bool {
	return slices.Contains([]syntax.RedirOperator{syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.RdrIn, syntax.DplOut}, r.Op) &&
		target.Regexp().MatchString(r.Word.Lit()) && (r.N == nil || r.N.Value[0] != '{')
}

// isPlainStmt reports whether a statement is a command, or a list of them, with redirections at its end.
func isPlainStmt(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	switch {
	case s.Background:
		return false
	case !ok:
		return len(s.Redirs) == 0
	case len(call.Args) == 0 || slices.Contains([]string{"read", "unset", "["}, call.Args[0].Lit()):
		return false
	}
	last := call.Args[len(call.Args)-1].Pos().Offset()
	return !slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool { return r.Pos().Offset() < last })
}
