package main

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// alike are exported functions that only their own package uses, beside others like them that are used
// elsewhere.
var alike = []string{"internal/agent.Copilot", "internal/agent.OpenCode", "internal/agent.Qwen",
	"internal/harness/agents.OpenCode", "internal/harness/agents.Qwen"}

// TestExportedNamesAreUsedElsewhere: what a package of internal or cmd exports is used by another
// package, tests and all platforms included. A constant may be one of a group of which another is
// used, and a type may be that of something else that is exported. Methods and fields are not looked
// at: an interface, JSON or a package that does not name the type may use them.
func TestExportedNamesAreUsedElsewhere(t *testing.T) {
	var groups [][]string // names of which one has to be used
	used := map[string]bool{}
	for _, name := range sources(t) {
		tree, _ := parsed(t, name)
		markImported(tree, used)
		dir := path.Dir(name)
		if top, _, _ := strings.Cut(dir, "/"); (top == "internal" || top == "cmd") && !strings.HasSuffix(name, "_test.go") {
			for _, d := range tree.Decls {
				groups = append(groups, exported(d, dir+".", used)...)
			}
		}
	}
	for _, names := range groups {
		found := slices.ContainsFunc(names, func(name string) bool { return used[name] || slices.Contains(alike, name) })
		assert.True(t, found, "only its own package uses %v", names)
	}
}

// markImported marks what a file uses of other packages.
func markImported(file *ast.File, used map[string]bool) {
	imports := map[string]string{} // the packages by their names in the file
	for _, i := range file.Imports {
		imported, _ := strconv.Unquote(i.Path.Value)
		name := path.Base(imported)
		if i.Name != nil {
			name = i.Name.Name
		}
		imports[name] = strings.TrimPrefix(imported, module+"/")
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				used[imports[x.Name]+"."+n.Sel.Name] = true
			}
		case *ast.Ident:
			used[imports["."]+"."+n.Name] = true
		}
		return true
	})
}

// exported returns the names that a declaration exports, in groups. It marks the types of what the
// declaration exports, methods included.
func exported(d ast.Decl, prefix string, used map[string]bool) (groups [][]string) {
	add := func(name *ast.Ident, shown ast.Node) {
		if !name.IsExported() {
			return
		}
		groups = append(groups, []string{prefix + name.Name})
		ast.Inspect(shown, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				used[prefix+n.Name] = true
			case *ast.StructType:
				n.Fields.List = slices.DeleteFunc(n.Fields.List, func(f *ast.Field) bool {
					return len(f.Names) > 0 && !slices.ContainsFunc(f.Names, (*ast.Ident).IsExported)
				})
			case *ast.Field:
				n.Names = nil
			case *ast.SelectorExpr:
				return false // a type of another package
			}
			return true
		})
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if add(d.Name, d.Type); d.Recv != nil {
			return nil
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				add(s.Name, s.Type)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					add(name, &ast.ValueSpec{Type: s.Type})
				}
			}
		}
		if d.Tok == token.CONST && len(groups) > 0 {
			return [][]string{slices.Concat(groups...)}
		}
	}
	return groups
}
