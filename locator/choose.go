package locator

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"
)

// candidate is an installation that applies, and what the disk says of it.
type candidate struct {
	Installation
	root  Root
	holds bool // the skill is there, with an fsm.json or without
}

// openRegistry reads the registry once and notes what was skipped in it.
func (s *search) openRegistry() error {
	path := registryPath(s.ConfigDir)
	registry, err := ReadRegistry(s.Fs, s.ConfigDir)
	if err != nil {
		s.step(RuleRegistry, path, Failed, cause(err).Error())
		return err
	}
	s.registry = registry
	for _, p := range registry.problems {
		s.step(RuleRegistry, path, Skipped, p.String())
	}
	return nil
}

// choose returns the installation of the plugin that goes first in dir, if
// any applies there.
func (s *search) choose(plugin, skill, dir string) (best candidate, applies bool) {
	var fit []candidate
	for _, in := range s.competing(plugin, dir) {
		root := s.registry.Root(in)
		if root.Note != "" {
			s.step(RuleMarketplace, in.InstallPath, Failed, in.Key+": "+root.Note+"; reading the installed copy")
		}
		fit = append(fit, candidate{in, root, false})
	}
	if len(fit) == 0 {
		return candidate{}, false
	}
	if len(fit) > 1 {
		for i, c := range fit {
			fit[i].holds = s.holds(c.root.Dir, skill)
		}
	}
	slices.SortStableFunc(fit, preference)
	s.explain(fit)
	return fit[0], true
}

// competing returns the plugin's installations that apply in dir and are not
// switched off, and notes the others.
func (s *search) competing(plugin, dir string) []Installation {
	here := s.registry.places([]string{dir})
	var fit []Installation
	for _, in := range s.registry.installations {
		switch {
		case in.Plugin != plugin:
		case !applies(in, here):
			s.passed(in, "its project "+in.ProjectPath+" does not contain "+quote(dir))
		case s.switches().Off(in.Key):
			s.switchedOff(in)
		default:
			fit = append(fit, in)
		}
	}
	if len(fit) == 0 {
		s.step(RuleRegistry, registryPath(s.ConfigDir), Absent, "no installation of "+plugin+" applies")
	}
	return fit
}

func (s *search) passed(in Installation, why string) {
	s.step(RuleRegistry, in.InstallPath, Skipped, describe(in)+": "+why)
}

func (s *search) switchedOff(in Installation) {
	_, path := s.switches().Of(in.Key)
	s.passed(in, "switched off in "+path)
}

// switches reads the settings once, of the project the client was started in
// if that is known.
func (s *search) switches() *Settings {
	if s.settings != nil {
		return s.settings
	}
	project := s.ProjectDir
	if project == "" && filepath.IsAbs(s.cwd) {
		project = s.cwd
	}
	s.settings = ReadSettings(s.Fs, s.ConfigDir, project)
	for _, p := range s.settings.problems {
		s.step(RuleSettings, p.Where, Failed, p.Reason)
	}
	return s.settings
}

// holds reports whether the plugin has the skill or command.
func (s *search) holds(root, skill string) bool {
	nested := filepath.Join(root, "commands", nestedPath(skill))
	for _, path := range []string{
		filepath.Join(root, "skills", skill),
		filepath.Join(root, "commands", skill),
		nested,
		nested + ".md",
	} {
		if there, _ := present(s.Fs, path); there {
			return true
		}
	}
	return false
}

// preference orders candidates: by scope, then by having the skill, then as
// installations are ordered.
func preference(a, b candidate) int {
	return cmp.Or(byScope(a.Installation, b.Installation), byHolding(a, b), precedence(a.Installation, b.Installation))
}

func byHolding(a, b candidate) int {
	switch {
	case a.holds == b.holds:
		return 0
	case a.holds:
		return -1
	}
	return 1
}

// explain says which candidate was taken and why the others were not.
func (s *search) explain(ordered []candidate) {
	best := ordered[0]
	detail := describe(best.Installation)
	if best.root.Live {
		detail += ", in the source tree of its marketplace"
	}
	s.step(RuleRegistry, best.root.Dir, Found, detail)
	for _, c := range ordered[1:] {
		s.step(RuleRegistry, c.root.Dir, Skipped, describe(c.Installation)+": "+behind(best, c))
	}
}

// behind says in words what decided between the two.
func behind(best, c candidate) string {
	switch {
	case byScope(best.Installation, c.Installation) != 0:
		return "scope " + best.Scope + " goes first"
	case byHolding(best, c) != 0:
		return "it does not have the skill"
	case !best.LastUpdated.Equal(c.LastUpdated):
		return "another was updated later"
	}
	return "another goes first"
}

func describe(in Installation) string {
	text := in.Key + ", scope " + in.Scope
	if !in.LastUpdated.IsZero() {
		text += ", updated " + in.LastUpdated.UTC().Format(time.RFC3339)
	}
	return text
}
