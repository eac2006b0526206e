package plugins

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// Plugin is a plugin that the client loads: where its skills and commands are, and the
// beginning of their names (measured with 2.1.329, fact 120).
type Plugin struct {
	Key  string // plugin@marketplace
	Name string // what the names of its skills begin with: that of its manifest, else of its entry
	Dir  string

	fs       FS
	links    *resolver // of fs; plugins of one registry share it
	skills   []string  // directories: each of one skill, or of several in folders
	commands []command // directories and files, in the client's order
	anchors  []string  // links may not lead out of these; nil if they may lead anywhere
	off      bool
	needs    []string // names or keys of other plugins

	commandNames map[string]string // that manifests give to files, by path

	names map[string]given // by file
}

// command is a place of commands.
type command struct {
	path string // a directory, or a file; "" if the text is in a manifest
	name string // of a command whose text is in a manifest
}

// The marketplaces of plugins that no marketplace has (read in the code of 2.1.329).
const (
	InlineMarketplace = "inline"     // of --plugin-dir
	SkillsMarketplace = "skills-dir" // of folders of skills that are plugins
)

// Load returns the installed plugin, as the client loads it. Its error is the reason why the
// client does not; the plugin is then the one without the manifest.
func (r *Registry) Load(in Installation) (*Plugin, error) {
	root := r.Root(in)
	p := &Plugin{Key: in.Key, Name: in.Plugin, Dir: root.Dir, fs: r.fs, links: r.links, anchors: []string{root.Dir}}
	if p.fs == nil {
		return p, nil
	}
	market := r.known().of(in.Marketplace)
	if root.Live {
		p.anchors = append(p.anchors, market.dir)
	}
	err := p.load(market.entry(in.Plugin))
	if root.Gone {
		err = root.Err
	}
	return p, err
}

// LoadDir returns the plugin in dir, which is in a session's --plugin-dir or in a folder of
// skills. Its error is the reason why the client does not load it; the plugin is then the one
// without the manifest.
func LoadDir(fsys FS, dir, marketplace string) (*Plugin, error) {
	p := &Plugin{Name: filepath.Base(dir), Dir: dir, fs: fsys, links: newResolver(fsys)}
	err := p.loadFrom(marketplace)
	p.Key = p.Name + "@" + marketplace
	return p, err
}

func (p *Plugin) loadFrom(marketplace string) error {
	p.Key = p.Name + "@" + marketplace
	return p.load(nil)
}

// IsOff reports whether the client does not load the plugin of [LoadDir]: the settings
// disable it, or it is off unless they enable it.
func (p *Plugin) IsOff(settings *Settings) bool {
	enabled, path := settings.Lookup(p.Key)
	if path != "" {
		return !enabled
	}
	return p.off
}

// Needs returns the key of a plugin that this one needs and that is not among those that are
// loaded, "" if there is none (measured with 2.1.329, fact 159). A name without a marketplace is in
// that of the plugin.
func (p *Plugin) Needs(loaded func(key string) bool) string {
	_, marketplace, _ := strings.Cut(p.Key, "@")
	for _, key := range p.needs {
		if !strings.Contains(key, "@") {
			key += "@" + marketplace
		}
		if !loaded(key) {
			return key
		}
	}
	return ""
}

func (p *Plugin) load(e *entry) error {
	m, err := p.readManifest()
	if err != nil {
		p.addManifest(manifest{})
		return err
	}
	if m.exists && e != nil && !e.strict && (e.skills != nil || e.commands != nil || e.others) {
		return &FileError{filepath.Join(p.Dir, ManifestPath),
			errors.New(`the marketplace's entry has "strict": false and names components, so the client does not load the plugin`)}
	}
	p.Name, p.off, p.needs = cmp.Or(m.name, p.Name), m.off, m.needs
	p.addManifest(m)
	if e != nil {
		p.addEntry(e, m)
	}
	return nil
}

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
	skills, commands := SkillsDir(p.Dir), CommandsDir(p.Dir)
	hasSkills := p.exists(skills)
	if hasSkills && p.isInside(skills) {
		p.skills = append(p.skills, skills)
	}
	switch {
	case m.skills != nil:
		p.addSkills(p.directories(*m.skills))
	case !hasSkills && p.takesItself() && p.isSkill(p.Dir):
		p.skills = append(p.skills, p.Dir)
	}
	if m.commands != nil {
		p.addCommands(m.commands, true)
	} else if p.exists(commands) && p.isInside(commands) {
		p.commands = append(p.commands, command{path: commands})
	}
}

// takesItself reports whether a SKILL.md at the plugin's root is a skill of the plugin. In
// a folder of skills it is one of its own.
func (p *Plugin) takesItself() bool { return !strings.HasSuffix(p.Key, "@"+SkillsMarketplace) }

// addEntry adds what the marketplace's entry says. If the entry's source is the root of the
// marketplace, its "skills" replace the default directory, because several plugins share it.
func (p *Plugin) addEntry(e *entry, m manifest) {
	if e.skills != nil {
		listed := p.directories(*e.skills)
		if e.isRoot && len(*e.skills) > 0 {
			p.replaceSkills(listed, *e.skills)
		}
		if !m.exists && slices.ContainsFunc(listed, func(dir string) bool { return dir != SkillsDir(p.Dir) }) {
			p.skills = slices.DeleteFunc(p.skills, func(dir string) bool { return dir != SkillsDir(p.Dir) })
		}
		p.addSkills(listed)
	}
	if e.commands != nil {
		p.addCommands(e.commands, false)
	}
}

func (p *Plugin) replaceSkills(listed, asWritten []string) {
	switch {
	case len(listed) == 0 && slices.ContainsFunc(asWritten, p.leadsOut):
		p.skills = nil
	case len(listed) > 0:
		keepsDefault := slices.Contains(listed, SkillsDir(p.Dir)) || slices.Contains(listed, p.Dir)
		p.skills = slices.DeleteFunc(p.skills, func(dir string) bool { return dir != SkillsDir(p.Dir) || !keepsDefault })
	}
}

// addSkills adds directories that are not known yet.
func (p *Plugin) addSkills(dirs []string) {
	for _, dir := range dirs {
		if !slices.Contains(p.skills, dir) && dir != SkillsDir(p.Dir) && (dir != p.Dir || p.takesItself()) {
			p.skills = append(p.skills, dir)
		}
	}
}

// addCommands adds the commands of a list. Those whose text is in an entry are not loaded.
func (p *Plugin) addCommands(list *commandList, inline bool) {
	if p.commandNames == nil {
		p.commandNames = map[string]string{}
	}
	for _, c := range list.named {
		if c.source != "" {
			path := filepath.Join(p.Dir, c.source)
			p.commandNames[path] = cmp.Or(p.commandNames[path], c.name)
		}
	}
	for _, written := range list.all() {
		path := filepath.Join(p.Dir, written)
		if !p.leadsOut(written) && p.exists(path) {
			p.commands = append(p.commands, command{path: path})
		}
	}
	for _, c := range list.named {
		if c.source == "" && inline {
			p.commands = append(p.commands, command{name: c.name})
		}
	}
}

// directories returns the paths that are directories in the plugin.
func (p *Plugin) directories(paths []string) []string {
	var dirs []string
	for _, written := range paths {
		dir := filepath.Join(p.Dir, written)
		if !p.leadsOut(written) && isDir(p.fs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// leadsOut reports whether a path of a manifest is outside the plugin, by its text or by
// links.
func (p *Plugin) leadsOut(written string) bool {
	if !filepath.IsLocal(filepath.Clean(written)) {
		return true
	}
	inside := *p
	if inside.anchors == nil {
		inside.anchors = []string{p.Dir}
	}
	return !inside.isInside(filepath.Join(p.Dir, written))
}

// isInside reports whether the client reads a path below the plugin's directory: no link on
// the way leads out of the anchors.
func (p *Plugin) isInside(path string) bool {
	if p.anchors == nil || !p.hasLink(path) {
		return true
	}
	real := safefile.ResolveWith(p.fs.Readlink, path)
	return slices.ContainsFunc(p.anchors, func(anchor string) bool {
		return contains(safefile.ResolveWith(p.fs.Readlink, anchor), real)
	})
}

// hasLink reports whether a component of path below the plugin's directory is a link.
func (p *Plugin) hasLink(path string) bool {
	for ; len(path) > len(p.Dir); path = filepath.Dir(path) {
		if info, err := p.fs.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

func (p *Plugin) exists(path string) bool {
	_, err := p.fs.Stat(path)
	return err == nil
}

// isSkill reports whether the folder has a SKILL.md that the client reads.
func (p *Plugin) isSkill(folder string) bool { return p.isText(filepath.Join(folder, SkillFile)) }

// isText reports whether path is a file that the client reads.
func (p *Plugin) isText(path string) bool {
	info, err := p.fs.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() <= maxSkill && p.isInside(path)
}

// maxSkill is the size of the largest SKILL.md and command that the client reads (read in
// the code of 2.1.329).
const maxSkill = 1 << 20
