package main

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/programs"
)

// The packages for npm: fsmtx, which has a launcher, and one for each platform, which has
// the programs. The latter are optional dependencies: npm installs only the one for its
// platform, and the installation runs no script and downloads nothing else.
//
//go:embed npm
var npmFiles embed.FS

// manifest is a package.json.
type manifest struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Description  string            `json:"description"`
	License      string            `json:"license"`
	Repository   string            `json:"repository"`
	Bin          map[string]string `json:"bin,omitzero"`
	OS           []string          `json:"os,omitzero"`
	CPU          []string          `json:"cpu,omitzero"`
	Engines      map[string]string `json:"engines,omitzero"`
	Optional     map[string]string `json:"optionalDependencies,omitzero"`
	PreferUnplug bool              `json:"preferUnplugged,omitzero"` // Yarn keeps its packages in archives otherwise
}

const npmDescription = "Puts a skill's workflow into the task list of Claude Code, all of it or none of it, and holds the agent to it"

// writePackages writes the packages for npm beside the archives, from the programs that
// are in out, and SHA256SUMS again.
func (r release) writePackages() error {
	// npm drops the build metadata of a version.
	version, _, _ := strings.Cut(r.Version, "+")
	licence, err := os.ReadFile(filepath.Join(r.source, "LICENSE"))
	if err != nil {
		return err
	}
	readme, err := npmFiles.ReadFile("npm/README.md")
	if err != nil {
		return err
	}
	launcher, err := npmFiles.ReadFile("npm/launcher.js")
	if err != nil {
		return err
	}
	main := manifest{
		Name: "fsmtx", Bin: map[string]string{"fsmtx": "bin/fsmtx.js"},
		Engines: map[string]string{"node": ">=14"}, Optional: map[string]string{},
	}
	for _, platform := range r.platforms {
		system, arch, _ := strings.Cut(platform, "/")
		one := npmPlatform(system, arch)
		main.Optional[one.Name] = version
		var files []file
		for _, name := range programs.Both(system) {
			data, err := os.ReadFile(filepath.Join(r.out, system+"-"+arch, name))
			if err != nil {
				return fmt.Errorf("%w: make dist builds it", err)
			}
			files = append(files, file{"bin/" + name, 0o755, data})
		}
		text := fmt.Sprintf("# %s\n\nThe programs of [fsmtx](%s) for %s.\n", one.Name, repository, platform)
		if err := r.writePackage(one, version, append(files, file{"LICENSE", 0o644, licence},
			file{"README.md", 0o644, []byte(text)})); err != nil {
			return err
		}
	}
	if err := r.writePackage(main, version, []file{{"bin/fsmtx.js", 0o755, launcher}, {"LICENSE", 0o644, licence},
		{"README.md", 0o644, readme}}); err != nil {
		return err
	}
	return r.writeSums()
}

const repository = "https://github.com/fsmtx/fsmtx"

// npmPlatform returns the package of a platform, by Node's names.
func npmPlatform(system, arch string) manifest {
	if arch == "amd64" {
		arch = "x64"
	}
	if system == "windows" {
		system = "win32"
	}
	return manifest{Name: "@fsmtx/" + system + "-" + arch, OS: []string{system}, CPU: []string{arch}, PreferUnplug: true}
}

// writePackage writes a package under the name that "npm pack" gives it.
func (r release) writePackage(m manifest, version string, files []file) error {
	m.Version, m.Description, m.License, m.Repository = version, npmDescription, "Apache-2.0", repository
	text, err := json.Marshal(m, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		return err
	}
	data, err := pack("package", r.date, append(slices.Clone(files), file{"package.json", 0o644, append(text, '\n')}))
	if err != nil {
		return err
	}
	name := strings.ReplaceAll(strings.TrimPrefix(m.Name, "@"), "/", "-") + "-" + version + ".tgz"
	return os.WriteFile(filepath.Join(r.out, name), data, 0o644)
}
