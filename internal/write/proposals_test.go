package write

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/outline"
)

// programsOnPath are there in the corpus, so that none of them is left out because it is missing.
const programsOnPath = `make npm npx node go cargo pytest git rm mv chmod curl docker kubectl terraform ssh sudo psql python3 ` +
	`gofmt prettier black
	pip bash sh ls echo grep cat jest true test shellcheck tee`

// corpusProject returns a project with targets, scripts and programs, and what is none of them.
func corpusProject(t *testing.T) project {
	t.Helper()
	p := project{dir: t.TempDir()}
	bin := filepath.Join(p.dir, "bin")
	write := func(name, text string, mode os.FileMode) {
		file := filepath.Join(p.dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), mode))
	}
	for _, name := range strings.Fields(programsOnPath) {
		write(filepath.Join("bin", name), "#!/bin/sh\n", 0o755)
	}
	write("Makefile", ".PHONY: test\nX := 1\ntest: build\n\tgo test ./...\nbuild ci:\n\tgo build\n"+
		"lint deploy clean release install:\n\ttrue\n", 0o644)
	write("package.json", `{"scripts": {"lint": "eslint", "typecheck": "tsc", "lint:fix": "eslint --fix", "test": "jest", `+
		`"deploy": "x", "dev": "y"}}`, 0o644)
	write("src/main.go", "package main\n", 0o644)
	write("docs/plan.md", "# Plan\n", 0o644)
	write("CHANGELOG.md", "# Changes\n", 0o644)
	write("tools/verify.py", "print(1)\n", 0o644)
	write("manage.py", "print(1)\n", 0o644)
	write("scripts/plain.sh", "true\n", 0o644)
	write("scripts/check.sh", "#!/bin/sh\n", 0o755)
	write("scripts/deploy.sh", "#!/bin/sh\n", 0o755)
	p.path = "relative:" + bin
	return p
}

// TestProposals: nothing is proposed that a text does not say, and what it says plainly is found. One wrong proposal is a defect; a
// missing one is a line to move.
func TestProposals(t *testing.T) {
	text, err := os.ReadFile("testdata/proposals.txt")
	require.NoError(t, err)
	p, want, count := corpusProject(t), "", map[bool]int{}
	for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
			continue
		case strings.HasPrefix(line, "="):
			want = strings.TrimSpace(line[1:])
			continue
		}
		count[want == ""]++
		assert.Equal(t, want, proposals(p, line), "%s", line)
	}
	assert.GreaterOrEqual(t, count[false], 70, "texts that propose")
	assert.GreaterOrEqual(t, count[true], 150, "texts that propose nothing")
}

// proposals returns the gates that a text proposes as that of a step.
func proposals(p project, text string) string {
	text = strings.ReplaceAll(text, `\n`, "\n")
	o := outline.Markdown([]byte("## Step 1: Do it\n\n"+text+"\n\n## Step 2: Stop\n"), "")
	var gates []string
	for _, h := range p.hints(o.Hints) {
		if h.Gate != "" {
			gates = append(gates, h.Gate)
		}
	}
	return strings.Join(gates, "; ")
}
