package main

import (
	"cmp"
	"go/ast"
	gobuild "go/build"
	"go/parser"
	"go/token"
	"go/types"
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
	decided := map[token.Pos]bool{} // the comparisons of which both results are tried
	add := func(kind string, at token.Pos, instead string) {
		p := set.Position(at)
		all = append(all, mutant{mutation: kind, line: p.Line, column: p.Column, file: file, text: strings.TrimSpace(lines[p.Line-1]),
			instead: instead})
	}
	ast.Inspect(parsed, func(node ast.Node) bool {
		kinds, at := kindsOf(node)
		for _, kind := range kinds {
			if kind != "CONDITIONALS_NEGATION" || !decided[at] {
				add(kind, at, "")
			}
		}
		for _, o := range others(node) {
			add(o.kind, o.node.Pos(), "")
			if e, ok := o.node.(*ast.BinaryExpr); ok && o.kind == always {
				decided[e.OpPos] = true
			}
		}
		if call, ok := node.(*ast.CallExpr); ok {
			if waits(call) {
				return false
			}
			for _, arg := range changeable(call) {
				if text, ok := arg.(*ast.BasicLit); ok && nameOf(call) == "fmt.Errorf" {
					if other := strings.ReplaceAll(text.Value, "%w", "%v"); other != text.Value {
						add(changeArgument, arg.Pos(), other)
					}
					continue
				}
				for kind, instead := range insteadOf(arg, func(e ast.Expr) string { return known.another(e, parsed, filepath.Dir(file)) }) {
					add(kind, arg.Pos(), instead)
				}
			}
		}
		return true
	})
	slices.SortStableFunc(all, func(a, b mutant) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column), cmp.Compare(a.mutation, b.mutation))
	})
	return all, nil
}

// changeable returns the arguments of a call that it can be noticed by. The wording of an
// error, the capacity of a slice, the permissions of a file that is only read, and the order
// of a map that happens to be the same cannot.
func changeable(call *ast.CallExpr) []ast.Expr {
	switch nameOf(call) {
	case "panic", "errors.New", "hint.New", "pathError", "sentinel", "json.Deterministic":
		return nil
	case "make":
		return call.Args[:min(2, len(call.Args))]
	}
	if slices.ContainsFunc(call.Args, func(e ast.Expr) bool { return strings.Contains(types.ExprString(e), "O_RDONLY") }) {
		return call.Args[:len(call.Args)-1]
	}
	return call.Args
}

// waits reports whether a call lets time pass: longer or shorter changes no result.
func waits(call *ast.CallExpr) bool {
	return slices.Contains([]string{"time.Sleep", "time.After"}, nameOf(call))
}

// nameOf returns the name of the function that is called, with its package.
func nameOf(call *ast.CallExpr) string { return types.ExprString(call.Fun) }

// insteadOf returns what a constant argument is changed to, by type of mutation. Other
// arguments are not changed. another returns another constant than a named one.
func insteadOf(arg ast.Expr, another func(ast.Expr) string) map[string]string {
	change := map[string]string{}
	switch e := arg.(type) {
	case *ast.BasicLit:
		switch {
		case strings.HasPrefix(e.Value, "0o"):
			change[changeArgument] = e.Value + " ^ 0o022" // permissions of others
		case e.Value == "0":
			change[changeArgument] = "0 + 1"
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
	if r, ok := node.(*ast.RangeStmt); ok && r.Key != nil && !inAnyOrder(r) {
		return []string{turnRound}, r.Range
	}
	for kind, operators := range mutations {
		if slices.Contains(operators, operator) {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return kinds, at
}

// drops returns the mutations that leave out one operand of a chain of && or ||. What is
// before the last operator of a chain is left out operand by operand. Whether a call has failed
// is not left out.
func drops(e *ast.BinaryExpr) (kinds []string) {
	if x, ok := e.X.(*ast.BinaryExpr); (!ok || x.Op != e.Op) && !isFailure(e.X) {
		kinds = append(kinds, dropLeft)
	}
	if !isFailure(e.Y) {
		kinds = append(kinds, dropRight)
	}
	return kinds
}

// isFailure reports whether an expression compares an error with nil.
func isFailure(e ast.Expr) bool {
	x, ok := e.(*ast.BinaryExpr)
	return ok && types.ExprString(x.Y) == "nil" && isError(x.X)
}

// inAnyOrder reports whether a loop only looks for something, returns the same for each that
// it finds, sets an element of a map to the same, changes each element by itself, or starts
// goroutines.
func inAnyOrder(r *ast.RangeStmt) bool {
	if len(r.Body.List) != 1 {
		return false
	}
	switch s := r.Body.List[0].(type) {
	case *ast.IfStmt:
		if s.Else != nil || len(s.Body.List) != 1 {
			return false
		}
		leave, ok := s.Body.List[0].(*ast.ReturnStmt)
		return ok && !slices.ContainsFunc(leave.Results, func(e ast.Expr) bool { return !isFixed(e) })
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		return ok && strings.HasSuffix(nameOf(call), ".Go") // they run at the same time
	case *ast.AssignStmt:
		_, ok := s.Lhs[0].(*ast.IndexExpr)
		return ok && isFixed(s.Rhs[0]) || s.Tok == token.ASSIGN && isOf(r, s.Lhs[0])
	}
	return false
}

// isOf reports whether an expression is the element with the loop's key, or a field of it.
func isOf(r *ast.RangeStmt, e ast.Expr) bool {
	if field, ok := e.(*ast.SelectorExpr); ok {
		e = field.X
	}
	at, ok := e.(*ast.IndexExpr)
	return ok && types.ExprString(at.X) == types.ExprString(r.X) && types.ExprString(at.Index) == types.ExprString(r.Key)
}

func isFixed(e ast.Expr) bool {
	_, literal := e.(*ast.BasicLit)
	return literal || slices.Contains([]string{"true", "false", "nil", "struct{}{}"}, types.ExprString(e))
}

// other is a mutation of a whole condition, statement or result.
type other struct {
	kind string
	node ast.Node
}

// others lists those whose place is in node. Conditions about an error are not among them:
// a test would have to make the call fail.
func others(node ast.Node) []other {
	switch node := node.(type) {
	case *ast.IfStmt:
		return ofCondition(node.Cond)
	case *ast.SwitchStmt:
		var all []other
		for _, c := range node.Body.List {
			if clause := c.(*ast.CaseClause); node.Tag == nil && len(clause.List) == 1 {
				all = append(all, ofCondition(clause.List[0])...)
			}
		}
		return all
	case *ast.BlockStmt:
		return ofStatements(node.List)
	case *ast.CaseClause:
		return ofStatements(node.Body)
	case *ast.CommClause:
		return ofStatements(node.Body)
	case *ast.ReturnStmt:
		var all []other
		for _, e := range node.Results {
			if last := node.Results[len(node.Results)-1]; last != e && isError(last) {
				return nil // with an error other results mean nothing
			}
			if name, ok := e.(*ast.Ident); ok && (name.Name == "true" || name.Name == "false") {
				all = append(all, other{flipReturn, e})
			}
		}
		return all
	}
	return nil
}

// isError reports whether an expression is about an error.
func isError(e ast.Expr) bool { return strings.Contains(strings.ToLower(types.ExprString(e)), "err") }

func ofCondition(e ast.Expr) []other {
	if isError(e) {
		return nil
	}
	if chain, ok := e.(*ast.BinaryExpr); ok && (chain.Op == token.LAND || chain.Op == token.LOR) {
		return []other{{never, e}} // its operands are left out one by one
	}
	return []other{{never, e}, {always, e}}
}

// ofStatements lists the calls and assignments of a block. A file that is not closed is not
// noticed, nor how much runs at the same time.
func ofStatements(block []ast.Stmt) []other {
	var all []other
	for _, s := range block {
		var call ast.Expr
		switch s := s.(type) {
		case *ast.ExprStmt:
			call = s.X
		case *ast.DeferStmt:
			call = s.Call
		case *ast.AssignStmt:
			if closing, ok := s.Rhs[0].(*ast.CallExpr); s.Tok != token.DEFINE && !(ok && strings.HasSuffix(nameOf(closing), ".Close")) {
				all = append(all, other{dropStatement, s})
			}
		}
		if c, ok := call.(*ast.CallExpr); ok && nameOf(c) != "panic" && !strings.HasSuffix(nameOf(c), ".Close") && !strings.HasSuffix(nameOf(c),
			".SetLimit") {
			all = append(all, other{dropStatement, s})
		}
	}
	return all
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
