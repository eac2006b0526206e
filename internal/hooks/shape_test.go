package hooks

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The shape of the interface, which fails to compile when it changes. Every result
// is a return value: nobody can fire an event and forget what came of it.
// HOOK-134, HOOK-142, HOOK-175
var (
	_ func(Config) *Engine                                                            = New
	_ func(*Engine, context.Context, string, Input) *Result                           = (*Engine).Fire                // HOOK-143
	_ func(*Engine, context.Context, string, jsontext.Value) *Output                  = (*Engine).BeforeTool          // HOOK-127, HOOK-150
	_ func(*Engine, context.Context, string, jsontext.Value, jsontext.Value) *Output  = (*Engine).AfterTool           // HOOK-128, HOOK-151
	_ func(*Engine, context.Context, jsontext.Value) BeforeModelResult                = (*Engine).BeforeModel         // HOOK-152
	_ func(*Engine, context.Context, jsontext.Value, jsontext.Value) AfterModelResult = (*Engine).AfterModel          // HOOK-153
	_ func(*Engine, context.Context, jsontext.Value) ToolSelectionResult              = (*Engine).BeforeToolSelection // HOOK-154
	_ func(*Engine, context.Context, string, jsontext.Value, Tool) ToolRun            = (*Engine).ExecuteTool
	_ func(*Engine, context.Context, jsontext.Value, Model) ModelRun                  = (*Engine).RunModel
	_                                                                                 = BeforeModelResult{Blocked: false, Reason: "", Synthetic: nil, Modified: nil} // HOOK-135, HOOK-176
	_                                                                                 = AfterModelResult{Response: nil}                                              // HOOK-136, HOOK-176
	_                                                                                 = ToolSelectionResult{ToolConfig: nil, Tools: nil}                             // HOOK-137, HOOK-176
)

// sources are the files of the hook runtime and its commands, without their tests.
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

// TestThereIsNoPackageLevelState is that an Engine owns all there is: outside of it
// are errors and options, which nobody assigns to. HOOK-006, HOOK-007
func TestThereIsNoPackageLevelState(t *testing.T) {
	for path, f := range sources(t) {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
				for _, s := range g.Specs {
					assert.True(t, isFixed(s.(*ast.ValueSpec)), "%s: %s", path, s.(*ast.ValueSpec).Names)
				}
			}
		}
	}
}

// isFixed reports whether a variable is an error or options of the JSON package.
func isFixed(v *ast.ValueSpec) bool {
	return len(v.Values) > 0 && !slices.ContainsFunc(v.Values, func(value ast.Expr) bool {
		call, ok := value.(*ast.CallExpr)
		if !ok {
			return true
		}
		made, ok := call.Fun.(*ast.SelectorExpr)
		return !ok || !slices.Contains([]string{"errors.New", "json.JoinOptions"}, made.X.(*ast.Ident).Name+"."+made.Sel.Name)
	})
}

// TestOnlyADialectKnowsItsName is that what differs between agents is a field of
// Dialect: nothing is decided by comparing with an agent's name.
func TestOnlyADialectKnowsItsName(t *testing.T) {
	isName := func(e ast.Expr) bool {
		literal, ok := e.(*ast.BasicLit)
		return ok && slices.Contains([]string{`"llxprt"`, `"gemini"`, `"claude"`, `"LLxprt Code"`, `"Gemini CLI"`, `"Claude Code"`}, literal.Value)
	}
	for path, f := range sources(t) {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				assert.False(t, isName(n.X) || isName(n.Y), path)
			case *ast.CaseClause:
				assert.False(t, slices.ContainsFunc(n.List, isName), path)
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.SelectorExpr); ok && n.Sel.Name == "Name" {
					assert.False(t, strings.EqualFold(x.Sel.Name, "dialect"), "%s asks for the dialect's name", path)
				}
			}
			return true
		})
	}
}

// TestTheTranslatorIsNobodyElses is that callers see GenerateContent JSON and
// nothing of the stable format. HOOK-141
func TestTheTranslatorIsNobodyElses(t *testing.T) {
	for _, d := range sources(t)["translate.go"].Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			assert.False(t, f.Name.IsExported(), f.Name.Name)
		}
	}
}
