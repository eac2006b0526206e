package write

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/checks"
	"github.com/fsmtx/fsmtx/internal/outline"
)

// programsOnPath are there in the corpus, so that none of them is left out because it is missing.
const programsOnPath = `make npm npx node go cargo pytest git rm mv chmod curl docker kubectl terraform ssh sudo psql python3 ` +
	`gofmt prettier black
	pip bash sh ls echo grep cat jest true test shellcheck tee cargo-fmt`

// corpusProject returns a project with targets, scripts and programs, and what is none of them.
func corpusProject(t *testing.T) checks.Project {
	t.Helper()
	p := checks.Project{Dir: t.TempDir()}
	bin := filepath.Join(p.Dir, "bin")
	write := func(name, text string, mode os.FileMode) {
		file := filepath.Join(p.Dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), mode))
	}
	for _, name := range strings.Fields(programsOnPath) {
		write(filepath.Join("bin", name), "#!/bin/sh\n", 0o755)
	}
	write("Makefile", ".PHONY: test\nX := 1\ntest: build\n\tgo test ./...\nbuild ci:\n\tgo build\n"+
		"lint e2e deploy clean release install:\n\ttrue\n", 0o644)
	write("package.json", `{"scripts": {"lint": "eslint", "typecheck": "tsc", "lint:fix": "eslint --fix", "test": "jest", `+
		`"deploy": "x", "dev": "y"}}`, 0o644)
	write("Cargo.toml", "[package]\n", 0o644)
	write("src/main.go", "package main\n", 0o644)
	write("docs/plan.md", "# Plan\n", 0o644)
	write("CHANGELOG.md", "# Changes\n", 0o644)
	write("tools/verify.py", "print(1)\n", 0o644)
	write("manage.py", "print(1)\n", 0o644)
	write("scripts/plain.sh", "true\n", 0o644)
	write("scripts/check.sh", "#!/bin/sh\n", 0o755)
	write("scripts/deploy.sh", "#!/bin/sh\n", 0o755)
	p.Path = "relative:" + bin
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
	assert.GreaterOrEqual(t, count[false], 100, "texts that propose")
	assert.GreaterOrEqual(t, count[true], 250, "texts that propose nothing")
}

// proposals returns the gates that a text proposes as that of a step.
func proposals(p checks.Project, text string) string {
	text = strings.ReplaceAll(text, `\n`, "\n")
	o := outline.Markdown([]byte("## Step 1: Draft it\n\n"+text+"\n\n## Step 2: Stop\n"), "")
	var gates []string
	for _, h := range possible(p, o) {
		if h.Gate != "" {
			gates = append(gates, h.Gate)
		}
	}
	return strings.Join(gates, "; ")
}

// TestTakenBackElsewhere: what another part of the text forbids, or says of the step, is not proposed. The other texts propose it.
func TestTakenBackElsewhere(t *testing.T) {
	const run = "Run `make e2e` and make sure it passes."
	p := corpusProject(t)
	for _, c := range []struct {
		text string
		want bool
	}{
		{"## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n", true},
		{"# Rules\n\n- Never touch `.env`.\n- Do not change the tests.\n\n## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n", true},
		{"# Rules\n\n- Never run `make deploy`.\n\n## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n", true},
		{"# Rules\n\nDo not stop before `make e2e` passes.\n\n## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n", true},
		{"# Rules\n\n- Never run `make e2e`.\n\n## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n", false},
		{"# Rules\n\nNever:\n\n- Run `make e2e`.\n- Push.\n\n## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n", false},
		{"# Rules\n\n| Never | `make e2e` |\n|---|---|\n\n## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n", false},
		{"# Rules\n\n## Forbidden\n\n- `make e2e`\n\n## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n", false},
		{"# Rules\n\nDo not run any commands yourself.\n\n## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n", false},
		{"# Rules\n\nNever run `make`.\n\n## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n", false},
		{"# Rules\n\nNever run the e2e suite.\n\n## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n", false},
		{"Never run `make e2e`.\n\n## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n", false},
		{"Never run make e2e.\n\n## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n", false},
		{"<!-- never run `make e2e` -->\n\n## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n", false},
		{"---\ndescription: Never runs make e2e.\n---\n\n## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n", false},
		{"## PHASE ONE — Code\n\nWrite a test.\n\n## PHASE TWO — Run the e2e tests\n\nRUN\n", true},
		{"All tests must pass. Write a test.\n\n## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n", true},
		{"---\ndescription: Never run `make e2e`.\n---\n\n## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n", false},
		{"---\ndescription: Run `make e2e`.\n---\n\n## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n", true},
		{"---\ndescription: Build and test it with make.\n---\n\n## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n", true},
		{"## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n\n**Note:** do not run `make e2e` on this machine.\n", false},
		{"## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n\n## Known problems\n\n`make e2e` is broken.\n", false},
		{"## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n\n> `make e2e` is obsolete.\n", false},
		{"## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n\n```\n# never run make e2e\n```\n", false},
		{"## Steps\n\n1. Anti-patterns\n   - RUN\n2. Stop\n", false},
		{"## Steps\n\n1. What the old release script did:\n   - RUN\n2. Stop\n", false},
		{"## Steps\n\n1. Leave these to the person:\n   - RUN\n2. Stop\n", false},
		{"## Steps\n\n1. For the reviewer:\n   1. RUN\n2. Stop\n", false},
		{"## Steps\n\n1. Check the code:\n   - RUN\n2. Stop\n", true},
		{"## Steps\n\n1. RUN\n2. Stop\n", true},
		{"## Étape 1 : Ne pas\n\nRUN\n\n## Étape 2 : Fin\n", false},
		{"## Étape 1 : Tests\n\nNe pas :\n- RUN\n\n## Étape 2 : Fin\n", false},
		{"## Step 1: Skip the end-to-end tests\n\nRUN\n\n## Step 2: Stop\n", false},
		{"## Step 1: Reproduce the bug\n\nRUN\n\n## Step 2: Stop\n", false},
		{"## What the CI does\n\n### Step 1: Test\n\nRUN\n\n### Step 2: Stop\n", false},
		{"## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n\n## Notes\n\nThe target `make e2e` hangs on this machine.\n", false},
		{"## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n\n## Notes\n\nmake e2e: do not use it.\n", false},
		{"## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n\n## Notes\n\n- `make e2e` – removed in May\n", false},
		{"## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n\n## Notes\n\nStay away from\n`make e2e`.\n", false},
		{"## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n\n## Notes\n\n### Forbidden commands\n\n```\nmake e2e\n```\n", false},
		{"## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n\n## Notes\n\n### Never run\n\n| command |\n|---|\n| `make e2e` |\n", false},
		{"## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n\n## Notes\n\nWe are not allowed to execute e2e tests here.\n", false},
		{"## Step 1: Test\n\nRUN\n\n## Step 2: Stop\n\n## Notes\n\nTargets that are off-limits: `e2e`, `lint`.\n", false},
		{"## Step 1: How CI tests\n\nRUN\n\n## Step 2: Stop\n", false},
		{"## Step 1: For people\n\nRUN\n\n## Step 2: Stop\n", false},
		{"## Don'ts\n\n### Step 1: Test\n\nRUN\n\n### Step 2: Stop\n", false},
		{"## The old way\n\n### Step 1: Test\n\nRUN\n\n### Step 2: Stop\n", false},
	} {
		o := outline.Markdown([]byte(strings.ReplaceAll(c.text, "RUN", run)), "")
		require.Len(t, o.Steps, 2, c.text)
		got := ""
		for _, h := range possible(p, o) {
			got += h.Gate
		}
		assert.Equal(t, map[bool]string{true: `"check": "make e2e"`}[c.want], got, "%q", c.text)
	}
}
