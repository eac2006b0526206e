package facts

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/permission"
)

// TestASearchThroughLinksEnds: with links to the directory itself the number of paths grows
// with each wildcard, the number of directories does not.
func TestASearchThroughLinksEnds(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		require.NoError(t, os.Symlink(".", filepath.Join(dir, name)))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.md"), []byte("x"), 0o644))
	deep := strings.Repeat("*/", 30)
	seen := bounds{time.Minute, 1000}.lookFor(t.Context(), dir, Wanted{Patterns: []string{deep + "*.md", deep + "*.txt", "a/b/c/x.md"}})
	require.Empty(t, seen.Limit)
	require.Equal(t, []string{deep + "*.txt"}, seen.Missing)
}

// TestMissing: of an empty file, or a directory, nothing is there.
func TestMissing(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "a", "empty.txt": "", "dist/x.tar": "x", "full/empty.md": "", "full/text.md": "x",
		"a[b": "x"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	there := []string{"a.txt", "dist/*", "*/x.tar", "full/*.md", "a[b", "?[b", "*"}
	missing := []string{"b.txt", "empty.txt", "dist", "dist/*.zip", "empty*"}
	for _, anywhere := range []bool{true, false} {
		require.Equal(t, missing, LookFor(t.Context(), dir, Wanted{Patterns: append(there, missing...), Anywhere: anywhere}).Missing)
	}
	require.Equal(t, there, LookFor(t.Context(), "/does/not/exist", Wanted{Patterns: there}).Missing)
}

func TestASearchIsBounded(t *testing.T) {
	dir := t.TempDir()
	for n := range 50 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(n)), nil, 0o644))
	}
	both := Wanted{Patterns: []string{"*", "b"}}
	seen := bounds{time.Minute, 60}.lookFor(t.Context(), dir, Wanted{Patterns: []string{"*"}})
	require.Equal(t, "the search for * met more than 60 names", seen.Limit)
	seen = bounds{0, 800}.lookFor(t.Context(), dir, both) // the clock is looked at when 768 are left
	require.Contains(t, seen.Limit, " did not end within 0s")
	seen = bounds{time.Minute, 1000}.lookFor(t.Context(), dir, both)
	require.Empty(t, seen.Limit)
	require.Equal(t, []string{"*", "b"}, seen.Missing, "all files are empty")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "closed"), 0))
	seen = LookFor(t.Context(), dir, Wanted{Patterns: []string{"closed/*"}})
	require.Empty(t, seen.Limit)
	require.Equal(t, []string{"closed/*"}, seen.Missing)
}

// TestTail keeps the end of any output, and the digest of all of it.
func TestTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		out := NewTail()
		var all []byte
		for range rapid.IntRange(0, 3).Draw(t, "writes") {
			n := rapid.SampledFrom([]int{0, 1, 100, TailBytes - 1, TailBytes, TailBytes + 1,
				TailBytes + TailBytes/3}).Draw(t, "bytes")
			line := rapid.SampledFrom([]string{"a\n", "line of é\n", "x"}).Draw(t, "line")
			chunk := []byte(strings.Repeat(line, n/len(line)+1)[:n])
			all = append(all, chunk...)
			written, err := out.Write(chunk)
			require.NoError(t, err)
			require.Equal(t, n, written)
		}
		sum := sha256.Sum256(all)
		require.Equal(t, hex.EncodeToString(sum[:]), out.Digest())
		require.True(t, strings.HasSuffix(string(all), out.Text()))
	})
}

// Of many files the first are compared, and none when the time is over.
func TestManyFiles(t *testing.T) {
	dir := t.TempDir()
	for n := range maxFiles + 1 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, message.Itoa(int64(n))), []byte("x"), 0o644))
	}
	all := Wanted{Every: true, Patterns: []string{"*"}}
	assert.Len(t, LookFor(t.Context(), dir, all).Digests, maxFiles)
	assert.Empty(t, bounds{0, searchNames}.lookFor(t.Context(), dir, all).Digests)
}

// Of a large file the beginning and the size are compared.
func TestDigests(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "large")
	sum := func(size int64) string {
		require.NoError(t, os.Truncate(path, size))
		sum, err := DigestOf(path)
		require.NoError(t, err)
		return sum
	}
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o644))
	assert.NotEqual(t, sum(maxDigest), sum(maxDigest+1))
	assert.Equal(t, sum(maxDigest+1), sum(maxDigest+1))
	assert.Nil(t, Digests(t.Context(), dir, nil))
}

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

// TestPathsOfCalls: without a path, from home, and without the directory of the agent.
func TestPathsOfCalls(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, c := range []struct {
		pattern, path, cwd string
		want               bool
	}{
		{"*", "", home, false},
		{"~/a", "~/a", "", true},
		{"~/a", "~a", "", false},
		{"~/a", "~/b", "", false},
		{"/a", "a", "", true},
		{"/a", "b/a", "", false},
		{"b/", "b/a", "", true},
		{"*", "../a", home, false},
		{"app/[slug]/page.tsx", "app/[slug]/page.tsx", "", true},
		{"app/[slug]/**", "app/[slug]/a/b.ts", "", true},
		{"app/[slug]/**", "app/s/a.ts", "", false},
		{`app/\[slug\]/*`, "app/[slug]/a", "", true},
	} {
		assert.Equal(t, c.want, Call{Tool: "Write", Path: c.path, Cwd: c.cwd}.OnPath(c.pattern, home), "%+v", c)
	}
}

// TestProgramsOfRules: by their names or paths. A rule about every command is not about this program.
func TestProgramsOfRules(t *testing.T) {
	for _, c := range []struct {
		rule, line string
		want       bool
	}{
		{"Bash(git push *)", "git push x", true},
		{"Bash(git push *)", "/usr/bin/git push x", true},
		{"Bash(/usr/bin/git push *)", "/usr/bin/git push x", true},
		{"Bash(/usr/bin/git push *)", "git push x", false},
		{"Bash", "git push x", true},
		{"Bash", "bin/fsmtx step", false},
		{"Bash(fsmtx *)", "bin/fsmtx step", true},
	} {
		r, ok := permission.Parse(c.rule)
		assert.True(t, ok, c.rule)
		assert.Equal(t, c.want, Call{Tool: "Bash", Line: c.line}.Parts()[0].Matches(r), "%+v", c)
	}
}

// TestWhatIsNoFile: a blank file counts as empty, a directory does not count, a link is the file to which it leads.
func TestWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"blank": " \n\t\ufeff\n", "full": " x", "wide": strings.Repeat(" ", 10000), "d/full": "x"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for name, target := range map[string]string{"link": "full", "tod": "d", "nowhere": "none", "out": "/etc/hostname", "toblank": "blank"} {
		require.NoError(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	seen := LookFor(t.Context(), dir, Wanted{Patterns: []string{"blank", "full", "wide", "link", "tod/full", "d", "tod", "nowhere", "out",
		"toblank"}})
	require.Equal(t, []string{"blank", "wide", "d", "tod", "nowhere", "out", "toblank"}, seen.Missing)
	require.Contains(t, seen.Unfit, "blank has nothing but white space, and counts as empty")
	require.Contains(t, seen.Unfit, "d is a directory, not a file")
}
