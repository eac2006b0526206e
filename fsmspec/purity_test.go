package fsmspec_test

import (
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The package is bytes and values in, values out, and it is loaded by a hook
// that starts on every call of a skill: what it imports is part of what it is.
func TestImports(t *testing.T) {
	allowed := strings.Fields("bytes cmp errors fmt io iter math slices strconv strings unicode unicode/utf8 github.com/go-json-experiment/json/jsontext github.com/fsmtx/fsmtx/internal/jsonx")
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, imported := range syntax.Imports {
			path, err := strconv.Unquote(imported.Path.Value)
			require.NoError(t, err)
			assert.Contains(t, allowed, path, file.Name())
		}
	}
}
