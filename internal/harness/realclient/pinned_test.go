//go:build unix

package realclient

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEveryArchiveHasADigest: for a package without a digest npm would accept any archive.
func TestEveryArchiveHasADigest(t *testing.T) {
	_, client, err := readPinned(npmPackage, Version)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{npmPackage: Version}, client.Packages[""].Dependencies)
	files, err := pinned.ReadDir("pinned")
	require.NoError(t, err)
	for _, f := range files {
		data, err := pinned.ReadFile("pinned/" + f.Name())
		require.NoError(t, err)
		var lock lockfile
		require.NoError(t, json.Unmarshal(data, &lock))
		for at, p := range lock.Packages {
			assert.True(t, at == "" || strings.HasPrefix(p.Integrity, "sha512-"), "%s: %s has no digest", f.Name(), at)
		}
	}
}

func TestAnotherDigestThanThePinnedOneIsAnError(t *testing.T) {
	bin, cache := t.TempDir(), t.TempDir()
	script(t, bin, "npm", installing(Version))
	setPath(t, bin)
	_, err := installed(t.Context(), cache, Version)
	require.NoError(t, err)
	noted := filepath.Join(cache, Version, "node_modules", ".package-lock.json")
	data, err := os.ReadFile(noted)
	require.NoError(t, err)
	_, lock, err := readPinned(npmPackage, Version)
	require.NoError(t, err)
	for name, change := range map[string][2]string{
		"another digest":        {lock.Packages["node_modules/"+npmPackage].Integrity, "sha512-AAAA"},
		"another package":       {npmPackage + "-linux-x64", "something-else"},
		"not the package":       {`"node_modules/` + npmPackage + `":`, `"node_modules/x":`},
		"another platform's":    {lock.Packages["node_modules/"+npmPackage+"-linux-arm64"].Integrity, "sha512-AAAA"},
		"a package without one": {`"integrity"`, `"other"`},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(noted, []byte(strings.ReplaceAll(string(data), change[0], change[1])), 0o644))

			_, err := installed(t.Context(), cache, Version)

			require.ErrorContains(t, err, "has the digest")
		})
	}
}

func TestAPackageThatIsNotPinnedIsNotInstalled(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("FSMTX_E2E_CACHE", t.TempDir())
	script(t, bin, "npm", "exit 1")
	setPath(t, bin)

	_, err := Package{Name: "left-pad", Version: "1.0.0"}.Install(t.Context())

	require.ErrorIs(t, err, errNotPinned)
}
