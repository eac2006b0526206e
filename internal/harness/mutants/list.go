package main

import (
	"cmp"
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
func (t target) mutants(known *constants) ([]mutant, error) {
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
		found, err := mutantsOf(file, string(data), known)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// mutantsOf lists the mutants of a source.
func mutantsOf(file, source string, known *constants) ([]mutant, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(source, "\n")
	var all []mutant
	add := func(kind string, at token.Pos, instead string) {
		p := set.Position(at)
		all = append(all, mutant{Type: kind, Line: p.Line, Column: p.Column, file: file, text: strings.TrimSpace(lines[p.Line-1]), instead: instead})
	}
	ast.Inspect(parsed, func(node ast.Node) bool {
		kinds, at := kindsOf(node)
		for _, kind := range kinds {
			add(kind, at, "")
		}
		if call, ok := node.(*ast.CallExpr); ok {
			for _, arg := range changeable(call) {
				for kind, instead := range insteadOf(arg, func(e ast.Expr) string { return known.another(e, parsed, filepath.Dir(file)) }) {
					add(kind, arg.Pos(), instead)
				}
			}
		}
		return true
	})
	slices.SortStableFunc(all, func(a, b mutant) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Type, b.Type))
	})
	return all, nil
}

// changeable returns the arguments of a call that it can be noticed by. The text of a panic
// and the capacity of a slice cannot.
func changeable(call *ast.CallExpr) []ast.Expr {
	if f, ok := call.Fun.(*ast.Ident); ok {
		switch f.Name {
		case "panic":
			return nil
		case "make":
			return call.Args[:min(2, len(call.Args))]
		}
	}
	return call.Args
}

// insteadOf returns what a constant argument is changed to, by type of mutation. Other
// arguments are not changed. another returns another constant than a named one.
func insteadOf(arg ast.Expr, another func(ast.Expr) string) map[string]string {
	change := map[string]string{}
	switch e := arg.(type) {
	case *ast.BasicLit:
		switch {
		case e.Kind == token.INT || e.Kind == token.FLOAT:
			change[changeArgument], change[lessArgument] = e.Value+" + 1", e.Value+" - 1"
		case e.Kind == token.STRING && len(e.Value) == len(`""`):
			change[changeArgument] = `"mutant"`
		case e.Kind == token.STRING:
			change[changeArgument] = `""`
		}
	case *ast.Ident, *ast.SelectorExpr:
		instead := another(e)
		if name, ok := e.(*ast.Ident); ok && name.Name == "true" {
			instead = "false"
		} else if ok && name.Name == "false" {
			instead = "true"
		}
		if instead != "" {
			change[changeArgument] = instead
		}
	}
	return change
}

// kindsOf returns the mutations of a node, and where its operator is. A minus before an
// operand is another mutation than one between two.
func kindsOf(node ast.Node) (kinds []string, at token.Pos) {
	operator := token.ILLEGAL
	switch node := node.(type) {
	case *ast.BinaryExpr:
		switch {
		case isText(node):
			return nil, token.NoPos
		case node.Op == token.LAND || node.Op == token.LOR:
			return drops(node), node.OpPos
		}
		operator, at = node.Op, node.OpPos
	case *ast.IncDecStmt:
		operator, at = node.Tok, node.TokPos
	case *ast.UnaryExpr:
		if node.Op == token.SUB {
			return []string{"INVERT_NEGATIVES"}, node.OpPos
		}
	}
	if r, ok := node.(*ast.RangeStmt); ok && r.Key != nil {
		return []string{turnRound}, r.Range
	}
	for kind, changes := range mutations {
		if kind != "INVERT_NEGATIVES" && slices.ContainsFunc(changes, func(change [2]string) bool { return change[0] == operator.String() }) {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return kinds, at
}

// drops returns the mutations that leave out one operand of a chain of && or ||. What is
// before the last operator of a chain is left out operand by operand.
func drops(e *ast.BinaryExpr) []string {
	if x, ok := e.X.(*ast.BinaryExpr); ok && x.Op == e.Op {
		return []string{dropRight}
	}
	return []string{dropLeft, dropRight}
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
