package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// switches is added to a package whose mutants are switched. The number of the one
// that is on is in a file whose path is set by the linker: an environment variable
// would not reach the processes that tests start with an environment of their own,
// and tests copy their binary to other directories. A negative number is the length of
// a file beside it, in which a mutant that would have made a difference is marked: a
// process that is killed has written it too.
const switches = `package %s

import (
	"cmp"
	"errors"
	"iter"
	"os"
	"slices"
	"strconv"
	"syscall"
)

var mutantSwitch string

var mutantOn, mutantMarks = func() (int, []byte) {
	data, err := os.ReadFile(mutantSwitch)
	if errors.Is(err, syscall.EMFILE) {
		return 0, nil // a test that limits the open files; such tests need not notice mutants
	}
	if err != nil {
		panic(err)
	}
	n, err := strconv.Atoi(string(data))
	if err != nil {
		panic(err)
	}
	if n >= 0 {
		return n, nil
	}
	file, err := os.OpenFile(mutantSwitch+".marks", os.O_RDWR, 0)
	if errors.Is(err, syscall.EMFILE) {
		return 0, nil
	}
	if err != nil {
		panic(err)
	}
	defer file.Close()
	marks, err := syscall.Mmap(int(file.Fd()), 0, -n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return 0, marks
}()

type mutantNumber interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}

type mutantInteger interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// mutantIs is called only where the mutant makes a difference.
func mutantIs(n int) bool {
	if mutantMarks != nil {
		mutantMarks[n] = 1
	}
	return n == mutantOn
}

func mutantBool[B ~bool](n int, b B) B { return b != B(mutantIs(n)) }
func mutantOr[B ~bool](n int, b B) B { return b || B(mutantIs(n)) }
func mutantAnd[B ~bool](n int, b B) B { return b && !B(mutantIs(n)) }
func mutantPick[T any](n int, a, b T) T { if mutantIs(n) { return b }; return a }
func mutantBackward[S ~[]E, E any](n int, s S) iter.Seq2[int, E] { if len(s) > 1 && mutantIs(n) { return slices.Backward(s) }; return slices.All(s) }
func mutantForward[S ~[]E, E any](n int, f func(S) iter.Seq2[int, E], s S) iter.Seq2[int, E] { if len(s) > 1 && mutantIs(n) { return slices.All(s) }; return f(s) }
func mutantLT[T cmp.Ordered](n int, a, b T) bool { return a < b || a == b && mutantIs(n) }
func mutantLE[T cmp.Ordered](n int, a, b T) bool { return a < b || a == b && !mutantIs(n) }
func mutantGT[T cmp.Ordered](n int, a, b T) bool { return a > b || a == b && mutantIs(n) }
func mutantGE[T cmp.Ordered](n int, a, b T) bool { return a > b || a == b && !mutantIs(n) }
func mutantAdd[T mutantNumber](n int, a, b T) T { if b != 0 && mutantIs(n) { return a - b }; return a + b }
func mutantSub[T mutantNumber](n int, a, b T) T { if b != 0 && mutantIs(n) { return a + b }; return a - b }
func mutantMul[T mutantNumber](n int, a, b T) T { if mutantIs(n) { return a / b }; return a * b }
func mutantDiv[T mutantNumber](n int, a, b T) T { if mutantIs(n) { return a * b }; return a / b }
func mutantMod[T mutantInteger](n int, a, b T) T { if mutantIs(n) { return a * b }; return a %% b }
func mutantMinus[T mutantNumber](n int, a T) T { if a != 0 && mutantIs(n) { return a }; return -a }
func mutantInc[T mutantNumber](n int, a *T) { if mutantIs(n) { *a-- } else { *a++ } }
func mutantDec[T mutantNumber](n int, a *T) { if mutantIs(n) { *a++ } else { *a-- } }
`

var functions = map[token.Token]string{
	token.ADD: "mutantAdd", token.SUB: "mutantSub", token.MUL: "mutantMul", token.QUO: "mutantDiv", token.REM: "mutantMod",
	token.LSS: "mutantLT", token.LEQ: "mutantLE", token.GTR: "mutantGT", token.GEQ: "mutantGE",
	token.INC: "mutantInc", token.DEC: "mutantDec",
}

// keeps has what makes the result of && and || that of the other operand.
var keeps = map[token.Token]string{token.LAND: "mutantOr", token.LOR: "mutantAnd"}

// around has what goes before and behind a condition, a statement or a result.
var around = map[string][2]string{
	never: {"mutantAnd", ")"}, always: {"mutantOr", ")"}, flipReturn: {"mutantBool", ")"},
	dropStatement: {"if !mutantIs", " }"},
}

// edit replaces length bytes of a source at an offset.
type edit struct {
	at, length int
	text       string
}

// switched returns the source with its mutants in it, each behind a switch. on has
// the numbers of those to put in, by position "line:column"; lines stay as they are.
// Mutants that cannot be switched at their place are left out and not in done.
func switched(source string, on map[string][]numbered) (text string, done []int, err error) {
	s := switcher{files: token.NewFileSet(), on: on}
	file, err := parser.ParseFile(s.files, "", source, parser.SkipObjectResolution)
	if err != nil {
		return "", nil, err
	}
	ast.Inspect(file, s.visit)
	return s.apply(source), s.done, nil
}

// switcher collects the edits of one file.
type switcher struct {
	files       *token.FileSet
	on          map[string][]numbered
	edits, ends []edit // at one offset ends come first, inner ones before outer ones
	done        []int  // the numbers of the mutants that are put in
}

func (s *switcher) offset(p token.Pos) int { return s.files.Position(p).Offset }

// at returns the mutants at a position.
func (s *switcher) at(p token.Pos) []numbered {
	position := s.files.Position(p)
	return s.on[fmt.Sprintf("%d:%d", position.Line, position.Column)]
}

// put puts a mutant in by these edits.
func (s *switcher) put(m numbered, edits ...edit) {
	s.edits, s.done = append(s.edits, edits...), append(s.done, m.n)
}

// enclose puts a mutant in by a call of the function around the node.
func (s *switcher) enclose(node ast.Node, m numbered, function, end string) {
	between := ", "
	if m.mutation == dropStatement {
		between = ") { "
	}
	s.put(m, edit{at: s.offset(node.Pos()), text: fmt.Sprintf("%s(%d%s", function, m.n, between)})
	s.ends = append([]edit{{at: s.offset(node.End()), text: end}}, s.ends...)
}

// replace replaces an operator.
func (s *switcher) replace(operator token.Pos, length int, instead string) {
	s.edits = append(s.edits, edit{at: s.offset(operator), length: length, text: instead})
}

// visit puts in the mutants of a node, and reports whether those below it are to be put in.
func (s *switcher) visit(node ast.Node) bool {
	for _, o := range others(node) {
		for _, m := range s.at(o.node.Pos()) {
			if m.mutation == o.kind {
				s.enclose(o.node, m, around[o.kind][0], around[o.kind][1])
			}
		}
	}
	switch node := node.(type) {
	case *ast.GenDecl:
		return node.Tok != token.CONST
	case *ast.ArrayType:
		return false
	case *ast.CallExpr:
		for _, arg := range node.Args {
			s.argument(arg)
		}
	case *ast.RangeStmt:
		s.iteration(node)
	case *ast.BinaryExpr:
		s.binary(node)
	case *ast.UnaryExpr:
		for _, m := range s.at(node.OpPos) {
			if m.mutation == "INVERT_NEGATIVES" {
				s.enclose(node, m, "mutantMinus", ")")
				s.replace(node.OpPos, 1, "")
			}
		}
	case *ast.IncDecStmt:
		for _, m := range s.at(node.TokPos) {
			s.put(m, edit{at: s.offset(node.Pos()), text: fmt.Sprintf("%s(%d, &", functions[node.Tok], m.n)},
				edit{at: s.offset(node.TokPos), length: 2, text: ")"})
		}
	}
	return true
}

func (s *switcher) argument(arg ast.Expr) {
	for _, m := range s.at(arg.Pos()) {
		if m.mutation != changeArgument && m.mutation != lessArgument {
			continue
		}
		function, end := "mutantPick", ")"
		if m.as != "" {
			function, end = m.as+"(mutantPick", "))"
		}
		s.enclose(arg, m, function, ", "+m.instead+end)
	}
}

func (s *switcher) iteration(node *ast.RangeStmt) {
	for _, m := range s.at(node.Range) {
		if !isBackward(node.X) {
			s.enclose(node.X, m, "mutantBackward", ")")
			continue
		}
		call := node.X.(*ast.CallExpr)
		s.put(m, edit{at: s.offset(call.Fun.Pos()), text: fmt.Sprintf("mutantForward(%d, ", m.n)},
			edit{at: s.offset(call.Lparen), length: 1, text: ", "})
	}
}

func (s *switcher) binary(node *ast.BinaryExpr) {
	called := false
	for _, m := range byType(s.at(node.OpPos)) {
		switch {
		case m.mutation == dropLeft:
			s.enclose(node.X, m, keeps[node.Op], ")")
		case m.mutation == dropRight:
			s.enclose(node.Y, m, keeps[node.Op], ")")
		case m.mutation == "CONDITIONALS_NEGATION":
			s.enclose(node, m, "mutantBool", ")")
		case !called && functions[node.Op] != "":
			called = true
			s.enclose(node, m, functions[node.Op], ")")
			s.replace(node.OpPos, len(node.Op.String()), ",")
		}
	}
}

// apply returns the source with the edits.
func (s *switcher) apply(source string) string {
	edits := append(s.ends, s.edits...)
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at - b.at })
	var b strings.Builder
	last := 0
	for _, e := range edits {
		b.WriteString(source[last:e.at] + e.text)
		last = e.at + e.length
	}
	return b.String() + source[last:]
}

// byType puts negations first: they go around the call that takes the operator's place.
func byType(mutants []numbered) []numbered {
	return slices.SortedStableFunc(slices.Values(mutants), func(a, b numbered) int {
		return strings.Compare(b.mutation, a.mutation)
	})
}

// numbered is a mutant and the number that switches it on, from 1.
type numbered struct {
	mutant
	n  int
	as string // the type that an argument is converted to, "" if it has it
}
