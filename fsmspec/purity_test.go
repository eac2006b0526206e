package fsmspec_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestImports: the package promises to do no I/O, and every call of a skill starts a process
// that loads it. So neither it nor the internal packages that it uses may import others.
func TestImports(t *testing.T) {
	const standard = "bytes cmp errors fmt io iter maps math math/bits path reflect regexp regexp/syntax slices strconv " +
		"strings sync time unicode unicode/utf16 unicode/utf8"
	allowed := append(strings.Fields(standard),
		"github.com/go-json-experiment/json",
		"github.com/go-json-experiment/json/jsontext",
		"github.com/fsmtx/fsmtx/internal/permission", "github.com/fsmtx/fsmtx/internal/jsonx", "github.com/fsmtx/fsmtx/internal/machine",
		"github.com/fsmtx/fsmtx/internal/message", "github.com/fsmtx/fsmtx/internal/pattern")
	for _, dir := range []string{".", "../internal/permission", "../internal/jsonx", "../internal/machine", "../internal/message",
		"../internal/pattern"} {
		files := must(filepath.Glob(dir + "/*.go"))
		require.NotEmpty(t, files)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			syntax := must(parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly))
			for _, imported := range syntax.Imports {
				assert.Contains(t, allowed, must(strconv.Unquote(imported.Path.Value)), file)
			}
		}
	}
}
