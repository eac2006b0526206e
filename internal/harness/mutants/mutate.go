package main

import (
	"go/ast"
	"go/token"
)

// mutations has the operators that each type of mutation replaces. The types are those that
// the mutation tester gremlins applies by default.
var mutations = map[string][]token.Token{
	"ARITHMETIC_BASE":       {token.ADD, token.SUB, token.MUL, token.QUO, token.REM},
	"CONDITIONALS_BOUNDARY": {token.LEQ, token.GEQ, token.LSS, token.GTR},
	"CONDITIONALS_NEGATION": {token.EQL, token.NEQ, token.LEQ, token.GEQ, token.LSS, token.GTR},
	"INCREMENT_DECREMENT":   {token.INC, token.DEC},
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
