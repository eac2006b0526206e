package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/guard/rules"
)

// TestRequirementsAreHeld: each row of docs/internals/requirements.md names in its last column what
// holds it, and all of it exists. TestLinksInTheDocsResolve follows the links.
func TestRequirementsAreHeld(t *testing.T) {
	known := holders(t)
	tables := tablesIn(documents(t)["docs/internals/requirements.md"])
	require.NotEmpty(t, tables)
	for _, table := range tables {
		require.Equal(t, "Held by", table[0][len(table[0])-1], table[0][0])
		for _, row := range table[2:] {
			assert.Empty(t, rowProblem(row, known), row[0])
		}
	}
}

// rowProblem returns why nothing holds a row, "" if all that it names exists.
func rowProblem(row []string, known map[string]bool) string {
	last := row[len(row)-1]
	names := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(last, -1)
	if len(names) == 0 && !strings.Contains(last, "](") {
		return "nothing holds it"
	}
	for _, m := range names {
		if !known[m[1]] {
			return m[1] + " does not exist"
		}
	}
	return ""
}

// holders returns the names of all tests, sessions and cases.
func holders(t *testing.T) map[string]bool {
	root := os.DirFS("../..")
	known := map[string]bool{}
	for _, name := range matches(t, root, "_test.go", `(?m)^func ((?:Test|Fuzz|Example)[A-Z]\w*)\(`) {
		known[name] = true
	}
	for _, dir := range []string{"testdata/script", "testdata/hooks/script"} {
		sessions, err := filepath.Glob("../../" + dir + "/*.txtar")
		require.NoError(t, err)
		require.NotEmpty(t, sessions, dir)
		for _, path := range sessions {
			known[strings.TrimSuffix(filepath.Base(path), ".txtar")] = true
		}
	}
	for _, file := range []string{"hooks/cases.json", "hooks/more.json", "hooks/dialects.json", "guards/cases.json"} {
		text, err := os.ReadFile("../../testdata/" + file)
		require.NoError(t, err)
		ids := regexp.MustCompile(`(?m)^ *\{?"id": "([^"]+)"`).FindAllStringSubmatch(string(text), -1)
		require.NotEmpty(t, ids, file)
		for _, m := range ids {
			known[m[1]] = true
		}
	}
	return known
}

// TestRequirementsAreComplete: docs/internals/requirements.md has a row for each requirement of the
// hydration with exactly the sessions of its scenarios, for each rule, and for each criterion
// of the planning workflow. It names no requirement of the hook runtime that there is not.
func TestRequirementsAreComplete(t *testing.T) {
	page := documents(t)["docs/internals/requirements.md"]
	rows := map[string][]string{} // the last cells of the rows, by the first
	for _, table := range tablesIn(page) {
		for _, row := range table[2:] {
			rows[row[0]] = append(rows[row[0]], row[len(row)-1])
		}
	}
	for n, want := range sessionsOfScenarios(t) {
		var got []string
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(strings.Join(rows[n], ","), -1) {
			got = append(got, m[1])
		}
		assert.ElementsMatch(t, want, got, n)
	}
	for _, rule := range rules.All() {
		assert.Len(t, rows[rule.ID], 1, rule.ID)
	}
	for i, items := range []int{3, 5, 5, 3, 3, 5, 3, 5} {
		assert.Len(t, rows[fmt.Sprintf("AC%d", i+1)], items)
	}
	list, err := os.ReadFile("../../testdata/hooks/requirements.tsv")
	require.NoError(t, err)
	_, hooks, _ := strings.Cut(page, "\n## Hook runtime")
	_, hooks, _ = strings.Cut(hooks, "\n") // the heading has numbers, too
	hooks, _, _ = strings.Cut(hooks, "\n## ")
	named := regexp.MustCompile(`(?:HOOK-|, )(\d{3})\b`).FindAllStringSubmatch(hooks, -1)
	require.NotEmpty(t, named)
	for _, m := range named {
		assert.Contains(t, string(list), "HOOK-"+m[1])
	}
}

// sessionsOfScenarios returns the sessions whose first line names a scenario of a requirement,
// by the requirement.
func sessionsOfScenarios(t *testing.T) map[string][]string {
	paths, err := filepath.Glob("../../testdata/script/*.txtar")
	require.NoError(t, err)
	shown := map[string][]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		first, _, _ := strings.Cut(string(text), "\n")
		for _, m := range regexp.MustCompile(`SCN-THS-([0-9]+)\.`).FindAllStringSubmatch(first, -1) {
			session, requirement := strings.TrimSuffix(filepath.Base(path), ".txtar"), "REQ-THS-"+m[1]
			if !slices.Contains(shown[requirement], session) {
				shown[requirement] = append(shown[requirement], session)
			}
		}
	}
	require.Len(t, shown, 8)
	return shown
}
