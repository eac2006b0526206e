package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// script runs the install script of a release with only these variables, and the usual programs.
func script(t *testing.T, r release, env ...string) (output string, err error) {
	t.Helper()
	c := exec.Command("sh", filepath.Join(r.out, installScript))
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}, env...)
	out, err := c.CombinedOutput()
	return string(out), err
}

func TestTheScriptInstallsWhatItHasVerified(t *testing.T) {
	r := built(t)
	server := httptest.NewServer(http.FileServer(http.Dir(r.out)))
	defer server.Close()
	if _, err := exec.LookPath("curl"); err != nil {
		if _, err := exec.LookPath("wget"); err != nil {
			t.Skip("neither curl nor wget is installed, so nothing can be downloaded")
		}
	}
	home := t.TempDir()
	out, err := script(t, r, "HOME="+home, "FSMTX_FROM="+server.URL)
	require.NoError(t, err, out)
	bin := filepath.Join(home, ".local/bin")
	assert.Contains(t, out, "installed fsmtx 1.2.3 in "+bin+"\n")
	assert.Contains(t, out, `export PATH="`+bin+`:$PATH"`)
	version, err := exec.Command(filepath.Join(bin, "fsmtx"), "version").Output()
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(version), "fsmtx 1.2.3 "), string(version))
	require.FileExists(t, filepath.Join(bin, "fsmtx-tools"))
	entries, err := os.ReadDir(bin)
	require.NoError(t, err)
	assert.Len(t, entries, 2, "nothing else is left there")
}

// Whatever is wrong, the script says what, installs nothing and leaves what was there.
func TestTheScriptRefuses(t *testing.T) {
	r := built(t)
	archive := r.name() + "_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
	tampered := t.TempDir()
	data := r.file(t, archive)
	data[len(data)/2] ^= 1
	require.NoError(t, os.WriteFile(filepath.Join(tampered, archive), data, 0o644))
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	for name, c := range map[string]struct {
		env  []string
		want string
	}{
		"a changed archive":   {[]string{"FSMTX_FROM=" + tampered}, archive + " is not the archive of this release: its SHA-256 is "},
		"no archive":          {[]string{"FSMTX_FROM=" + t.TempDir()}, "install.sh: cannot read "},
		"nothing there":       {[]string{"FSMTX_FROM=" + server.URL}, "install.sh: "},
		"a relative target":   {[]string{"FSMTX_FROM=" + r.out, "FSMTX_BIN=bin"}, "FSMTX_BIN is bin, which is not an absolute path"},
		"a target in a file":  {[]string{"FSMTX_FROM=" + r.out, "FSMTX_BIN=/dev/null/x"}, "cannot create /dev/null/x"},
		"no place to work in": {[]string{"FSMTX_FROM=" + r.out, "TMPDIR=/nowhere"}, "cannot create a temporary directory"},
	} {
		home := t.TempDir()
		old := filepath.Join(home, ".local/bin/fsmtx")
		require.NoError(t, os.MkdirAll(filepath.Dir(old), 0o755))
		require.NoError(t, os.WriteFile(old, []byte("old"), 0o755))
		out, err := script(t, r, append([]string{"HOME=" + home}, c.env...)...)
		require.Error(t, err, "%s: %s", name, out)
		assert.Contains(t, out, c.want, name)
		kept, err := os.ReadFile(old)
		require.NoError(t, err)
		assert.Equal(t, "old", string(kept), name)
		entries, err := os.ReadDir(filepath.Dir(old))
		require.NoError(t, err)
		assert.Len(t, entries, 1, name)
	}
	out, err := script(t, r, "FSMTX_FROM="+r.out)
	require.Error(t, err)
	assert.Contains(t, out, "neither FSMTX_BIN nor HOME is set")
}

func TestTheFeatureInstallsWithoutANetwork(t *testing.T) {
	r := built(t)
	dir, bin := t.TempDir(), filepath.Join(t.TempDir(), "bin")
	out, err := exec.Command("tar", "-xzf", filepath.Join(r.out, featureFile), "-C", dir).CombinedOutput()
	require.NoError(t, err, string(out))
	var about struct{ ID, Version string }
	data, err := os.ReadFile(filepath.Join(dir, "devcontainer-feature.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &about, json.MatchCaseInsensitiveNames(true)))
	assert.Equal(t, "fsmtx 1.2.3", about.ID+" "+about.Version)
	start, err := os.ReadFile(filepath.Join(dir, "install.sh"))
	require.NoError(t, err)
	// not this machine's
	require.NoError(t, os.WriteFile(filepath.Join(dir, "install.sh"), []byte(strings.ReplaceAll(string(start), "/usr/local/share",
		dir)), 0o755))
	c := exec.Command(filepath.Join(dir, "install.sh"))
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "BIN=" + bin, "FSMTX_FROM=" + r.out}
	out, err = c.CombinedOutput()
	require.NoError(t, err, string(out))
	require.FileExists(t, filepath.Join(bin, "fsmtx"))
}

// The formula and the registry entries name the archives as they are, and have a syntax that holds.
func TestThePackagesNameTheArchives(t *testing.T) {
	r := built(t)
	archive := r.name() + "_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
	sum, err := sumOf(filepath.Join(r.out, archive))
	require.NoError(t, err)
	formula := string(r.file(t, "packaging/fsmtx.rb"))
	assert.Contains(t, formula, "/releases/download/v1.2.3/"+archive+"\"\n      sha256 \""+sum+"\"")
	assert.NotContains(t, formula, "@")
	assert.Equal(t, strings.Count(formula, " do\n")+strings.Count(formula, "def ")+1, strings.Count(formula, "end\n"))
	var aqua struct {
		Packages []struct {
			Asset string
			Files []struct{ Name, Src string }
		}
	}
	require.NoError(t, yaml.Unmarshal(r.file(t, "packaging/aqua.yaml"), &aqua))
	require.Len(t, aqua.Packages, 1)
	named := strings.NewReplacer("{{trimV .Version}}", "1.2.3", "{{.OS}}", runtime.GOOS, "{{.Arch}}",
		runtime.GOARCH).Replace(aqua.Packages[0].Asset)
	assert.Equal(t, archive, named)
	unpacked := unpack(t, filepath.Join(r.out, archive), strings.TrimSuffix(archive, ".tar.gz"), r.date)
	for _, f := range aqua.Packages[0].Files {
		assert.FileExists(t, filepath.Join(unpacked, strings.TrimPrefix(f.Src, "{{.AssetWithoutExt}}/")), f.Name)
	}
	assert.Contains(t, string(r.file(t, "packaging/mise.toml")), `backends = ["aqua:fsmtx/fsmtx"]`)
}

// The programs that read the packages find no mistake in them.
func TestThePackagesAreReadable(t *testing.T) {
	r := built(t)
	for _, c := range [][]string{
		{"ruby", "-c", filepath.Join(r.out, "packaging/fsmtx.rb")},
		{"shellcheck", filepath.Join(r.out, installScript), "packaging/devcontainer/install.sh"},
	} {
		t.Run(c[0], func(t *testing.T) {
			if _, err := exec.LookPath(c[0]); err != nil {
				t.Skip(c[0] + " is not there")
			}
			out, err := exec.Command(c[0], c[1:]...).CombinedOutput()
			require.NoError(t, err, string(out))
		})
	}
}
