package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/settings"
)

var (
	// errForeign is returned for a directory that has something else than a plugin that this program has written.
	errForeign = message.NewError("is neither empty nor a plugin that fsmtx has written", "choose an empty or a new directory")
	// errPlatforms is returned by Write if the plugin in the directory has programs for platforms that the new plugin lacks.
	errPlatforms = message.NewError("the plugin would lose the programs for",
		"nothing was written; add --from with the archives of a release, or --platforms with the platforms that the plugin should have")
)

// file is a file that is written as a whole: of a plugin, or of the copy of the program.
type file struct {
	path   string // slashes, relative to the directory
	mode   fs.FileMode
	data   []byte
	keep   bool // one that exists is the author's
	sample bool // it is not written into a plugin that exists: the author may have removed it
}

// differing returns the files that have to be written into dir, and the paths of those that replace others.
func differing(dir string, files []file) (all []file, replaced []string, err error) {
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.path))
		info, err := os.Stat(path)
		var data []byte
		if err == nil && !f.keep {
			data, err = safefile.ReadFile(path, maxProgram, 0)
		}
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, nil, err
		case err == nil && (f.keep || bytes.Equal(data, f.data) && isExecutable(f.path, info) == (f.mode&0o111 != 0)):
			continue
		case err == nil:
			replaced = append(replaced, f.path)
		}
		all = append(all, f)
	}
	return all, replaced, nil
}

// isExecutable reports whether a file can be run: on Windows its name says so.
func isExecutable(path string, info fs.FileInfo) bool {
	return info.Mode()&0o111 != 0 || strings.HasSuffix(path, ".exe")
}

// write writes the file, in the place of a symbolic link, too, which may lead to a program that is used elsewhere.
func (f file) write(dir string) error {
	path := filepath.Join(dir, filepath.FromSlash(f.path))
	if _, err := safefile.Mkdir(filepath.Dir(path)); err != nil {
		return err
	}
	return safefile.Write(path, f.data, safefile.LessUmask(f.mode))
}

const (
	maxManifest = 1 << 20 // bytes; real ones have less than a kilobyte
	maxConfig   = 4 << 20 // bytes of a hooks.json
)

// Existing is the plugin of this program in a directory.
type Existing struct {
	dir      string
	manifest []byte

	Name      string     // empty if there is no plugin
	Programs  string     // version of the programs; empty if writing it did not come to an end
	Hooks     []byte     // hooks.json; nil if there is none
	MCP       bool       // it has the MCP server
	Platforms []Platform // of the programs in directories below bin
}

// ReadPlugin returns the plugin in a directory. Errors are errForeign and those of reading.
func ReadPlugin(dir string) (Existing, error) {
	e := Existing{dir: dir}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return e, nil
	}
	if err != nil {
		return e, err
	}
	var manifest struct {
		Name   string `json:"name"`
		Author person `json:"author"`
	}
	e.manifest, err = e.read(client.ManifestPath, maxManifest)
	version, versionErr := e.read(programs.PluginVersion, programs.MaxVersion)
	if err = errors.Join(err, versionErr); err == nil {
		_ = json.Unmarshal(e.manifest, &manifest)
		if manifest.Name == "" || manifest.Author.Name != author && version == nil {
			err = fmt.Errorf("%s %w", dir, errForeign)
		}
	}
	if err == nil {
		e.Hooks, err = e.read(hooksPath, maxConfig)
	}
	e.Name, e.Programs, e.MCP = manifest.Name, strings.TrimSpace(string(version)), e.has(serverPath)
	for _, p := range Platforms() {
		if fsmtx, _ := p.paths(true); e.has(fsmtx) && e.has(programPath) {
			e.Platforms = append(e.Platforms, p)
		}
	}
	return e, err
}

// read returns the content of a file, nil if it does not exist.
func (e Existing) read(path string, limit int64) ([]byte, error) {
	data, err := safefile.ReadFile(filepath.Join(e.dir, filepath.FromSlash(path)), limit, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

func (e Existing) has(path string) bool {
	_, err := os.Lstat(filepath.Join(e.dir, filepath.FromSlash(path)))
	return err == nil
}

// Has reports whether the plugin has one of the hooks.
func (e Existing) Has(hooks []settings.Hook) bool {
	report, err := settings.Inspect(e.Hooks, hooks)
	return err == nil && report.State != settings.Absent
}

// Enforces reports whether the plugin has hooks that enforce the steps of workflows. ok is false if it has no hooks
// of workflows.
func (e Existing) Enforces() (yes, ok bool) {
	calls := settings.Calls(e.Hooks)
	return slices.ContainsFunc(calls, settings.Call.Enforces), slices.ContainsFunc(calls, settings.Call.Hydrates)
}

// Write writes the plugin into the directory, which it creates if necessary, and returns the paths that it wrote or removed. Files
// that are as they should be, and those that are not of the plugin, stay. If overwrite is false and an existing file would be
// replaced or removed, nothing is written. Errors that come before anything is written: that, errName, errForeign, errPlatforms.
//
// Of a plugin that exists the marketplace, the skills and the configuration are the author's, and so is the manifest but for the
// version of the programs in it.
func (p Plugin) Write(dir string, overwrite bool) (written []string, err error) {
	files, err := p.files()
	if err != nil {
		return nil, err
	}
	old, err := ReadPlugin(dir)
	if err == nil && old.Name != "" && old.Name != p.Name {
		err = message.WithHint(fmt.Errorf("%s has the plugin %s", dir, old.Name), "leave out --name, or choose an empty or a new directory")
	}
	if err == nil {
		err = old.losesPlatforms(p)
	}
	if err != nil {
		return nil, err
	}
	if old.Programs != "" {
		files[0].data = old.manifestFor(p.Version) // the first is the manifest
		files = slices.DeleteFunc(files, func(f file) bool { return f.sample })
	}
	outdated, replaced, err := differing(dir, files)
	if err != nil {
		return nil, err
	}
	leftOver := old.leftOver(files)
	if replaced = append(replaced, leftOver...); len(replaced) > 0 && !overwrite {
		return nil, message.WithHint(fmt.Errorf("%s has files that would be overwritten: %s", dir, strings.Join(replaced, ", ")),
			"nothing was written; --force replaces these files")
	}
	for _, f := range outdated {
		if err := f.write(dir); err != nil {
			return written, err
		}
		written = append(written, f.path)
	}
	for _, path := range leftOver {
		if err := os.Remove(filepath.Join(dir, filepath.FromSlash(path))); err != nil {
			return written, err
		}
		written = append(written, path)
	}
	return written, nil
}

// manifestFor returns the manifest with a new version of the programs. A version that the author has set stays.
func (e Existing) manifestFor(version string) []byte {
	of := func(version string) []byte { return []byte(`"version": "` + version + `"`) }
	return bytes.Replace(e.manifest, of(e.Programs), of(version), 1)
}

// KeepsVersion reports whether the author has set the version in the manifest.
func (e Existing) KeepsVersion() bool {
	return !bytes.Contains(e.manifest, []byte(`"version": "`+e.Programs+`"`))
}

// losesPlatforms returns errPlatforms if the plugin has programs for platforms that the new
// one lacks: its users on these platforms would notice before its author does.
func (e Existing) losesPlatforms(p Plugin) error {
	var lost []string
	for _, old := range e.Platforms {
		if !slices.ContainsFunc(p.Programs, func(one Program) bool { return one.Platform == old }) {
			lost = append(lost, string(old))
		}
	}
	if lost == nil || p.Drop {
		return nil
	}
	return fmt.Errorf("%s: %w %s", e.dir, errPlatforms, strings.Join(lost, ", "))
}

// leftOver returns the programs that are no longer part of the plugin.
func (e Existing) leftOver(files []file) (paths []string) {
	for _, path := range programPaths() {
		if e.has(path) && !slices.ContainsFunc(files, func(f file) bool { return f.path == path }) {
			paths = append(paths, path)
		}
	}
	return paths
}
