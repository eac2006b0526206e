package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/fsmtx/fsmtx"

// heavy lists packages that must not be linked, because their initialisation costs time at
// every start of the program, even if they are not used. net/http alone takes a third of a
// millisecond, which is a third of the time of a hook that has nothing to do. The MCP
// library imports it, so the MCP server is a separate program (internal/mcp/program).
var heavy = []string{"net/http", "crypto/tls", "golang.org/x/text/unicode/norm", "github.com/spf13/afero",
	"github.com/pelletier/go-toml/v2", "github.com/modelcontextprotocol/go-sdk/mcp"}

func TestNothingHeavyIsLinked(t *testing.T) {
	deps := dependencies(t)
	for _, path := range heavy {
		assert.False(t, slices.Contains(deps, path), "%s is linked", path)
	}
}

// TestHarnessIsNotLinked keeps test code out of the program: the harness, and the file systems that fail.
func TestHarnessIsNotLinked(t *testing.T) {
	for _, path := range dependencies(t) {
		isOfTests := strings.HasPrefix(path, module+"/internal/harness") || path == module+"/txn/vfs/faultfs"
		assert.False(t, isOfTests, "%s is linked", path)
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

// ofLibraries has the packages of other modules that allocate more than ten objects when the
// program starts, which the hook pays whether it uses them or not. A newer
// version may not make it more without being weighed.
var ofLibraries = map[string]int{
	"go.yaml.in/yaml/v3":                 276,
	"mvdan.cc/sh/v3/fileutil":            104,
	"unicode":                            20,
	"net/netip":                          18,
	"github.com/go-json-experiment/json": 15,
	"net":                                15,
	"github.com/spf13/cobra":             12,
}

// initialised has the packages of this module that have an initialiser. It runs at every start,
// and its code is rarely in memory with that of another: the fault for the page alone takes a
// four-hundredth of the time of a program that only parses the event.
var initialised = []string{
	"/internal/agent", "/internal/jsonx", "/internal/startup", "/locator", "/txn", "/txn/vfs",
}

// TestStartAllocatesLittle: a hook starts for every call of a skill and of a task tool,
// and runs the initialisers of all commands and of everything they import. A table belongs in
// the function that uses it, an expression is compiled when it is first used.
func TestStartAllocatesLittle(t *testing.T) {
	program := filepath.Join(t.TempDir(), "fsmtx")
	out, err := exec.Command("go", "build", "-trimpath", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	total, ours, bytes := 0, 0, 0
	for path, least := range leastAtStart(t, program) {
		assert.LessOrEqual(t, least.objects, max(10, ofLibraries[path]), path)
		total, bytes = total+least.objects, bytes+least.bytes
		if name, is := strings.CutPrefix(path, module); is {
			ours += least.objects
			assert.Contains(t, initialised, name, "has an initialiser: a map, a pattern or a formatted text belongs in a function")
		}
	}
	require.NotZero(t, ours)
	assert.LessOrEqual(t, ours, 15)
	assert.LessOrEqual(t, total, 600)
	assert.LessOrEqual(t, bytes, 100_000)
}

// allocated is what the initialiser of a package allocated.
type allocated struct{ objects, bytes int }

// leastAtStart starts program several times and returns the least that each package allocated,
// by its path. The runtime counts for a package whatever is allocated while its initialiser
// runs, by another goroutine of the runtime too.
func leastAtStart(t *testing.T, program string) map[string]allocated {
	t.Helper()
	line := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, (\d+) allocs$`)
	all := map[string]allocated{}
	for range 5 {
		c := exec.Command(program, "recover", "--dry-run")
		c.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		trace, err := c.CombinedOutput()
		require.NoError(t, err)
		for _, found := range line.FindAllStringSubmatch(string(trace), -1) {
			size, err := strconv.Atoi(found[2])
			require.NoError(t, err)
			n, err := strconv.Atoi(found[3])
			require.NoError(t, err)
			least, seen := all[found[1]]
			if !seen || n < least.objects {
				all[found[1]] = allocated{objects: n, bytes: size}
			}
		}
	}
	return all
}

// TestOnlyPflagImportsNet: of the linked packages only pflag, the library that parses flags,
// imports package net, for flags that are addresses. So fsmtx cannot send anything over a
// network. (fsmtx-tools links net/http, which the MCP library imports; it serves only standard
// input and output.)
func TestOnlyPflagImportsNet(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-f", `{{range .Imports}}{{$.ImportPath}} {{.}}{{"\n"}}{{end}}`, ".")
	out, err := list.Output()
	require.NoError(t, err)
	var importers []string
	for line := range strings.Lines(string(out)) {
		importer, imported, _ := strings.Cut(strings.TrimSpace(line), " ")
		if imported == "net" || imported == "net/http" || imported == "crypto/tls" {
			importers = append(importers, importer+" imports "+imported)
		}
	}
	require.Equal(t, []string{"github.com/spf13/pflag imports net"}, importers)
}

// TestImportersNeedFewModules: what another program has to require, and to have in its go.sum,
// if it imports a public package. Requirements of tests and of the harness do not count, because
// go drops modules that the program does not import. Only aferofs needs afero.
func TestImportersNeedFewModules(t *testing.T) {
	need := func(pkg string) (modules []string) {
		list := exec.Command("go", "list", "-deps", "-f", `{{with .Module}}{{.Path}}{{end}}`, module+"/"+pkg)
		out, err := list.Output()
		require.NoError(t, err)
		modules = slices.DeleteFunc(strings.Fields(string(out)), func(path string) bool { return path == module })
		slices.Sort(modules)
		return slices.Compact(modules)
	}
	of := []string{"github.com/go-json-experiment/json", "github.com/gofrs/flock", "github.com/google/renameio/v2", "golang.org/x/sync",
		"golang.org/x/sys"}
	require.Equal(t, of, need("txn"))
	require.Equal(t, []string{"github.com/go-json-experiment/json"}, need("fsmspec"))
	require.NotContains(t, need("locator"), "github.com/spf13/afero")
	require.Contains(t, need("locator/aferofs"), "github.com/spf13/afero")
}
