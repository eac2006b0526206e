package plugins

import (
	"cmp"
	"path/filepath"
	"slices"
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
	return p, p.load(r.known().of(in.Marketplace).entry(in.Plugin))
}

// LoadDir returns the plugin in dir, which is in a session's --plugin-dir. Its error is the reason why the client
// does not load it; the plugin is then the one without the manifest.
func LoadDir(fsys FS, dir string) (*Plugin, error) {
	p := &Plugin{Name: filepath.Base(dir), Dir: dir, fs: fsys}
	err := p.load(nil)
	p.Key = p.Name + "@" + InlineMarketplace
	return p, err
}

func (p *Plugin) load(e *entry) error {
	m, err := p.readManifest()
	p.Name = cmp.Or(m.name, p.Name)
	p.addManifest(m)
	if e != nil {
		p.addEntry(e, m)
	}
	return err
}

// readManifest returns the zero manifest with an error, or if there is none.
func (p *Plugin) readManifest() (manifest, error) {
	path := filepath.Join(p.Dir, ManifestPath)
	o, err := readFile(p.fs, path)
	if isMissing(err) {
		return manifest{}, nil
	}
	if err != nil {
		return manifest{}, err
	}
	m, err := parseManifest(o)
	if err != nil {
		return manifest{}, &FileError{path, err}
	}
	return m, nil
}

// addManifest adds what the plugin's own directory has. A manifest's "skills" add to the
// default directory, its "commands" replace it.
func (p *Plugin) addManifest(m manifest) {
	skills := SkillsDir(p.Dir)
	hasSkills := isDir(p.fs, skills)
	if hasSkills {
		p.skills = append(p.skills, skills)
	}
	switch {
	case m.skills != nil:
		p.addSkills(p.inside(m.skills))
	case !hasSkills && p.isSkill(p.Dir):
		p.skills = append(p.skills, p.Dir)
	}
	if m.commands != nil {
		p.commands = append(p.commands, p.inside(m.commands)...)
	} else {
		p.commands = append(p.commands, CommandsDir(p.Dir))
	}
}

// addEntry adds what the marketplace's entry says. If the entry's source is the root of the
// marketplace, its "skills" replace the default directory, because several plugins share it.
func (p *Plugin) addEntry(e *entry, m manifest) {
	listed := p.inside(e.skills)
	if e.isRoot && len(listed) > 0 || !m.exists && len(listed) > 0 {
		keepsDefault := !e.isRoot || slices.Contains(listed, SkillsDir(p.Dir)) || slices.Contains(listed, p.Dir)
		p.skills = slices.DeleteFunc(p.skills, func(dir string) bool { return dir != SkillsDir(p.Dir) || !keepsDefault })
	}
	p.addSkills(listed)
	p.commands = append(p.commands, p.inside(e.commands)...)
}

// addSkills adds directories that are not known yet.
func (p *Plugin) addSkills(dirs []string) {
	for _, dir := range dirs {
		if isDir(p.fs, dir) && !slices.Contains(p.skills, dir) && dir != SkillsDir(p.Dir) {
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
