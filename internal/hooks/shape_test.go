package hooks

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

const module = "github.com/fsmtx/fsmtx/"

// sources returns the files of the hook runtime and its commands, without tests.
func sources(t *testing.T) map[string]*ast.File {
	files := map[string]*ast.File{}
	add := func(path string) {
		if filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") {
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			require.NoError(t, err)
			files[path] = f
		}
	}
	require.NoError(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error { add(path); return err }))
	commands, err := filepath.Glob("../command/hooks*.go")
	require.NoError(t, err)
	for _, path := range commands {
		add(path)
	}
	require.Greater(t, len(files), 50)
	return files
}

// TestThereIsNoPackageLevelState shows that an Engine owns all state: the only package-level
// variables are errors that are never assigned to. HOOK-006, HOOK-007
func TestThereIsNoPackageLevelState(t *testing.T) {
	for path, f := range sources(t) {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
				for _, s := range g.Specs {
					assert.True(t, isError(s.(*ast.ValueSpec)), "%s: %s", path, s.(*ast.ValueSpec).Names)
				}
			}
		}
	}
}

// isError reports whether the value of a variable is a call of errors.New.
func isError(v *ast.ValueSpec) bool {
	return len(v.Values) > 0 && !slices.ContainsFunc(v.Values, func(value ast.Expr) bool {
		call, ok := value.(*ast.CallExpr)
		if !ok {
			return true
		}
		made, ok := call.Fun.(*ast.SelectorExpr)
		return !ok || made.X.(*ast.Ident).Name+"."+made.Sel.Name != "errors.New"
	})
}

// TestImports shows the direction of imports: only the engine translates requests to models,
// so that callers see GenerateContent JSON (HOOK-141), and the runtime does not depend on
// hydrations and guards.
func TestImports(t *testing.T) {
	importers := map[string][]string{}
	for path, f := range sources(t) {
		for _, spec := range f.Imports {
			imported := strings.TrimPrefix(strings.Trim(spec.Path.Value, `"`), module)
			importers[imported] = append(importers[imported], filepath.Dir(path))
		}
	}
	assert.Equal(t, []string{".", "dialect"}, slices.Compact(slices.Sorted(slices.Values(importers["internal/hooks/process"]))))
	for _, other := range []string{"internal/hydrate", "internal/guard", "internal/tasklist"} {
		assert.NotContains(t, importers, other)
	}
}
