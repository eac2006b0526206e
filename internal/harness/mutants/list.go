package main

import (
	"go/ast"
	gobuild "go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutants lists the mutants of the package, by file and position.
func (t target) mutants() ([]mutant, error) {
	files, err := filepath.Glob(filepath.Join(t.pkg, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, file := range files {
		if ours, err := gobuild.Default.MatchFile(t.pkg, filepath.Base(file)); err != nil {
			return nil, err
		} else if !ours || strings.HasSuffix(file, "_test.go") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := mutantsOf(file, string(data))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// mutantsOf lists the mutants of a source.
func mutantsOf(file, source string) ([]mutant, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(source, "\n")
	var all []mutant
	ast.Inspect(parsed, func(node ast.Node) bool {
		kinds, at := kindsOf(node)
		for _, kind := range kinds {
			p := set.Position(at)
			all = append(all, mutant{Type: kind, Line: p.Line, Column: p.Column, file: file, text: strings.TrimSpace(lines[p.Line-1])})
		}
		return true
	})
	return all, nil
}

// kindsOf returns the mutations of a node, and where its operator is. A minus before an
// operand is another mutation than one between two.
func kindsOf(node ast.Node) (kinds []string, at token.Pos) {
	operator := token.ILLEGAL
	switch node := node.(type) {
	case *ast.BinaryExpr:
		if isText(node) {
			return nil, token.NoPos
		}
		operator, at = node.Op, node.OpPos
	case *ast.IncDecStmt:
		operator, at = node.Tok, node.TokPos
	case *ast.UnaryExpr:
		if node.Op == token.SUB {
			return []string{"INVERT_NEGATIVES"}, node.OpPos
		}
	}
	for kind, changes := range mutations {
		if kind != "INVERT_NEGATIVES" && slices.ContainsFunc(changes, func(change [2]string) bool { return change[0] == operator.String() }) {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return kinds, at
}

// isText reports whether an expression is a sum with a string literal in it: strings
// can only be added.
func isText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (isText(e.X) || isText(e.Y))
	}
	return false
}
