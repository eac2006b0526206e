package state

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNobodyElseWrites: doc.go says who writes the tasks of a list and the files of S.
func TestNobodyElseWrites(t *testing.T) {
	found := map[string]bool{}
	require.NoError(t, filepath.WalkDir("../../internal", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == "harness":
			return fs.SkipDir
		case e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		room := filepath.Base(filepath.Dir(path))
		for _, c := range callsOf(file) {
			switch {
			case c == "Commit":
				assert.Equal(t, "tasks", room, "%s changes a list", path)
			case slices.Contains([]string{"AppendState", "AppendStateLazily", "ReplaceState", "WriteState", "WriteUnlocked", "RemoveState"}, c):
				assert.Contains(t, []string{"state", "statefile"}, room, "%s writes into a state directory", path)
			default:
				continue
			}
			found[c] = true
		}
		return nil
	}))
	require.Len(t, found, 7, "each is called by somebody, or has another name now")
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	for _, name := range []string{EvidenceFile, archivePrefix + "*", LatePrefix + "*", SessionFile, MovingFile, missedFile} {
		assert.Contains(t, string(doc), "//\t"+name+" ")
	}
}

// callsOf returns the names of the methods that a file calls.
func callsOf(file *ast.File) (names []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if s, ok := c.Fun.(*ast.SelectorExpr); ok {
				names = append(names, s.Sel.Name)
			}
		}
		return true
	})
	return names
}
