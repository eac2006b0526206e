package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// columns is how long a line of Go may be, in characters.
const columns = 140

// TestNoLineIsTooLong: but for what cannot be broken, the lines of a text of several lines and the
// tags of fields.
func TestNoLineIsTooLong(t *testing.T) {
	assert.Equal(t, []int{2}, tooLong(t, "package p\nvar a = `"+strings.Repeat("a", columns)+"`\nvar b = `\n"+
		strings.Repeat("b", columns+1)+"\n`\ntype c struct { d int `"+strings.Repeat("d", columns)+"` }\n"))
	for _, path := range sources(t) {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Empty(t, tooLong(t, string(source)), "lines of %s with more than %d characters", path, columns)
	}
}

// tooLong returns the numbers of the lines of Go that are too long and can be broken.
func tooLong(t *testing.T, source string) (numbers []int) {
	t.Helper()
	for i, line := range strings.Split(source, "\n") {
		if utf8.RuneCountInString(line) > columns {
			numbers = append(numbers, i+1)
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	require.NoError(t, err)
	whole := map[int]bool{} // lines that cannot be broken
	add := func(l *ast.BasicLit) {
		for n := files.Position(l.Pos()).Line; n <= files.Position(l.End()).Line; n++ {
			whole[n] = true
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if n.Tag != nil {
				add(n.Tag)
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING && strings.Contains(n.Value, "\n") {
				add(n)
			}
		}
		return true
	})
	var broken []int
	for _, n := range numbers {
		if !whole[n] {
			broken = append(broken, n)
		}
	}
	return broken
}

// TestACommentNamesItsFunction: a comment that says what a function returns, reports or says begins with the function's name.
func TestACommentNamesItsFunction(t *testing.T) {
	assert.Equal(t, []string{"old"}, misnamed(t, "package p\n\n// old returns 1.\nfunc now() int { return 1 }\n\n"+
		"// f reports it.\nfunc f() {}\n"))
	for _, path := range sources(t) {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Empty(t, misnamed(t, string(source)), "functions of %s have other names", path)
	}
}

// misnamed returns the names in comments of functions with other names.
func misnamed(t *testing.T, source string) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Doc == nil {
			continue
		}
		words := strings.Fields(f.Doc.Text())
		if len(words) > 1 && slices.Contains([]string{"returns", "reports", "says", "tells"}, words[1]) && words[0] != f.Name.Name {
			names = append(names, words[0])
		}
	}
	return names
}
