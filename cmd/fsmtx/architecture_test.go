package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEveryPackageIsInTheArchitecture: the tables of packages in docs/internals/architecture.md
// have every package of the tree, and no other.
func TestEveryPackageIsInTheArchitecture(t *testing.T) {
	var named []string
	above := ""
	for _, row := range architecture(t, "Packages") {
		for _, name := range codeSpans(row[0]) {
			if below, ok := strings.CutPrefix(name, "…/"); ok {
				name = above + "/" + below
			} else {
				above = name
			}
			named = append(named, name)
		}
	}
	there := map[string]bool{}
	for _, name := range sources(t) {
		there[path.Dir(name)] = true
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(there)), named)
}

// sources returns the Go files of the tree but for those in testdata, relative to its root.
func sources(t *testing.T) (names []string) {
	t.Helper()
	require.NoError(t, fs.WalkDir(os.DirFS("../.."), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && name != "." && (e.Name() == "testdata" || strings.HasPrefix(e.Name(), ".")) {
			return fs.SkipDir
		}
		if strings.HasSuffix(name, ".go") {
			names = append(names, name)
		}
		return nil
	}))
	require.NotEmpty(t, names)
	return names
}

// parsed returns a Go file of the tree and its text.
func parsed(t *testing.T, name string) (*ast.File, string) {
	t.Helper()
	text, err := os.ReadFile("../../" + name)
	require.NoError(t, err)
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	return file, string(text)
}

// TestPlacesNamedInTheArchitectureExist: in the table of the way of an event every code span in the second column is a package, a
// directory or a file of the tree, a file of a directory that the row names before it, or a name of a Go file that the row names.
func TestPlacesNamedInTheArchitectureExist(t *testing.T) {
	rows := architecture(t, "The way of an event")
	require.Len(t, rows, 7)
	for _, row := range rows {
		places := unresolvedPlaces(os.DirFS("../.."), row[1])
		assert.Empty(t, places, row[0])
	}
}

// unresolvedPlaces returns what is named in a cell of the table and does not exist.
func unresolvedPlaces(root fs.FS, cell string) (unresolved []string) {
	var dirs []string
	text := "" // of the Go files that were named
	for _, span := range codeSpans(cell) {
		if strings.Contains(span, " ") {
			continue
		}
		name, ok := "", false
		for _, dir := range append([]string{"."}, dirs...) {
			if name = path.Join(dir, span); exists(root, name) {
				ok = true
				break
			}
		}
		switch {
		case ok && strings.HasSuffix(name, ".go"):
			data, _ := fs.ReadFile(root, name)
			text += string(data)
			dirs = append(dirs, path.Dir(name))
		case ok:
			dirs = append(dirs, name)
		case !regexp.MustCompile(`(?m)^(?:func|type|const|var) (?:\([^)]*\) )?` + regexp.QuoteMeta(span) + `\b`).MatchString(text):
			unresolved = append(unresolved, span)
		}
	}
	if len(dirs) == 0 && len(unresolved) == 0 {
		return []string{"no place is named"}
	}
	return unresolved
}

func exists(root fs.FS, name string) bool {
	_, err := fs.Stat(root, name)
	return err == nil
}

// architecture returns the rows of the tables of one section of docs/internals/architecture.md,
// each with its two cells.
func architecture(t *testing.T, section string) (rows [][]string) {
	t.Helper()
	data, err := os.ReadFile("../../docs/internals/architecture.md")
	require.NoError(t, err)
	_, text, found := strings.Cut(string(data), "\n## "+section+"\n")
	require.True(t, found, section)
	text, _, _ = strings.Cut(text, "\n## ")
	for _, table := range tablesIn(text) {
		for _, row := range table[2:] { // below the names of the columns and the dashes
			require.Len(t, row, 2, row)
			rows = append(rows, row)
		}
	}
	return rows
}

func codeSpans(cell string) (spans []string) {
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
		spans = append(spans, m[1])
	}
	return spans
}

// agentsWords are names of agents, and of tools that only some of them have.
var agentsWords = regexp.MustCompile(`(?i)claude|codex|copilot|gemini|qwen|opencode|AskUserQuestion|Task(Create|Get|List|` +
	`Update)\b|TodoWrite|ToolSearch`)

// TestThePublicPackagesKnowNoAgent: a workflow and a transaction are the same in every agent. The
// locator is not among them: it finds what Claude Code finds.
func TestThePublicPackagesKnowNoAgent(t *testing.T) {
	list := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Deps}} {{.}}{{end}}`, "../../fsmspec/...", "../../txn/...")
	out, err := list.Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		for _, dep := range strings.Fields(line) {
			assert.NotRegexp(t, `/internal/(claude|agent)\b`, dep, line)
		}
	}
	for _, name := range sourcesIn(t, "fsmspec/", "txn/") {
		_, text := parsed(t, name)
		assert.NotRegexp(t, agentsWords, text, name)
	}
}

// TestTextsAboutStepsNameNoAgent: an agent of whatever kind reads them.
func TestTextsAboutStepsNameNoAgent(t *testing.T) {
	for _, name := range sourcesIn(t, "internal/workflow/", "internal/state/", "internal/gates/", "internal/mcp/server.go",
		"internal/mcp/ask.go") {
		file, _ := parsed(t, name)
		ast.Inspect(file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				assert.NotRegexp(t, agentsWords, text.Value, name)
			}
			_, isImport := n.(*ast.ImportSpec)
			return !isImport
		})
	}
}

// sourcesIn returns the Go files that begin so and are not tests.
func sourcesIn(t *testing.T, begins ...string) (names []string) {
	t.Helper()
	for _, begin := range begins {
		n := len(names)
		for _, name := range sources(t) {
			if strings.HasPrefix(name, begin) && !strings.HasSuffix(name, "_test.go") {
				names = append(names, name)
			}
		}
		require.Greater(t, len(names), n, begin)
	}
	return names
}

// opensItself has the files outside internal/safefile that open, create, rename or lock files by
// themselves, with the reason.
var opensItself = map[string]string{
	"internal/trial/project.go":               "makes the files of a copy, which it removes",
	"internal/terminal/system_unix.go":        "opens the terminal, which is a device",
	"internal/terminal/system_windows.go":     "opens the terminal, which is a device",
	"internal/decisions/file.go":              "appends to a log that a person names, which may be a pipe or a device",
	"internal/git/worktree.go":                "makes a file for one process, which it removes",
	"internal/orphans/orphans_linux.go":       "reads /proc, which is the kernel's",
	"internal/hooks/envfile.go":               "makes a file for one process, which it removes",
	"internal/hooks/process/group_unix.go":    "makes a file for one process, which it removes",
	"internal/hooks/process/group_windows.go": "makes a file for one process, which it removes",
}

// opening has the functions that open, create, rename or lock files.
var opening = regexp.MustCompile(`^(os\.(Create|CreateTemp|Open|OpenFile|OpenInRoot|OpenRoot|ReadFile|WriteFile|Rename|Link|Truncate)` +
	`|(unix|syscall)\.(Creat|Flock|Link|Linkat|Open|Openat|Openat2|Rename|Renameat|Renameat2|RenameatxNp|Truncate)|` +
	`ioutil\..*|renameio\..*|flock\..*)$`)

// TestFilesAreWrittenInOnePlace: internal/safefile opens, writes and locks files. What it promises,
// such as that no open blocks and that a crash leaves a whole file, then holds for all.
func TestFilesAreWrittenInOnePlace(t *testing.T) {
	found := map[string][]string{}
	for _, name := range sourcesIn(t, "") {
		if regexp.MustCompile(`^(fuzz|internal/harness|internal/safefile)/`).MatchString(name) {
			continue
		}
		file, _ := parsed(t, name)
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && opening.MatchString(x.Name+"."+s.Sel.Name) {
					found[name] = append(found[name], x.Name+"."+s.Sel.Name)
				}
			}
			return true
		})
	}
	for name, calls := range found {
		assert.Contains(t, opensItself, name, "it calls %v: use internal/safefile", calls)
	}
	for name := range opensItself {
		assert.Contains(t, found, name, "it opens nothing any more")
	}
}

// TestPlatformsDifferInAFewPackages: what is other on another system is one function in one of these, in a file for each system.
func TestPlatformsDifferInAFewPackages(t *testing.T) {
	rooms := map[string]bool{"internal/safefile": false, "internal/caller": false, "internal/signals": false, "internal/hooks/process": false,
		"internal/terminal": false, "txn/vfs": false, "internal/orphans": false, "internal/install": false}
	for _, name := range sourcesIn(t, "") {
		if strings.HasPrefix(name, "internal/harness/") {
			continue
		}
		text, err := os.ReadFile("../../" + name)
		require.NoError(t, err)
		if regexp.MustCompile(`_(linux|darwin|windows)\.go$`).MatchString(name) || strings.HasPrefix(string(text), "//go:build ") {
			assert.Contains(t, rooms, path.Dir(name), name)
			rooms[path.Dir(name)] = true
		}
	}
	for room, has := range rooms {
		assert.True(t, has, "%s is the same on every system", room)
	}
}
