//go:build unix

package realclient

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// script writes an executable shell script into dir.
func script(t *testing.T, dir, name, body string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body), 0o755))
}

// installing returns shell code that installs a fake client of a version as npm does; $3 is
// the folder after --prefix.
func installing(version string) string {
	return `
mkdir -p "$3/node_modules/.bin"
printf '#!/bin/sh\necho "` + version + ` (the client)"\n' > "$3/node_modules/.bin/claude"
chmod +x "$3/node_modules/.bin/claude"
` + recordDigests
}

// recordDigests is shell code that records the digests of the installed packages, as npm does.
const recordDigests = `
mkdir -p "$3/node_modules"
cp "$3/package-lock.json" "$3/node_modules/.package-lock.json"
`

// setPath puts dir before the system's directories in PATH.
func setPath(t *testing.T, dir string) {
	t.Helper()
	t.Setenv("PATH", dir+":/usr/bin:/bin")
}

func TestInstallFromNPM(t *testing.T) {
	bin, cache := t.TempDir(), t.TempDir()
	script(t, bin, "npm", `echo "$@" >> "`+bin+`/calls"`+installing(Version))
	setPath(t, bin)

	first, err := installed(t.Context(), cache, Version)
	require.NoError(t, err)
	second, err := installed(t.Context(), cache, Version)
	require.NoError(t, err)

	assert.Equal(t, filepath.Join(cache, Version, "node_modules", ".bin", "claude"), first)
	assert.Equal(t, first, second)
	assert.FileExists(t, first)
	calls, err := os.ReadFile(filepath.Join(bin, "calls"))
	require.NoError(t, err)
	assert.Regexp(t, `^ci --prefix \S+ --no-audit --no-fund\n$`, string(calls), "one call")
}

func TestInstallWithoutNPM(t *testing.T) {
	t.Setenv("PATH", t.TempDir())

	_, err := installed(t.Context(), t.TempDir(), Version)

	assert.ErrorIs(t, err, ErrNoNPM)
}

func TestInstallThatFailsLeavesNothing(t *testing.T) {
	for name, c := range map[string]struct{ npm, node, want string }{
		"npm fails":       {npm: "echo no such registry; exit 1", want: "no such registry"},
		"another version": {npm: installing("1.0.0"), node: "true", want: `has version "1.0.0 (the client)"`},
		"scripts fail":    {npm: recordDigests, node: "echo no binary; exit 1", want: "no binary"},
	} {
		t.Run(name, func(t *testing.T) {
			bin, cache := t.TempDir(), t.TempDir()
			script(t, bin, "npm", c.npm)
			script(t, bin, "node", c.node)
			setPath(t, bin)

			_, err := installed(t.Context(), cache, Version)

			assert.ErrorContains(t, err, c.want)
			left, err := filepath.Glob(filepath.Join(cache, "[^l]*"))
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

func TestInstallWhereNPMRunsNoScripts(t *testing.T) {
	bin, cache := t.TempDir(), t.TempDir()
	script(t, bin, "npm", recordDigests)
	// The script is node_modules/@anthropic-ai/claude-code/install.cjs.
	script(t, bin, "node", `set -- x x "${1%/node_modules/*}"`+installing(Version))
	setPath(t, bin)

	program, err := installed(t.Context(), cache, Version)

	require.NoError(t, err)
	assert.FileExists(t, program)
}

func TestCacheIsOutsideTheTree(t *testing.T) {
	t.Setenv("FSMTX_E2E_CACHE", "")
	t.Setenv("HOME", "/home/someone")
	t.Setenv("XDG_CACHE_HOME", "")
	dir, err := cacheDir()
	require.NoError(t, err)
	assert.Regexp(t, `^/home/someone/.*/fsmtx-e2e$`, dir)

	t.Setenv("FSMTX_E2E_CACHE", "/elsewhere")
	dir, err = cacheDir()
	require.NoError(t, err)
	assert.Equal(t, "/elsewhere", dir)
}
