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

// isPlainNode reports whether Claude Code looks into a part of a line. It looks into some more, which this does not.
func isPlainNode(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.SglQuoted:
		return !n.Dollar
	case *syntax.DblQuoted:
		return !n.Dollar
	case *syntax.Lit:
		return !strings.HasPrefix(n.Value, "=") && !odd.Regexp().MatchString(n.Value)
	case *syntax.Assign:
		return n.Index == nil && n.Array == nil && n.Value != nil && n.Name.Value != "IFS"
	case *syntax.Redirect:
		return isPlainRedirect(n)
	case *syntax.Stmt:
		return isPlainStmt(n)
	case *syntax.ForClause:
		return !n.Select
	case *syntax.File, *syntax.Comment, *syntax.BinaryCmd, *syntax.CallExpr, *syntax.Word, *syntax.IfClause, *syntax.WhileClause,
		*syntax.WordIter:
		return true
	}
	return false
}

func isPlainRedirect(r *syntax.Redirect) bool {
	return slices.Contains([]syntax.RedirOperator{syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.RdrIn, syntax.DplOut}, r.Op) &&
		target.Regexp().MatchString(r.Word.Lit()) && (r.N == nil || r.N.Value[0] != '{')
}

// isPlainStmt reports whether Claude Code looks into a statement: redirections stand at its end, and of variables it sets one
// that is not of the shell itself.
func isPlainStmt(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	switch {
	case !ok:
		return len(s.Redirs) == 0 && !s.Background
	case len(call.Args) == 0:
		return len(call.Assigns) == 1 && len(s.Redirs) == 0 && strings.ToUpper(call.Assigns[0].Name.Value) != call.Assigns[0].Name.Value
	}
	if s.Background || slices.Contains([]string{"read", "unset"}, call.Args[0].Lit()) || !isPlainTest(s, call) {
		return false
	}
	last := call.Args[len(call.Args)-1].Pos().Offset()
	return !slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool { return r.Pos().Offset() < last })
}

// isPlainTest reports whether Claude Code looks into a command, if it is [ ].
func isPlainTest(s *syntax.Stmt, call *syntax.CallExpr) bool {
	if !strings.HasPrefix(call.Args[0].Lit(), "[") {
		return true
	}
	return len(s.Redirs) == 0 && len(call.Args) <= 5 && call.Args[len(call.Args)-1].Lit() == "]"
}
