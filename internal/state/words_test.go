package state

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNoWordsAreCompared: what a line of evidence means is its kind, not the reason that people read, and what a state is called is
// written in one place. Of a reason it may be asked whether there is any.
func TestNoWordsAreCompared(t *testing.T) {
	var words []string
	for _, w := range Words() {
		words = append(words, `"`+string(w)+`"`)
	}
	files := 0
	for _, root := range []string{"../../internal", "../../cmd"} {
		require.NoError(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && slices.Contains([]string{"testdata", "harness", "hooks", "guard", "checklist"}, e.Name()):
				return fs.SkipDir
			case e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || e.Name() == "kind.go":
				return nil
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			files++
			for _, at := range compared(file, words) {
				assert.Fail(t, "a text is compared: "+set.Position(at).String())
			}
			return nil
		}))
	}
	require.Greater(t, files, 300)
}

// TestComparedWordsAreFound: the places that the test above is to find, and those that it is to leave.
func TestComparedWordsAreFound(t *testing.T) {
	for code, found := range map[string]int{
		`e.Why == "x"`: 1, `"x" != e.Why`: 1, `strings.HasSuffix(e.Why, "off")`: 1, `why(strings.TrimPrefix(e.Why, ": "))`: 1,
		`e.Why == old`:         1,
		`s.Word(c) == "ready"`: 1, `word != "in progress"`: 1, `slices.Contains([]string{"waiting for a person"}, word)`: 1,
		`e.Why == o.Why`: 1, `e.Why == ""`: 0, `s.Word(c) == Ready`: 0, `name == "ready to go"`: 0, `print(e.Why)`: 0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nvar _ = "+code, parser.SkipObjectResolution)
		require.NoError(t, err)
		assert.Len(t, compared(file, []string{`"ready"`, `"in progress"`, `"waiting for a person"`}), found, code)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "x.go",
		"package x\nfunc f() { switch e.Why {\ncase a: }\nswitch w { case \"in progress\": } }", parser.SkipObjectResolution)
	require.NoError(t, err)
	assert.Len(t, compared(file, []string{`"in progress"`}), 2)
}

// compared returns where a reason is compared, or a word of these, in quotes, is. Words that are also those of outcomes, of statuses and of
// commands count only beside a call of Word.
func compared(file *ast.File, words []string) (found []token.Pos) {
	isWhy := func(e ast.Expr) bool { s, ok := e.(*ast.SelectorExpr); return ok && s.Sel.Name == "Why" }
	isEmpty := func(e ast.Expr) bool { l, ok := e.(*ast.BasicLit); return ok && l.Value == `""` }
	isWord := func(e ast.Expr) bool {
		l, ok := e.(*ast.BasicLit)
		return ok && slices.Contains(words, l.Value) && strings.Contains(l.Value, " ")
	}
	asksWord := func(e ast.Expr) bool {
		c, ok := e.(*ast.CallExpr)
		if !ok {
			return false
		}
		s, ok := c.Fun.(*ast.SelectorExpr)
		return ok && s.Sel.Name == "Word"
	}
	isText := func(e ast.Expr) bool { _, ok := e.(*ast.BasicLit); return ok }
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			x, y := n.X, n.Y
			switch {
			case n.Op != token.EQL && n.Op != token.NEQ:
			case (isWhy(x) || isWhy(y)) && !isEmpty(x) && !isEmpty(y), isWord(x) || isWord(y), asksWord(x) && isText(y):
				found = append(found, n.Pos())
			}
		case *ast.SwitchStmt:
			if n.Tag != nil && isWhy(n.Tag) {
				found = append(found, n.Pos())
			}
		case *ast.CaseClause:
			if slices.ContainsFunc(n.List, isWord) {
				found = append(found, n.Pos())
			}
		case *ast.CallExpr:
			s, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				break
			}
			of, _ := s.X.(*ast.Ident)
			if of != nil && of.Name == "strings" && s.Sel.Name != "Join" && slices.ContainsFunc(n.Args, isWhy) {
				found = append(found, n.Pos())
			}
			if s.Sel.Name == "Contains" && slices.ContainsFunc(n.Args, func(e ast.Expr) bool {
				l, ok := e.(*ast.CompositeLit)
				return ok && slices.ContainsFunc(l.Elts, isWord)
			}) {
				found = append(found, n.Pos())
			}
		}
		return true
	})
	return found
}
