package main

import (
	"embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// What other programs need in order to install a release. Each names the archives by their digests,
// or by SHA256SUMS: nothing is built, and nothing is run before it is verified.
//
//go:embed packaging
var packaging embed.FS

const (
	installScript = "install.sh"
	windowsScript = "install.ps1"
	featureFile   = "devcontainer-feature-fsmtx.tgz"
)

// writePackaging writes the install scripts, the Homebrew formula, the entries for aqua and mise, the
// manifests for scoop and winget and the devcontainer feature, for the archives that are in out.
func (r release) writePackaging() error {
	script, err := r.filled("install.sh")
	if err != nil {
		return err
	}
	files := []file{{installScript, 0o755, script}}
	names := []string{"fsmtx.rb", "aqua.yaml", "mise.toml"}
	if slices.Contains(r.platforms, "windows/amd64") {
		ps1, err := r.filled(windowsScript)
		if err != nil {
			return err
		}
		files = append(files, file{windowsScript, 0o644, ps1})
		names = append(names, "scoop/fsmtx.json", "winget/fsmtx.fsmtx.yaml", "winget/fsmtx.fsmtx.installer.yaml",
			"winget/fsmtx.fsmtx.locale.en-US.yaml")
	}
	for _, name := range names {
		data, err := r.filled(name)
		if err != nil {
			return err
		}
		files = append(files, file{"packaging/" + name, 0o644, data})
	}
	feature, err := r.feature(script)
	if err != nil {
		return err
	}
	return writeFiles(r.out, append(files, file{featureFile, 0o644, feature}))
}

// feature returns the devcontainer feature, which brings the install script with it.
func (r release) feature(script []byte) ([]byte, error) {
	about, err := r.filled("devcontainer/devcontainer-feature.json")
	if err != nil {
		return nil, err
	}
	start, err := r.filled("devcontainer/install.sh")
	if err != nil {
		return nil, err
	}
	return pack(".", r.date, []file{{"devcontainer-feature.json", 0o644, about}, {"install.sh", 0o755, start},
		{"install-fsmtx.sh", 0o755, script}})
}

// filled returns a file of packaging with what is particular to this release.
func (r release) filled(name string) ([]byte, error) {
	text, err := packaging.ReadFile("packaging/" + name)
	if err != nil {
		return nil, err
	}
	digests, platforms := "", ""
	systems := map[string]string{}
	var onWindows []string // the digests of the archives for Windows, by their names in the manifests
	for _, platform := range r.platforms {
		system, arch, _ := strings.Cut(platform, "/")
		archive := r.archiveName(system, arch)
		sum, err := sumOf(filepath.Join(r.out, archive))
		if err != nil {
			return nil, err
		}
		digests += sum + "  " + archive + "\n"
		if system == "windows" {
			onWindows = append(onWindows, "@"+strings.ToUpper(arch)+"@", sum)
		}
		cpu := map[string]string{"amd64": "intel", "arm64": "arm"}[arch]
		systems[system] += fmt.Sprintf("    on_%s do\n      url %q\n      sha256 %q\n    end\n", cpu, r.downloads()+"/"+archive, sum)
	}
	for _, system := range []string{"darwin", "linux"} {
		if systems[system] != "" {
			platforms += fmt.Sprintf("  on_%s do\n%s  end\n", map[string]string{"darwin": "macos", "linux": "linux"}[system], systems[system])
		}
	}
	semver, _, _ := strings.Cut(r.Version, "+")
	return []byte(strings.NewReplacer(append(onWindows, "@VERSION@", r.Version, "@SEMVER@", semver, "@URL@", r.downloads(),
		"@REPOSITORY@", repository, "@DIGESTS@", strings.TrimSuffix(digests, "\n"),
		"@PLATFORMS@", platforms)...).Replace(string(text))), nil
}

// downloads is where the files of this release are once it is published.
func (r release) downloads() string { return repository + "/releases/download/v" + r.Version }
