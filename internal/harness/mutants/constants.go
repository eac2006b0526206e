package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// constants knows the constants of the module's packages, by directory: to each the next
// one of its declaration, which has the same type most often.
type constants struct {
	module string // its path
	dirs   map[string]map[string]string
}

func newConstants() (*constants, error) {
	out, err := exec.Command("go", "list", "-m").Output()
	return &constants{module: strings.TrimSpace(string(out))}, err
}

// of returns the constants of the package in dir. A package that is not there has none.
func (c *constants) of(dir string) map[string]string {
	if next, ok := c.dirs[dir]; ok {
		return next
	}
	next := map[string]string{}
	if c.dirs == nil {
		c.dirs = map[string]map[string]string{}
	}
	c.dirs[dir] = next
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil || strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), "", data, parser.SkipObjectResolution)
		if err == nil {
			addConstants(next, parsed)
		}
	}
	return next
}

func addConstants(next map[string]string, file *ast.File) {
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		var names []string
		for _, spec := range group.Specs {
			for _, name := range spec.(*ast.ValueSpec).Names {
				if name.Name != "_" {
					names = append(names, name.Name)
				}
			}
		}
		for i, name := range names {
			if len(names) > 1 {
				next[name] = names[(i+1)%len(names)]
			}
		}
	}
}

// another returns a constant of the declaration that has the constant e, or "" if there is
// none. file is the source that e is in, dir its package.
func (c *constants) another(e ast.Expr, file *ast.File, dir string) string {
	switch e := e.(type) {
	case *ast.Ident:
		return c.of(dir)[e.Name]
	case *ast.SelectorExpr:
		pkg, ok := e.X.(*ast.Ident)
		if !ok {
			return ""
		}
		if next := c.of(c.imported(pkg.Name, file))[e.Sel.Name]; ast.IsExported(next) {
			return pkg.Name + "." + next
		}
	}
	return ""
}

// imported returns the directory of the module's package that a file imports by this name.
func (c *constants) imported(name string, file *ast.File) string {
	for _, i := range file.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		dir, ok := strings.CutPrefix(path, c.module+"/")
		if ok && (i.Name != nil && i.Name.Name == name || i.Name == nil && filepath.Base(dir) == name) {
			return dir
		}
	}
	return "nowhere"
}
