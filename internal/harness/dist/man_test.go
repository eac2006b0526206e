package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/tools"
)

func pagesAt(t *testing.T, seconds int64) map[string]string {
	pages := map[string]string{}
	all, err := manualPages("1.2.3", time.Unix(seconds, 0).UTC())
	require.NoError(t, err)
	for _, page := range all {
		pages[page.path] = string(page.data)
	}
	return pages
}

// Every command has a page, and every word of its help is there.
func TestManualPages(t *testing.T) {
	pages := pagesAt(t, 1700000000)
	require.Equal(t, pages, pagesAt(t, 1700000000))
	require.Contains(t, pages["fsmtx.1"], `.TH "FSMTX" 1 "2023\-11\-14" "fsmtx 1.2.3" "fsmtx Manual"`)
	seen := 0
	var visit func(c *cobra.Command, path string)
	visit = func(c *cobra.Command, path string) {
		seen++
		name := strings.ReplaceAll(path, " ", "-")
		text, found := pages[name+".1"]
		require.True(t, found, "%s has no page", path)
		for line := range strings.Lines(c.Long + "\n" + c.Example) {
			assert.Contains(t, text, escaped(strings.TrimSpace(line)), path)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			assert.Equal(t, !f.Hidden, strings.Contains(text, escaped("--"+f.Name)), "%s --%s", path, f.Name)
		})
		for _, sub := range visible(c) {
			assert.Contains(t, text, "\n.BR "+escaped(name+"-"+sub.Name())+" (1)\n", path)
			visit(sub, path+" "+sub.Name())
		}
	}
	visit(tools.Tree(), "fsmtx")
	require.Len(t, pages, seen, "a page without a command")
}

func TestEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"--check <x> *.json":     `\-\-check <x> *.json`,
		".claude is a folder":    `\&.claude is a folder`,
		"'quoted' first":         `\(aqquoted\(aq first`,
		`a\n b`:                  `a\en b`,
		"~/src and ^ and `code`": "\\(ti/src and \\(ha and \\(gacode\\(ga",
		"12 tasks…":              `12 tasks\[u2026]`,
	} {
		assert.Equal(t, want, escaped(text))
	}
}

// roff understands the pages, and prints the help texts as they are.
func TestPagesAreRoff(t *testing.T) {
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not there")
	}
	dir := t.TempDir()
	pages, err := manualPages("1.2.3", time.Unix(1700000000, 0).UTC())
	require.NoError(t, err)
	require.NoError(t, writeFiles(dir, pages))
	for _, page := range pages {
		c := exec.Command("groff", "-man", "-Tutf8", "-ww", "-P-cbou", filepath.Join(dir, page.path))
		var stderr strings.Builder
		c.Stderr = &stderr
		out, err := c.Output()
		require.NoError(t, err, stderr.String())
		require.Empty(t, stderr.String(), page.path)
		if page.path == "fsmtx-doctor.1" {
			require.Contains(t, string(out),
				"         hooks        switched off, missing, registered twice, outdated, or in a file that the\n                      "+
					"client does not read here\n")
			require.Contains(t, string(out), "fsmtx doctor --json\n")
			require.Contains(t, string(out), "  --fix  ")
		}
	}
}
