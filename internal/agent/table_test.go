package agent_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/agent"
)

// TestOnlyItsFileNamesAnAgent: a new agent is one file. No other code of the program compares a name with that of an agent other
// than Claude Code. The dialects of the hook runtime are those of the agents that it stands for.
func TestOnlyItsFileNamesAnAgent(t *testing.T) {
	names := map[string]bool{}
	for _, a := range agent.Others() {
		names[a.Name] = true
		assert.FileExists(t, a.Name+".go")
	}
	require.Len(t, names, 5)
	found := 0
	require.NoError(t, filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		switch name := e.Name(); {
		case err != nil:
			return err
		case e.IsDir() && (name == "harness" || name == "testdata" || name == "hooks" || name == ".git"):
			return filepath.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "hooks"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				if value, _ := strconv.Unquote(text.Value); names[value] {
					found++
					assert.Equal(t, value+".go", filepath.Base(path), "%s names the agent %s", path, value)
				}
			}
			return true
		})
		return nil
	}))
	assert.GreaterOrEqual(t, found, 5, "each file names its own")
}
