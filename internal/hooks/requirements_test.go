package hooks_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/sessions"
)

const requirementsFile = "../../testdata/hooks/requirements.tsv"

// checkRequirements reads requirements.tsv, whose last column lists what covers each
// requirement, separated by blanks:
//
//	case:ID              a case whose reqs name the requirement; it has passed
//	test:PACKAGE.NAME    a test or example whose comment names it
//	session:NAME         a session in testdata/hooks/script that names it
func checkRequirements(t *testing.T, passed map[string]sessions.HookCase) {
	text, err := os.ReadFile(requirementsFile)
	require.NoError(t, err)
	var numbers []string
	for line := range strings.Lines(string(text)) {
		columns := strings.Split(strings.TrimRight(line, "\n"), "\t")
		require.Len(t, columns, 4, line)
		number, class, holders := columns[0], columns[1], strings.Fields(columns[3])
		assert.Contains(t, []string{"a", "b", "c"}, class, line)
		assert.NotEmpty(t, holders, "nothing covers %s", number)
		for _, holder := range holders {
			assert.Empty(t, holderProblem(number, holder, passed), "%s is not covered by %s", number, holder)
		}
		numbers = append(numbers, number)
	}
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(numbers))), 211)
	for id, c := range passed {
		for _, number := range c.Requirements {
			assert.True(t, !strings.HasPrefix(number, "HOOK-") || slices.Contains(numbers, number), "case %s names %s", id, number)
		}
	}
}

// holderProblem returns the reason why something does not cover a requirement, "" if it does.
func holderProblem(number, holder string, passed map[string]sessions.HookCase) string {
	kind, name, _ := strings.Cut(holder, ":")
	switch kind {
	case "case":
		if c, ok := passed[name]; !ok {
			return "it did not pass"
		} else if !slices.Contains(c.Requirements, number) {
			return "its reqs do not name the requirement"
		}
		return ""
	case "test":
		return testProblem(number, name)
	case "session":
		text, err := os.ReadFile(filepath.Join("../../testdata/hooks/script", name+".txtar"))
		if err != nil || !strings.Contains(string(text), number) {
			return "it does not exist or does not name the requirement"
		}
		return ""
	}
	return "it is not a case, a test or a session"
}

// testProblem looks for a test function that names the requirement and asserts
// something.
func testProblem(number, name string) string {
	dir, function, _ := strings.Cut(name, ".")
	paths, err := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
	if err != nil {
		return err.Error()
	}
	for _, path := range paths {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err.Error()
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == function {
				switch {
				case !strings.Contains(fn.Doc.Text(), number):
					return "its comment does not name the requirement"
				case !asserts(fn):
					return "it asserts nothing"
				}
				return ""
			}
		}
	}
	return "it does not exist"
}

// asserts reports whether a function calls require, assert or t.Fatal, or is an example
// with output.
func asserts(fn *ast.FuncDecl) bool {
	found := strings.HasPrefix(fn.Name.Name, "Example")
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if selector, ok := call.Fun.(*ast.SelectorExpr); ok {
				x, _ := selector.X.(*ast.Ident)
				found = found || x != nil && (x.Name == "require" || x.Name == "assert" || strings.HasPrefix(selector.Sel.Name, "Fatal"))
			}
		}
		return true
	})
	return found
}

// TestHoldersAreChecked shows that a requirement without a holder is noticed.
func TestHoldersAreChecked(t *testing.T) {
	passed := map[string]sessions.HookCase{"c": {Requirements: []string{"HOOK-001"}}}
	assert.Empty(t, holderProblem("HOOK-001", "case:c", passed))
	for _, holder := range []string{
		"case:d", "test:internal/hooks.TestNoSuchTest", "test:internal/hooks.TestImports", "session:nosuch", "session:check", "HOOK-001", "",
	} {
		assert.NotEmpty(t, holderProblem("HOOK-001", holder, passed), holder)
	}
	assert.NotEmpty(t, holderProblem("HOOK-002", "case:c", passed))
}
