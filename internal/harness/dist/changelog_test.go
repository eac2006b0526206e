package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/programs"
)

// The newest heading of CHANGELOG.md is the version that untagged builds report, and the
// section that becomes the release notes.
func TestChangelog(t *testing.T) {
	log := text(t, "CHANGELOG.md")
	all := sections(log)
	require.NotEmpty(t, all)
	require.Equal(t, programs.Newest, all[0].version, "internal/programs: Newest is the newest heading of CHANGELOG.md")
	require.Equal(t, strings.Count(log, "\n## "), len(all), "a heading has another form than ## [1.2.3] - 2026-11-22")
	for i, s := range all {
		require.NotEmpty(t, strings.TrimSpace(s.text), s.version)
		require.Contains(t, log, "\n["+s.version+"]: https://", "the version links to its release")
		if i > 0 {
			require.Regexp(t, released, s.date, s.version)
		}
	}
}

// docs/compatibility.md names the client that the tests run.
func TestCompatibilityNamesTheClient(t *testing.T) {
	require.Contains(t, text(t, "docs/compatibility.md"), "The tests run Claude Code "+client.Tested+", ")
}

const changelog = `# Changelog

Words.

## [1.1.0] - 2026-12-24

### Fixed

- One thing.

## [1.0.0] - 2026-11-22

The first version.

[1.1.0]: https://example.com/1.1.0
[1.0.0]: https://example.com/1.0.0
`

func TestNotes(t *testing.T) {
	dir := t.TempDir()
	notes := func(text, of string) (string, error) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte(text), 0o644))
		var out strings.Builder
		err := release{source: dir, Build: programs.Build{Version: of}}.printNotes(&out)
		return out.String(), err
	}
	got, err := notes(changelog, "1.1.0")
	require.NoError(t, err)
	require.Equal(t, "### Fixed\n\n- One thing.\n", got)
	require.Equal(t, "The first version.\n", sections(changelog)[1].text)

	_, err = notes(changelog, "1.0.0")
	require.ErrorContains(t, err, "this is version 1.0.0, and the newest heading of "+dir+"/CHANGELOG.md is about 1.1.0")
	_, err = notes(strings.Replace(changelog, "2026-12-24", "unreleased", 1), "1.1.0")
	require.ErrorContains(t, err, "version 1.1.0 has no date (unreleased)")
	_, err = notes("# Changelog\n", "1.1.0")
	require.ErrorContains(t, err, "has no heading")
}
