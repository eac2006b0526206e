package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/fsmtx/fsmtx"

// heavy lists packages whose initialisation costs time at every start of the
// program once they are linked, used or not. net/http alone takes a third of a
// millisecond, a third of the time of a hook that has nothing to do. The MCP library
// links it, and is therefore in a program of its own (internal/mcp/program).
var heavy = []string{"net/http", "crypto/tls", "golang.org/x/text/unicode/norm", "github.com/spf13/afero", "github.com/modelcontextprotocol/go-sdk/mcp"}

func TestNothingHeavyIsLinked(t *testing.T) {
	deps := dependencies(t)
	for _, path := range heavy {
		assert.False(t, slices.Contains(deps, path), "%s is linked", path)
	}
}

// TestHarnessIsNotLinked keeps test code out of the program: what both need, such
// as txn/vfs/faultfs for the demo, does not belong in internal/harness.
func TestHarnessIsNotLinked(t *testing.T) {
	for _, path := range dependencies(t) {
		assert.False(t, strings.HasPrefix(path, module+"/internal/harness"), "%s is linked", path)
	}
}

// dependencies returns the import paths of every package linked into the program.
func dependencies(t *testing.T) []string {
	t.Helper()
	list := exec.Command("go", "list", "-deps", ".")
	var stderr strings.Builder
	list.Stderr = &stderr
	out, err := list.Output()
	require.NoError(t, err, stderr.String())
	deps := strings.Fields(string(out))
	require.Contains(t, deps, module+"/locator")
	return deps
}
