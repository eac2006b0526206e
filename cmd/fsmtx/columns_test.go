package main

import (
	"go/ast"
	"go/parser"
	"go/token"
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
	for _, name := range sources(t) {
		_, source := parsed(t, name)
		assert.Empty(t, tooLong(t, source), "lines of %s with more than %d characters", name, columns)
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
	for _, name := range sources(t) {
		file, _ := parsed(t, name)
		assert.Empty(t, misnamed(file), "functions of %s have other names", name)
	}
}

// misnamed returns the names in comments of functions with other names.
func misnamed(file *ast.File) (names []string) {
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
