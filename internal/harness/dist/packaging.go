package main

import (
	"embed"
	"fmt"
	"path/filepath"
	"strings"
)

// What other programs need in order to install a release. Each names the archives by their digests,
// or by SHA256SUMS: nothing is built, and nothing is run before it is verified.
//
//go:embed packaging
var packaging embed.FS

const (
	installScript = "install.sh"
	featureFile   = "devcontainer-feature-fsmtx.tgz"
)

// writePackaging writes the install script, the Homebrew formula, the entries for aqua and mise and
// the devcontainer feature, for the archives that are in out.
func (r release) writePackaging() error {
	script, err := r.filled("install.sh")
	if err != nil {
		return err
	}
	files := []file{{installScript, 0o755, script}}
	for _, name := range []string{"fsmtx.rb", "aqua.yaml", "mise.toml"} {
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
	for _, platform := range r.platforms {
		system, arch, _ := strings.Cut(platform, "/")
		archive := fmt.Sprintf("%s_%s_%s.tar.gz", r.name(), system, arch)
		sum, err := sumOf(filepath.Join(r.out, archive))
		if err != nil {
			return nil, err
		}
		digests += sum + "  " + archive + "\n"
		cpu := map[string]string{"amd64": "intel", "arm64": "arm"}[arch]
		systems[system] += fmt.Sprintf("    on_%s do\n      url %q\n      sha256 %q\n    end\n", cpu, r.downloads()+"/"+archive, sum)
	}
	for _, system := range []string{"darwin", "linux"} {
		if systems[system] != "" {
			platforms += fmt.Sprintf("  on_%s do\n%s  end\n", map[string]string{"darwin": "macos", "linux": "linux"}[system], systems[system])
		}
	}
	semver, _, _ := strings.Cut(r.Version, "+")
	return []byte(strings.NewReplacer("@VERSION@", r.Version, "@SEMVER@", semver, "@URL@", r.downloads(), "@REPOSITORY@", repository,
		"@DIGESTS@", strings.TrimSuffix(digests, "\n"), "@PLATFORMS@", platforms).Replace(string(text))), nil
}

// downloads is where the files of this release are once it is published.
func (r release) downloads() string { return repository + "/releases/download/v" + r.Version }
