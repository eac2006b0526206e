package client

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

const (
	// ManifestPath is the place of a plugin's manifest in its directory.
	ManifestPath = ".claude-plugin/plugin.json"
	// MarketplacePath is the place of a marketplace's manifest in its directory.
	MarketplacePath = ".claude-plugin/marketplace.json"
)

// Plugin is a plugin that the client loads: where its skills and commands are, and the
// beginning of their names (measured with 2.1.329, fact 120).
type Plugin struct {
	Key  string // plugin@marketplace
	Name string // what the names of its skills begin with: that of its manifest, else of its entry
	Dir  string

	fs       FS
	skills   []string         // directories: each of one skill, or of several in folders
	commands []string         // directories and files, in the client's order
	names    map[string]given // in frontmatters, by file
	all      []Skill          // cached result of All
	listed   bool
}

// InlineMarketplace is that of the plugins of --plugin-dir, which are in none (read in the code of 2.1.329).
const InlineMarketplace = "inline"

// Load returns the installed plugin, as the client loads it. Its error is the reason why the
// client does not; the plugin is then the one without the manifest.
func (r *Registry) Load(in Installation) (*Plugin, error) {
	p := &Plugin{Key: in.Key, Name: in.Plugin, Dir: r.Root(in).Dir, fs: r.fs}
	if p.fs == nil {
		return p, nil
	}
	return p, p.load(r.marketplace(in.Marketplace).entry(in.Plugin))
}

// LoadDir returns the plugin in dir, which is in a session's --plugin-dir. Its error is the reason why the client
// does not load it; the plugin is then the one without the manifest.
func LoadDir(fsys FS, dir string) (*Plugin, error) {
	p := &Plugin{Name: filepath.Base(dir), Dir: dir, fs: fsys}
	err := p.load(nil)
	p.Key = p.Name + "@" + InlineMarketplace
	return p, err
}

// Name returns the name of the plugin in dir: the one in its manifest, or else the
// base name of dir (measured with 2.1.329, fact 61). If the manifest cannot be used,
// Name returns the base name together with a [*FileError].
func Name(fsys FS, dir string) (string, error) {
	name, _, err := readManifest(fsys, dir)
	return cmp.Or(name, filepath.Base(dir)), err
}

// readManifest returns the name and the components of the plugin in dir, none with an error, or if it has no manifest.
// The client does not load a plugin whose manifest has no name.
func readManifest(fsys FS, dir string) (name string, of components, err error) {
	var manifest jsontext.Value
	path := filepath.Join(dir, ManifestPath)
	if err := readJSON(fsys, path, &manifest); isMissing(err) {
		return "", of, nil
	} else if err != nil {
		return "", of, err
	}
	if name = jsonx.StringMember(manifest, "name"); name == "" {
		return "", of, &FileError{path, mistakeAt(manifest, 0, `"name" is missing`)}
	}
	return name, componentsOf(manifest), nil
}

// load adds what the plugin's manifest and the marketplace's entry say. A manifest's "skills" add to the default
// directory, its "commands" replace it. If the entry's source is the root of the marketplace, which several plugins
// share, its "skills" replace the default directory.
func (p *Plugin) load(e *entry) error {
	name, of, err := readManifest(p.fs, p.Dir)
	p.Name = cmp.Or(name, p.Name)
	var more components
	shared := false
	if e != nil {
		more = e.components
		shared = e.isRoot() && len(more.skills) > 0
	}
	own := SkillsDir(p.Dir)
	if listed := p.inside(slices.Concat(of.skills, more.skills)); shared {
		p.addSkills(listed)
	} else {
		p.addSkills(append([]string{own}, listed...))
	}
	if len(p.skills) == 0 && p.isSkill(p.Dir) {
		p.skills = []string{p.Dir}
	}
	p.commands = []string{CommandsDir(p.Dir)}
	if of.commands != nil {
		p.commands = p.inside(of.commands)
	}
	p.commands = append(p.commands, p.inside(more.commands)...)
	return err
}

// addSkills adds directories that are not known yet.
func (p *Plugin) addSkills(dirs []string) {
	for _, dir := range dirs {
		if isDir(p.fs, dir) && !slices.Contains(p.skills, dir) {
			p.skills = append(p.skills, dir)
		}
	}
}

// inside returns the paths of a manifest that do not lead out of the plugin.
func (p *Plugin) inside(written []string) (paths []string) {
	for _, path := range written {
		if filepath.IsLocal(filepath.Clean(path)) {
			paths = append(paths, filepath.Join(p.Dir, path))
		}
	}
	return paths
}

// isSkill reports whether the folder has a SKILL.md.
func (p *Plugin) isSkill(folder string) bool { return p.isFile(filepath.Join(folder, SkillFile)) }

func (p *Plugin) isFile(path string) bool {
	info, err := p.fs.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
