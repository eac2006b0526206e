package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDocsNameTestsThatExist: the documentation cites the test that holds a promise, and
// the citation must survive a renaming.
func TestDocsNameTestsThatExist(t *testing.T) {
	root := os.DirFS("../..")
	defined := map[string]bool{}
	for _, name := range matches(t, root, "_test.go", `(?m)^func ((?:Test|Fuzz)[A-Z]\w*)\(`) {
		defined[name] = true
	}
	cited := matches(t, root, ".md", "`((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)`")
	require.NotEmpty(t, cited)
	for _, name := range cited {
		assert.True(t, defined[name], "no test has the name %s", name)
	}
}

// matches returns the first group of every match in the files with this suffix.
func matches(t *testing.T, root fs.FS, suffix, pattern string) (found []string) {
	t.Helper()
	re := regexp.MustCompile(pattern)
	require.NoError(t, fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && path != "." && strings.HasPrefix(filepath.Base(path), ".") {
			return fs.SkipDir
		}
		if e.IsDir() || !strings.HasSuffix(path, suffix) {
			return nil
		}
		text, err := fs.ReadFile(root, path)
		for _, m := range re.FindAllSubmatch(text, -1) {
			found = append(found, string(m[1]))
		}
		return err
	}))
	return found
}
