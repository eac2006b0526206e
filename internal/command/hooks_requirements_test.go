package command_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEveryHookRequirementHasATest reads the numbers that the hook runtime is held
// to, and looks for a test that names each: a case by its reqs, a test or a session
// in a comment. With -v it prints where.
func TestEveryHookRequirementHasATest(t *testing.T) {
	text, err := os.ReadFile("../../testdata/hooks/requirements.tsv")
	require.NoError(t, err)
	var numbers []string
	for line := range strings.Lines(string(text)) {
		columns := strings.Split(strings.TrimSpace(line), "\t")
		require.Len(t, columns, 3, line)
		require.Contains(t, []string{"a", "b", "c"}, columns[1], line)
		numbers = append(numbers, columns[0])
	}
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(numbers))), 211)

	named := namedRequirements(t)
	assert.Empty(t, without(numbers, named), "no test names these")
	assert.Equal(t, []string{"HOOK-999"}, without(append(numbers, "HOOK-999"), named), "a missing one is found")
	for number := range named {
		assert.Contains(t, numbers, number, "%s names what is no requirement", named[number][0])
	}
	for _, number := range numbers {
		t.Logf("%s\t%s", number, strings.Join(named[number], " "))
	}
}

// without returns the numbers that are not named.
func without(numbers []string, named map[string][]string) []string {
	return slices.DeleteFunc(slices.Clone(numbers), func(n string) bool { return len(named[n]) > 0 })
}

// namedRequirements returns the tests that name each requirement.
func namedRequirements(t *testing.T) map[string][]string {
	named := map[string][]string{}
	for _, file := range []string{"cases.json", "more.json", "dialects.json"} {
		for _, c := range readHookCases(t, file) {
			for _, number := range c.Requirements {
				if strings.HasPrefix(number, "HOOK-") {
					named[number] = append(named[number], c.ID)
				}
			}
		}
	}
	for _, pattern := range []string{"*_test.go", "../hooks/*_test.go", "../hooks/*/*_test.go", "../../testdata/hooks/script/*.txtar"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, number := range regexp.MustCompile(`HOOK-[0-8]\d\d[ab]?`).FindAllString(string(text), -1) {
				named[number] = append(named[number], filepath.Base(path))
			}
		}
	}
	return named
}
