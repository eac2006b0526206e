package hooks_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/sessions"
)

const requirementsFile = "../../testdata/hooks/requirements.tsv"

// checkRequirements reads requirements.tsv, whose last column lists what covers each
// requirement, separated by blanks:
//
//	case:ID              a case whose reqs name the requirement; it has passed
//	test:PACKAGE.NAME    a test or example whose comment names it
//	session:NAME         a session in testdata/hooks/script that names it
func checkRequirements(t *testing.T, passed map[string]sessions.HookCase) {
	text, err := os.ReadFile(requirementsFile)
	require.NoError(t, err)
	var numbers []string
	for line := range strings.Lines(string(text)) {
		columns := strings.Split(strings.TrimRight(line, "\n"), "\t")
		require.Len(t, columns, 4, line)
		number, class, holders := columns[0], columns[1], strings.Fields(columns[3])
		assert.Contains(t, []string{"a", "b", "c"}, class, line)
		assert.NotEmpty(t, holders, "nothing covers %s", number)
		for _, holder := range holders {
			assert.Empty(t, holderProblem(number, holder, passed), "%s is not covered by %s", number, holder)
		}
		numbers = append(numbers, number)
	}
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(numbers))), 211)
	for id, c := range passed {
		for _, number := range c.Requirements {
			assert.True(t, !strings.HasPrefix(number, "HOOK-") || slices.Contains(numbers, number), "case %s names %s", id, number)
		}
	}
}

// holderProblem returns the reason why something does not cover a requirement, "" if it does.
func holderProblem(number, holder string, passed map[string]sessions.HookCase) string {
	kind, name, _ := strings.Cut(holder, ":")
	switch kind {
	case "case":
		if c, ok := passed[name]; !ok {
			return "it did not pass"
		} else if !slices.Contains(c.Requirements, number) {
			return "its reqs do not name the requirement"
		}
		return ""
	case "test":
		return testProblem(number, name)
	case "session":
		text, err := os.ReadFile(filepath.Join("../../testdata/hooks/script", name+".txtar"))
		if err != nil || !strings.Contains(string(text), number) {
			return "it does not exist or does not name the requirement"
		}
		return ""
	}
	return "it is not a case, a test or a session"
}

// testProblem looks for a test function whose comment names the requirement.
func testProblem(number, name string) string {
	dir, function, _ := strings.Cut(name, ".")
	paths, err := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
	if err != nil {
		return err.Error()
	}
	commented := regexp.MustCompile(`(?m)^((?://.*\n)*)func ` + function + `\(`)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err.Error()
		}
		if found := commented.FindSubmatch(text); found != nil && strings.Contains(string(found[1]), number) {
			return ""
		}
	}
	return "it does not exist, or its comment does not name the requirement"
}
