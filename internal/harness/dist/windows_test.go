package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// onWindows returns a release for Windows whose programs are texts.
func onWindows(t *testing.T) release {
	t.Helper()
	r := here(root, t.TempDir())
	r.platforms = []string{"windows/amd64", "windows/arm64"}
	for _, arch := range []string{"amd64", "arm64"} {
		require.NoError(t, writeFiles(r.out, []file{{"windows-" + arch + "/fsmtx.exe", 0o755, []byte("fsmtx " + arch)},
			{"windows-" + arch + "/fsmtx-tools.exe", 0o755, []byte("tools " + arch)}}))
		require.NoError(t, r.pack("windows", arch, []file{{"LICENSE", 0o644, []byte("licence\n")}}))
	}
	require.NoError(t, r.writePackaging())
	require.NoError(t, r.writePackages())
	return r
}

// archived returns the files of an archive for Windows, by their paths below its only directory.
func (r release) archived(t *testing.T, name string) map[string]string {
	t.Helper()
	z, err := zip.OpenReader(filepath.Join(r.out, name))
	require.NoError(t, err)
	defer z.Close()
	files := map[string]string{}
	for _, f := range z.File {
		path, ok := strings.CutPrefix(f.Name, strings.TrimSuffix(name, ".zip")+"/")
		require.True(t, ok, f.Name)
		require.Equal(t, r.date, f.Modified.UTC())
		in, err := f.Open()
		require.NoError(t, err)
		data, err := io.ReadAll(in)
		require.NoError(t, err)
		files[path] = string(data)
	}
	return files
}

// The archives, the packages for npm, the manifests and the script for Windows name each other as they are, and SHA256SUMS has what is
// released of them.
func TestTheManifestsForWindowsNameTheArchives(t *testing.T) {
	r := onWindows(t)
	sums := string(r.file(t, "SHA256SUMS"))
	assert.Equal(t, 8, strings.Count(sums, "\n"), sums)
	var scoop struct {
		Version, Homepage, License, Description string
		Architecture                            map[string]struct{ URL, Hash, ExtractDir string }
		Path                                    string `json:"env_add_path"`
	}
	text := strings.ReplaceAll(string(r.file(t, "packaging/scoop/fsmtx.json")), "extract_dir", "ExtractDir")
	require.NoError(t, json.Unmarshal([]byte(text), &scoop, json.MatchCaseInsensitiveNames(true), json.RejectUnknownMembers(true)))
	assert.Equal(t, "1.2.3 https://github.com/fsmtx/fsmtx Apache-2.0 .", scoop.Version+" "+scoop.Homepage+" "+scoop.License+" "+scoop.Path)
	require.Len(t, scoop.Architecture, 2)
	installers := r.winget(t)
	script := string(r.file(t, windowsScript))
	for i, arch := range []string{"amd64", "arm64"} {
		name := "fsmtx_1.2.3_windows_" + arch
		sum, err := sumOf(filepath.Join(r.out, name+".zip"))
		require.NoError(t, err)
		files := r.archived(t, name+".zip")
		assert.Equal(t, map[string]string{"LICENSE": "licence\n", "fsmtx.exe": "fsmtx " + arch, "fsmtx-tools.exe": "tools " + arch}, files)
		url := "https://github.com/fsmtx/fsmtx/releases/download/v1.2.3/" + name + ".zip"
		byScoop := scoop.Architecture[map[string]string{"amd64": "64bit", "arm64": "arm64"}[arch]]
		assert.Equal(t, []string{url, sum, name}, []string{byScoop.URL, byScoop.Hash, byScoop.ExtractDir})
		byWinget := installers[i]
		assert.Equal(t, []string{[]string{"x64", "arm64"}[i], url, sum}, []string{byWinget.Architecture, byWinget.URL, byWinget.Sum})
		require.Len(t, byWinget.Files, 2)
		for j, program := range []string{"fsmtx", "fsmtx-tools"} {
			assert.Equal(t, name+`\`+program+".exe "+program, byWinget.Files[j].Path+" "+byWinget.Files[j].Alias)
		}
		assert.Contains(t, script, "\n"+sum+"  "+name+".zip\n")
		assert.Contains(t, sums, sum+"  "+name+".zip\n")
	}
	for _, name := range []string{"install.sh", "install.ps1", "fsmtx-win32-x64-1.2.3.tgz", "fsmtx-win32-arm64-1.2.3.tgz", "fsmtx-1.2.3.tgz"} {
		sum, err := sumOf(filepath.Join(r.out, name))
		require.NoError(t, err)
		assert.Contains(t, sums, sum+"  "+name+"\n")
	}
}

type wingetInstaller struct {
	Architecture string `yaml:"Architecture"`
	URL          string `yaml:"InstallerUrl"`
	Sum          string `yaml:"InstallerSha256"`
	Files        []struct {
		Path  string `yaml:"RelativeFilePath"`
		Alias string `yaml:"PortableCommandAlias"`
	} `yaml:"NestedInstallerFiles"`
}

// winget returns the installers of the manifest for winget. Its three files have the fields that winget requires.
func (r release) winget(t *testing.T) []wingetInstaller {
	t.Helper()
	for name, fields := range map[string]string{
		"": "DefaultLocale ManifestType ManifestVersion PackageIdentifier PackageVersion",
		".locale.en-US": "License ManifestType ManifestVersion PackageIdentifier PackageLocale PackageName PackageUrl PackageVersion " +
			"Publisher ShortDescription",
		".installer": "ArchiveBinariesDependOnPath InstallerType Installers ManifestType ManifestVersion NestedInstallerType " +
			"PackageIdentifier PackageVersion",
	} {
		var m map[string]any
		require.NoError(t, yaml.Unmarshal(r.file(t, "packaging/winget/fsmtx.fsmtx"+name+".yaml"), &m))
		for _, field := range strings.Fields(fields) {
			assert.Contains(t, m, field, name)
		}
		assert.Len(t, m, len(strings.Fields(fields)), name)
		kind := map[string]string{"": "version", ".locale.en-US": "defaultLocale", ".installer": "installer"}[name]
		assert.Equal(t, []any{"fsmtx.fsmtx", "1.2.3", kind, "1.9.0"},
			[]any{m["PackageIdentifier"], m["PackageVersion"], m["ManifestType"], m["ManifestVersion"]})
	}
	var m struct {
		Type       string            `yaml:"InstallerType"`
		Nested     string            `yaml:"NestedInstallerType"`
		Installers []wingetInstaller `yaml:"Installers"`
	}
	require.NoError(t, yaml.Unmarshal(r.file(t, "packaging/winget/fsmtx.fsmtx.installer.yaml"), &m))
	assert.Equal(t, "zip portable", m.Type+" "+m.Nested)
	require.Len(t, m.Installers, 2)
	return m.Installers
}

// The package of a Windows is installed by npm there only, and has the programs by their names there.
func TestThePackagesForWindows(t *testing.T) {
	r := onWindows(t)
	dir := unpack(t, filepath.Join(r.out, "fsmtx-win32-x64-1.2.3.tgz"), "package", r.date)
	var m manifest
	data, err := os.ReadFile(filepath.Join(dir, "package.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &m))
	assert.Equal(t, []string{"@fsmtx/win32-x64", "win32", "x64"}, []string{m.Name, m.OS[0], m.CPU[0]})
	for name, want := range map[string]string{"fsmtx.exe": "fsmtx amd64", "fsmtx-tools.exe": "tools amd64"} {
		data, err := os.ReadFile(filepath.Join(dir, "bin", name))
		require.NoError(t, err)
		assert.Equal(t, want, string(data))
	}
	dir = unpack(t, filepath.Join(r.out, "fsmtx-1.2.3.tgz"), "package", r.date)
	data, err = os.ReadFile(filepath.Join(dir, "package.json"))
	require.NoError(t, err)
	m = manifest{}
	require.NoError(t, json.Unmarshal(data, &m))
	assert.Equal(t, map[string]string{"@fsmtx/win32-x64": "1.2.3", "@fsmtx/win32-arm64": "1.2.3"}, m.Optional)

	// The launcher starts the program by its name there: asked of a Node that says it is on Windows.
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not there")
	}
	const script = "#!/bin/sh\necho \"$*\"\nexit 3\n"
	require.NoError(t, writeFiles(dir, []file{
		{"node_modules/@fsmtx/win32-x64/package.json", 0o644, []byte("{}")},
		{"node_modules/@fsmtx/win32-x64/bin/fsmtx.exe", 0o755, []byte(script)},
		{"windows.js", 0o644, []byte(`for (const [name, value] of [["platform", "win32"], ["arch", "x64"]])
			Object.defineProperty(process, name, {value})`)},
	}))
	out, err := exec.Command("node", "--require", filepath.Join(dir, "windows.js"), filepath.Join(dir, "bin/fsmtx.js"), "two words").Output()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, "3 two words\n", fmt.Sprint(exit.ExitCode(), " ", string(out)))
}

// The script has no place that was not filled, and unpacks nothing before it has compared the digest.
func TestTheScriptForWindowsVerifiesFirst(t *testing.T) {
	script := onWindows(t).file(t, windowsScript)
	assert.NotRegexp(t, regexp.MustCompile(`@[A-Z]+@`), string(script))
	compares, unpacks := bytes.Index(script, []byte("$have -ne $want")), bytes.Index(script, []byte("Expand-Archive"))
	require.Positive(t, compares)
	assert.Less(t, compares, unpacks)
}

// Where PowerShell is installed, the script installs what it has verified, over older programs, and refuses a changed archive.
func TestTheScriptForWindowsInstalls(t *testing.T) {
	if _, err := exec.LookPath("pwsh"); err != nil {
		t.Skip("pwsh is not there")
	}
	r := onWindows(t)
	bin := filepath.Join(t.TempDir(), "bin")
	run := func(args ...string) (string, error) {
		c := exec.Command("pwsh", append([]string{"-NoProfile", "-File", filepath.Join(r.out, windowsScript)}, args...)...)
		c.Env = append(os.Environ(), "PROCESSOR_ARCHITECTURE=ARM64", "FSMTX_FROM="+r.out, "FSMTX_BIN="+bin)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	out, err := run("-Check")
	require.NoError(t, err, out)
	assert.NoDirExists(t, bin)
	require.NoError(t, writeFiles(bin, []file{{"fsmtx.exe", 0o755, []byte("old")}}))
	out, err = run()
	require.NoError(t, err, out)
	entries, err := os.ReadDir(bin)
	require.NoError(t, err)
	assert.Len(t, entries, 2, "nothing else is left there")
	installed := func() string {
		data, err := os.ReadFile(filepath.Join(bin, "fsmtx.exe"))
		require.NoError(t, err)
		return string(data)
	}
	assert.Equal(t, "fsmtx arm64", installed())

	require.NoError(t, writeFiles(bin, []file{{"fsmtx.exe", 0o755, []byte("old")}}))
	require.NoError(t, writeFiles(r.out, []file{{"fsmtx_1.2.3_windows_arm64.zip", 0o644, []byte("another")}}))
	out, err = run()
	require.Error(t, err, out)
	assert.Contains(t, out, "is not the archive of this release")
	assert.Equal(t, "old", installed())
}
