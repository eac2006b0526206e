package main

import (
	"io/fs"
	"os"
	"path"
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

// TestTablesInTheDocsHaveWholeRows: every row of a table has as many cells as the row with the
// names of the columns. Without this a row that was torn apart is shown as something else.
func TestTablesInTheDocsHaveWholeRows(t *testing.T) {
	tables := 0
	for name, text := range documents(t) {
		for _, table := range tablesIn(text) {
			tables++
			for _, row := range table {
				assert.Len(t, row, len(table[0]), "%s: %q", name, row)
			}
		}
	}
	require.NotZero(t, tables)
}

// TestLinksInTheDocsResolve: a link to a file of the repository names one that exists, and a
// link to a heading one that its page has.
func TestLinksInTheDocsResolve(t *testing.T) {
	documents := documents(t)
	links := 0
	for name, text := range documents {
		for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			file, heading, _ := strings.Cut(m[1], "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			assert.True(t, exists(os.DirFS("../.."), target), "%s: nothing is at %s", name, m[1])
			if heading != "" {
				assert.Contains(t, headings(documents[target]), heading, "%s: %s", name, m[1])
			}
		}
	}
	require.NotZero(t, links)
}

// documents returns the pages for people, without their code blocks, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	root := os.DirFS("../..")
	pages := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/internals/*.md"} {
		names, err := fs.Glob(root, pattern)
		require.NoError(t, err)
		for _, name := range names {
			text, err := fs.ReadFile(root, name)
			require.NoError(t, err)
			pages[name] = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(string(text), "")
		}
	}
	require.NotEmpty(t, pages)
	return pages
}

// headings returns the anchors that GitHub gives to the headings of a page.
func headings(text string) (anchors []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		anchor := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		anchors = append(anchors, strings.ReplaceAll(anchor, " ", "-"))
	}
	return anchors
}

// tablesIn returns the tables of a page: rows of cells, first the names of the columns,
// then the dashes. A table is a run of lines that begin with "|".
func tablesIn(text string) (tables [][][]string) {
	var table [][]string
	for line := range strings.Lines(text + "\n\n") {
		line = strings.TrimSpace(line)
		if row, ok := strings.CutPrefix(line, "|"); ok {
			cells := regexp.MustCompile(`(?:\\.|[^|\\])*\|`).FindAllString(row, -1)
			for i, cell := range cells {
				cells[i] = strings.TrimSpace(strings.TrimSuffix(cell, "|"))
			}
			table = append(table, cells)
		} else if table != nil {
			tables, table = append(tables, table), nil
		}
	}
	return tables
}

// TestFactsThatTheCodeCitesExist: a comment says "fact 15" or "facts 48, 50 and 59 to 61", and docs/internals/client-facts.md has each.
func TestFactsThatTheCodeCitesExist(t *testing.T) {
	root := os.DirFS("../..")
	facts, err := fs.ReadFile(root, "docs/internals/client-facts.md")
	require.NoError(t, err)
	cited := matches(t, root, ".go", `(?i)\bfacts? (\d+(?:(?:,| and|, and| or| to) \d+)*)`)
	require.Greater(t, len(cited), 200)
	for _, numbers := range cited {
		for _, n := range regexp.MustCompile(`\d+`).FindAllString(numbers, -1) {
			assert.Regexp(t, `(?m)^`+n+`\. `, string(facts), "no fact has the number %s", n)
		}
	}
}

// TestPagesAreShort: a page that grows lets another shrink, or says it shorter. What --help says is not said again.
func TestPagesAreShort(t *testing.T) {
	for pattern, most := range map[string]int{"README.md": 625, "docs/README.md": 150, "docs/*.md": 17050, "docs/internals/*.md": 15900} {
		pages, err := fs.Glob(os.DirFS("../.."), pattern)
		require.NoError(t, err)
		words := 0
		for _, page := range pages {
			text, err := os.ReadFile("../../" + page)
			require.NoError(t, err)
			words += len(strings.Fields(string(text)))
		}
		assert.NotZero(t, words, pattern)
		assert.LessOrEqual(t, words, most, "%s: %d words", pattern, words)
	}
}
