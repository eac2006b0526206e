package facts

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnyDirectories: ** stands for any directories, or none, but not for those of git, and for no links.
func TestAnyDirectories(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a_test.go", "a.go", "x/b_test.go", "x/y/c_test.go", ".git/d_test.go", "x/.git/e_test.go"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("one\ntwo\n"), 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x/y/empty_test.go"), nil, 0o644))
	require.NoError(t, os.Symlink("..", filepath.Join(dir, "x/up")))
	require.NoError(t, os.Symlink("/", filepath.Join(dir, "x/out")))
	for pattern, want := range map[string][]string{
		"**/*_test.go":   {"a_test.go", "x/b_test.go", "x/y/c_test.go"},
		"x/**/*_test.go": {"x/b_test.go", "x/y/c_test.go"},
		"**/y/*":         {"x/y/c_test.go"},
		"x/**/c_test.go": {"x/y/c_test.go"},
		"**/none":        nil,
	} {
		require.Equal(t, want, slices.Sorted(maps.Keys(Digests(t.Context(), dir, []string{pattern}))), pattern)
	}
}

// TestADigestCountsLines: so that two files with as many lines have different digests, and each tells how many.
func TestADigestCountsLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	digest := func(text string) string {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		sum, err := DigestOf(file)
		require.NoError(t, err)
		return sum
	}
	require.EqualValues(t, 2, LinesIn(digest("a\nb\n")))
	require.EqualValues(t, 1, LinesIn(digest("a\nb")))
	require.NotEqual(t, digest("a\nb\n"), digest("a\nc\n"))
	require.Zero(t, LinesIn("of an earlier form"))
}

// TestFilesOfAPatternAreBounded: one pattern does not take the place of another.
func TestFilesOfAPatternAreBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range maxFiles + 5 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, strconv.Itoa(i)+".txt"), []byte("x"), 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("x"), 0o644))
	seen := LookFor(t.Context(), dir, Wanted{Patterns: []string{"*.txt", "a.go"}, Every: true})
	require.Len(t, seen.Digests, maxFiles+1)
	require.Contains(t, seen.Digests, "a.go")
	require.Equal(t, "more than 1000 files match", seen.Limit)
	require.Empty(t, LookFor(t.Context(), dir, Wanted{Patterns: []string{"a.go"}, Every: true}).Limit)
}
