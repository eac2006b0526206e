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
	"github.com/tailscale/hujson"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/rules"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/settings"
)

var (
	// ErrForeign is returned for a directory that is not empty and does not contain a
	// plugin of that name.
	ErrForeign = message.NewError("is neither empty nor a plugin",
		"choose an empty or a new directory, or give the name of the plugin in it with --name")
	// errPlatforms is returned by Write if the plugin in the directory has programs for
	// platforms that the new plugin lacks.
	errPlatforms = message.NewError("the plugin would lose the programs for",
		"nothing was written; add --from with the archives of a release, or --platforms with the platforms that the plugin should have")
)

// differsError is returned by Write when files of the plugin exist with other
// content or another mode. Nothing was written.
type differsError struct {
	dir   string
	paths []string // slashes, relative to dir
}

func (e *differsError) Error() string {
	return fmt.Sprintf("%s has files that would be overwritten: %s", e.dir, strings.Join(e.paths, ", "))
}

// Hint says what to do about it.
func (e *differsError) Hint() string { return "nothing was written; --force replaces these files" }

const (
	maxManifest = 1 << 20 // bytes; real ones have less than a kilobyte
	maxConfig   = 4 << 20 // bytes of a hooks.json or .mcp.json
)

// Existing is a plugin in a directory, which may have been edited since it was written.
type Existing struct {
	dir      string
	manifest []byte // nil if there is no plugin

	Name      string
	Version   string     // of plugin.json
	Programs  string     // version of the programs; empty if there is no bin/VERSION
	Own       bool       // the author is this program
	Hooks     []byte     // hooks.json; nil if there is none
	Server    []byte     // .mcp.json; nil if there is none
	Platforms []Platform // of the programs in directories below bin
}

// ReadPlugin returns the plugin in a directory. If the directory does not exist or is empty, the
// result has an empty Name.
//
// Errors: ErrForeign for a directory that contains something else, and those of reading.
func ReadPlugin(dir string) (Existing, error) {
	e := Existing{dir: dir, Own: true}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return e, nil
	}
	if err != nil {
		return e, err
	}
	var manifest struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		Author  person `json:"author"`
	}
	e.manifest, err = safefile.ReadFile(filepath.Join(dir, client.ManifestPath), maxManifest, 0)
	if err != nil || json.Unmarshal(e.manifest, &manifest) != nil || manifest.Name == "" {
		return e, fmt.Errorf("%s %w", dir, ErrForeign)
	}
	e.Name, e.Version, e.Own = manifest.Name, manifest.Version, manifest.Author.Name == author
	if e.Hooks, err = e.optional(hooksPath, maxConfig); err != nil {
		return e, err
	}
	if e.Server, err = e.optional(serverPath, maxConfig); err != nil {
		return e, err
	}
	version, err := e.optional(programs.PluginVersion, programs.MaxVersion)
	e.Programs = strings.TrimSpace(string(version))
	for _, p := range Platforms() {
		if _, err := os.Lstat(filepath.Join(dir, binPath, p.dir(), settings.Program)); err == nil {
			e.Platforms = append(e.Platforms, p)
		}
	}
	return e, err
}

// optional returns the content of a file, nil if it does not exist.
func (e Existing) optional(path string, limit int64) ([]byte, error) {
	data, err := safefile.ReadFile(filepath.Join(e.dir, filepath.FromSlash(path)), limit, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// HasProgram reports whether this program has written the plugin or a part of it. Such a
// plugin can be updated without giving its name.
func (e Existing) HasProgram() bool {
	_, err := os.Lstat(filepath.Join(e.dir, programPath))
	return e.Name != "" && (e.Own || err == nil)
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

// ServesMCP reports whether the plugin has this program's MCP server.
func (e Existing) ServesMCP() bool {
	report, err := settings.InspectServer(e.Server, pluginServer())
	return err == nil && report.State != settings.Absent
}

// Write writes the plugin into the directory, which it creates if necessary, and
// returns the paths it wrote or removed. It skips files that are up to date and ignores
// files that are not part of the plugin. If overwrite is false and an existing file would
// be replaced or removed, it writes nothing and returns a *differsError. It returns
// errName, ErrForeign or errPlatforms before it writes anything.
//
// Write keeps the author's changes: in the manifest it replaces only the version, if that is
// the version of the programs; it keeps the marketplace, skills, configuration, and other
// hooks and servers. A plugin with another author gets the programs, the configuration, the
// hooks and the server, but no README, no marketplace and no sample.
func (p Plugin) Write(dir string, overwrite bool) (written []string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	files, err := p.files()
	if err != nil {
		return nil, err
	}
	old, err := ReadPlugin(dir)
	if err == nil && old.Name != "" && old.Name != p.Name {
		err = fmt.Errorf("%s %w", dir, ErrForeign)
	}
	if errors.Is(err, ErrForeign) {
		return nil, fmt.Errorf("%w named %s", err, p.Name)
	}
	if err != nil {
		return nil, err
	}
	if err := old.losesPlatforms(p); err != nil {
		return nil, err
	}
	if files, err = old.merge(p, files); err != nil {
		return nil, err
	}
	outdated, replaced, err := comparePart(dir, files)
	if err != nil {
		return nil, err
	}
	leftOver := old.leftOver(files)
	if replaced = append(replaced, leftOver...); len(replaced) > 0 && !overwrite {
		return nil, &differsError{dir, replaced}
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
func (e Existing) leftOver(files []pluginFile) (paths []string) {
	if !e.HasProgram() {
		return nil
	}
	for _, path := range programPaths() {
		if slices.ContainsFunc(files, func(f pluginFile) bool { return f.path == path }) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(e.dir, filepath.FromSlash(path))); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// merge returns the files of the new plugin, merged with the author's changes. It leaves out
// files that an existing plugin must not get.
func (e Existing) merge(p Plugin, files []pluginFile) (merged []pluginFile, err error) {
	for _, f := range files {
		switch {
		case e.Name == "":
		case f.path == client.ManifestPath:
			f.merged, f.from = true, e.manifest
			f.data, err = e.mergeManifest(p.Version)
		case f.path == hooksPath:
			f.merged, f.from = true, e.Hooks
			f.data, err = e.mergeHooks(p)
		case f.path == serverPath:
			f.merged, f.from = true, e.Server
			if err = settings.Strict(e.Server); err == nil {
				f.data, err = settings.AddServer(e.Server, pluginServer())
			}
			if err != nil {
				err = fmt.Errorf("%s:%w", filepath.Join(e.dir, serverPath), err)
			}
		case !e.Own && (f.path == readmePath || f.path == client.MarketplacePath):
			continue
		case f.sample && (!e.Own || e.Programs != ""):
			continue
		}
		if err != nil {
			return nil, err
		}
		merged = append(merged, f)
	}
	return merged, nil
}

// mergeManifest returns the manifest with the new version, or unchanged if the author has set
// a version.
func (e Existing) mergeManifest(version string) ([]byte, error) {
	ofPrograms := e.Version == e.Programs || e.Programs == "" && e.Own
	if !ofPrograms || e.Version == "" || e.Version == version {
		return e.manifest, nil
	}
	text, err := hujson.Parse(e.manifest)
	if err != nil {
		return nil, err
	}
	patch, err := json.Marshal([]map[string]string{{"op": "replace", "path": "/version", "value": version}})
	if err != nil {
		return nil, err
	}
	if err := text.Patch(patch); err != nil {
		return nil, err
	}
	return text.Pack(), nil
}

// mergeHooks returns the hooks file in which the new hooks of this program replace the old
// ones.
func (e Existing) mergeHooks(p Plugin) ([]byte, error) {
	data, hooks := e.Hooks, p.hooks()
	gone := slices.DeleteFunc(everyHook(), func(h settings.Hook) bool {
		return slices.ContainsFunc(hooks, func(kept settings.Hook) bool {
			return slices.Equal(kept.Args, h.Args)
		})
	})
	err := settings.Strict(data)
	if err == nil && e.Has(gone) {
		data, err = settings.Remove(data, gone)
	}
	if err == nil {
		data, err = settings.Add(data, hooks)
	}
	if err != nil {
		return nil, fmt.Errorf("%s:%w", filepath.Join(e.dir, hooksPath), err)
	}
	return data, nil
}

// everyHook returns all hooks of this program that a plugin may have.
func everyHook() []settings.Hook {
	hooks := append(settings.Hooks(Command, nil, settings.Duty{}), rules.Hooks(Command, "", guard.Config{})...)
	return append(hooks, rules.SkillFileHooks(Command)...)
}

// comparePart returns the files that must be written, and the paths of those that
// replace an existing file.
func comparePart(dir string, files []pluginFile) (outdated []*pluginFile, replaced []string, err error) {
	for i := range files {
		f := &files[i]
		exists, same, err := f.compare(dir)
		if err != nil {
			return nil, nil, err
		}
		if same {
			continue
		}
		outdated = append(outdated, f)
		if exists {
			replaced = append(replaced, f.path)
		}
	}
	return outdated, replaced, nil
}

// in returns the file's path in the directory.
func (f *pluginFile) in(dir string) string { return filepath.Join(dir, filepath.FromSlash(f.path)) }

// compare reads the existing file. It reports whether there is one, and whether it has the
// same content and is executable if it should be. It returns safefile.ErrChanged if the file
// has changed since it was merged.
func (f *pluginFile) compare(dir string) (exists, same bool, err error) {
	path := f.in(dir)
	_, err = os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true, false, err
	}
	if err == nil && f.keep {
		return true, true, nil
	}
	if f.edit, err = safefile.ReadToEdit(safefile.Resolve(path), maxProgram); err != nil {
		return true, false, err
	}
	if f.merged && !bytes.Equal(f.edit.Data, f.from) {
		return true, false, fmt.Errorf("%s: %w", path, safefile.ErrChanged)
	}
	if f.edit.Data == nil {
		return false, false, nil
	}
	executable := f.edit.Mode&0o111 != 0
	return true, executable == (f.mode&0o111 != 0) && bytes.Equal(f.edit.Data, f.data), nil
}

// write replaces the file that compare has read. It replaces a symbolic link instead of
// following it, because the link may lead to a program that is used elsewhere. Only links to
// merged files are followed.
func (f *pluginFile) write(dir string) error {
	path := f.in(dir)
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 && !f.merged {
		return safefile.Write(path, f.data, safefile.LessUmask(f.mode))
	}
	switch executable := f.mode&0o111 != 0; {
	case f.edit.Data == nil:
		f.edit.Mode = f.mode
	case executable:
		f.edit.Mode |= f.edit.Mode & 0o444 >> 2
	default:
		f.edit.Mode &^= 0o111
	}
	return f.edit.Replace(f.data)
}
