package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryPackageIsInTheArchitecture: the tables of packages in docs/architecture.md
// have every package of the tree, and no other.
func TestEveryPackageIsInTheArchitecture(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	require.NoError(t, err)
	_, packages, _ := strings.Cut(string(text), "\n## Packages\n")
	packages, _, _ = strings.Cut(packages, "\n## ")
	var named []string
	above := ""
	for line := range strings.Lines(packages) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, span := range regexp.MustCompile("`[^`]+`").FindAllString(cells[1], -1) {
			name := strings.Trim(span, "`")
			if below, ok := strings.CutPrefix(name, "…/"); ok {
				name = above + "/" + below
			} else {
				above = name
			}
			named = append(named, name)
		}
	}
	there := map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && path != root && (e.Name() == "testdata" || strings.HasPrefix(e.Name(), ".")) {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") {
			dir, err := filepath.Rel(root, filepath.Dir(path))
			there[filepath.ToSlash(dir)] = true
			return err
		}
		return nil
	}))
	require.ElementsMatch(t, slices.Collect(maps.Keys(there)), named)
}
