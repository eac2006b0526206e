package checks_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/checks"
)

// write writes a file of a project. What has a #! is executable.
func write(t *testing.T, file string, text []byte) {
	t.Helper()
	mode := os.FileMode(0o644)
	if strings.HasPrefix(string(text), "#!") {
		mode = 0o755
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, text, mode))
}

// projectWith returns a project with the files of an archive, and the programs on its PATH.
func projectWith(t *testing.T, files []txtar.File, programs []string) checks.Project {
	t.Helper()
	root := t.TempDir()
	p := checks.Project{Dir: filepath.Join(root, "project"), Path: "relative:" + filepath.Join(root, "usr", "bin")}
	for _, name := range programs {
		write(t, filepath.Join(root, "usr", "bin", name), []byte("#!/bin/sh\n"))
	}
	write(t, filepath.Join(root, "usr", "lib", "python3.12", "unittest", "__init__.py"), nil)
	write(t, filepath.Join(root, "usr", "lib", "python3.12", "site-packages", "pytest", "__init__.py"), nil)
	for _, f := range files {
		write(t, filepath.Join(p.Dir, f.Name), f.Data)
	}
	return p
}

// TestCommands: of the commands of a text those are known that check only. One that is known and acts is a defect.
func TestCommands(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/project.txtar")
	require.NoError(t, err)
	text, err := os.ReadFile("testdata/commands.txt")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	programs := []string{"cargo-fmt", "cargo-clippy"}
	for _, line := range lines {
		if name := strings.Fields(line + " -")[0]; !strings.Contains(name, "/") && !strings.ContainsAny(name[:1], "+#-") && name != "strict" {
			programs = append(programs, name)
		}
	}
	slices.Sort(programs)
	p := projectWith(t, append(archive.Files, txtar.File{Name: "binary", Data: []byte("#!/bin/sh\n\x00")}), slices.Compact(programs))
	good := false
	for _, line := range lines {
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case line == "+" || line == "-":
			good = line == "+"
		case good:
			assert.Equal(t, line, p.Command(line))
		default:
			assert.Empty(t, p.Command(line), "%s", line)
		}
	}
}

// TestWordAlone: a word alone is a target or a script, if it names just one.
func TestWordAlone(t *testing.T) {
	p := projectWith(t, []txtar.File{
		{Name: "Makefile", Data: []byte("ci:\n\tgo test ./...\nlint:\n\tgo vet ./...\nclean:\n\trm x\n")},
		{Name: "package.json", Data: []byte(`{"scripts": {"types": "tsc --noEmit", "lint": "eslint ."}}`)},
		{Name: "pnpm-lock.yaml"},
	}, []string{"make", "pnpm", "npm"})
	for word, want := range map[string]string{"ci": "make ci", "types": "pnpm run types", "lint": "", "clean": "", "other": ""} {
		assert.Equal(t, want, p.Command(word), word)
	}
}

// TestAnotherInterpreter: a file is run only by the interpreter that its name says, and tsc only if it writes nothing.
func TestAnotherInterpreter(t *testing.T) {
	p := projectWith(t, []txtar.File{{Name: "check.sh", Data: []byte("true\n")}, {Name: "check.js", Data: []byte("1\n")}},
		[]string{"node", "python3", "sh", "bash", "tsc"})
	for line, want := range map[string]bool{"sh check.sh": true, "bash check.sh": true, "node check.js": true, "node check.sh": false,
		"sh check.js": false, "python3 check.sh": false, "tsc --build": false, "tsc -b": false} {
		assert.Equal(t, want, p.Command(line) != "", line)
	}
}

// TestNotThere: a command that is not there is none.
func TestNotThere(t *testing.T) {
	p := projectWith(t, []txtar.File{{Name: "Makefile", Data: []byte("test:\n\ttrue\n")}, {Name: "Cargo.toml"}},
		[]string{"cargo", "python3"})
	for _, line := range []string{"make test", "pytest", "cargo fmt --check", "cargo nextest run", "cargo deny check", "python3 -m mypy ."} {
		assert.Empty(t, p.Command(line), line)
	}
	for line, manifest := range map[string]string{"cargo test": "Cargo.toml", "mix test": "mix.exs", "swift test": "Package.swift",
		"mvn test": "pom.xml"} {
		program, _, _ := strings.Cut(line, " ")
		p := projectWith(t, []txtar.File{{Name: "README.md"}}, []string{program})
		assert.Empty(t, p.Command(line), line)
		write(t, filepath.Join(p.Dir, manifest), nil)
		assert.Equal(t, line, p.Command(line))
	}
}

// TestUnreadableMakefile: of a makefile with something that is not read here, no target is known.
func TestUnreadableMakefile(t *testing.T) {
	const test = "test:\n\tgo test ./...\n"
	for _, text := range []string{"include x.mk\n", "-include x.mk\n", "ifdef X\nendif\n", "define x\nendef\n", "$(eval x)\n",
		"SHELL := /bin/rm\n", ".ONESHELL:\n", "X != rm x\n", "%.o: %.c\n\tcc x\n", "X := $(shell rm x)\n", "X = 1\nX = 2\n",
		"test: X = $(shell rm x)\n"} {
		p := projectWith(t, []txtar.File{{Name: "Makefile", Data: []byte(text + test)}}, []string{"make"})
		assert.Empty(t, p.Command("make test"), text)
	}
	p := projectWith(t, []txtar.File{{Name: "Makefile", Data: []byte("X = 1\n" + test)}}, []string{"make"})
	assert.Equal(t, "make test", p.Command("make test"))
}

// TestRecipes: a target is known if all that it runs was read, and checks, builds or prints only.
func TestRecipes(t *testing.T) {
	text, err := os.ReadFile("testdata/recipes.txt")
	require.NoError(t, err)
	want := ""
	for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case line == "+" || line == "-":
			want = map[string]string{"+": "make test"}[line]
			continue
		}
		makefile := strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(line)
		p := projectWith(t, []txtar.File{{Name: "Makefile", Data: []byte(makefile)}, {Name: "sub/x"}}, []string{"make"})
		assert.Equal(t, want, p.Command("make test"), "%s", line)
	}
}

// TestScripts: an executable of the project is known if its text was read and nothing in it acts.
func TestScripts(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/scripts.txtar")
	require.NoError(t, err)
	p := projectWith(t, archive.Files, nil)
	for _, f := range archive.Files {
		want := ""
		if strings.HasPrefix(f.Name, "good/") {
			want = f.Name
		}
		assert.Equal(t, want, p.Command(f.Name), "%s", f.Data)
	}
}
