package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// mutations has the operators that each type of mutation replaces, and by what. The types
// are those that the mutation tester gremlins applies by default.
// Longer tokens come first: "<=" begins with "<".
var mutations = map[string][][2]string{
	"ARITHMETIC_BASE":       {{"+", "-"}, {"-", "+"}, {"*", "/"}, {"/", "*"}, {"%", "*"}},
	"CONDITIONALS_BOUNDARY": {{"<=", "<"}, {">=", ">"}, {"<", "<="}, {">", ">="}},
	"CONDITIONALS_NEGATION": {{"==", "!="}, {"!=", "=="}, {"<=", ">"}, {">=", "<"}, {"<", ">="}, {">", "<="}},
	"INCREMENT_DECREMENT":   {{"++", "--"}, {"--", "++"}},
	"INVERT_NEGATIVES":      {{"-", "+"}},
}

// The mutations that change more than an operator.
const (
	dropLeft       = "DROP_LEFT"       // the operand before && or ||
	dropRight      = "DROP_RIGHT"      // the operand behind it
	turnRound      = "TURN_ROUND"      // a range over a slice
	changeArgument = "CHANGE_ARGUMENT" // a constant argument of a call, to mutant.instead
	lessArgument   = "LESS_ARGUMENT"   // a number, to one less
	never          = "NEVER"           // the condition of an if or a case, to false
	always         = "ALWAYS"          // and to true
	dropStatement  = "DROP_STATEMENT"  // a call or an assignment
	flipReturn     = "FLIP_RETURN"     // true or false behind return
)

// apply returns source with the mutation.
func (m mutant) apply(source string) (string, error) {
	at, err := m.offset(source)
	if err != nil {
		return "", err
	}
	if mutations[m.mutation] == nil {
		return m.rewrite(source, at)
	}
	for _, change := range mutations[m.mutation] {
		if rest, ok := strings.CutPrefix(source[at:], change[0]); ok {
			return source[:at] + change[1] + rest, nil
		}
	}
	return "", m.cannot()
}

// offset returns where in the source the mutant is.
func (m mutant) offset(source string) (int, error) {
	at := 0
	for range m.line - 1 {
		at += strings.Index(source[at:], "\n") + 1
	}
	at += m.column - 1
	if at > len(source) {
		return 0, fmt.Errorf("%s has no column %d in line %d", m.file, m.column, m.line)
	}
	return at, nil
}

func (m mutant) cannot() error {
	return fmt.Errorf("%s:%d:%d: cannot apply %s to %q", m.file, m.line, m.column, m.mutation, m.text)
}

// rewrite applies a mutation that changes more than an operator.
func (m mutant) rewrite(source string, at int) (string, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	offset := func(p token.Pos) int { return files.Position(p).Offset }
	result, err := "", m.cannot()
	ast.Inspect(file, func(node ast.Node) bool {
		from, to, instead := -1, -1, ""
		for _, o := range others(node) {
			if m.mutation == o.kind && offset(o.node.Pos()) == at {
				from, to, instead = at, offset(o.node.End()), o.instead
				if m.mutation == dropStatement { // what it uses stays used
					instead = "if false { " + source[from:to] + " }"
				}
			}
		}
		switch node := node.(type) {
		case *ast.BinaryExpr:
			switch {
			case offset(node.OpPos) != at:
			case m.mutation == dropLeft:
				from, to = offset(node.X.Pos()), offset(node.Y.Pos())
			case m.mutation == dropRight:
				from, to = offset(node.X.End()), offset(node.Y.End())
			}
		case *ast.RangeStmt:
			if m.mutation == turnRound && offset(node.Range) == at {
				from, to = offset(node.X.Pos()), offset(node.X.End())
				instead = turned(source[from:to], node.X)
			}
		case *ast.CallExpr:
			for _, arg := range node.Args {
				if (m.mutation == changeArgument || m.mutation == lessArgument) && offset(arg.Pos()) == at {
					from, to, instead = at, offset(arg.End()), m.instead
				}
			}
		}
		if from >= 0 {
			result, err = source[:from]+instead+source[to:], nil
		}
		return true
	})
	return result, err
}

// turned returns the text of a slice to range over, the other way round.
func turned(text string, x ast.Expr) string {
	if isBackward(x) {
		return strings.Replace(text, "Backward", "All", 1)
	}
	return "slices.Backward(" + text + ")"
}

// isBackward reports whether an expression is a call of slices.Backward.
func isBackward(x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "slices" && sel.Sel.Name == "Backward"
}
