package locator

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/plugins"
)

// specName is the file that is looked for in the folder of a skill.
const specName = "fsm.json"

// search is one call of Locate.
type search struct {
	*Locator
	plugin, skill string // the parts of the command name; plugin is "" if it has no colon
	cwd           string
	result        Result

	registry    *plugins.Registry // nil until it is needed
	settings    *plugins.Settings // nil until they are needed
	here        *installed        // the installation that takes precedence in cwd, nil if none applies
	inPluginDir bool              // one of PluginDirs is the plugin
}

// candidate is a folder that may be the skill's.
type candidate struct {
	rule   Rule
	folder string
	plugin string // key or name of the plugin that it belongs to, "" if none
}

// place is one kind of place. It returns the candidates there in their order and
// adds a step for each thing that it passes over.
type place func(*search) []candidate

// plainPlaces are the places of a name without a colon. The aliases come last,
// because a folder's name takes precedence over one in a frontmatter (measured with
// 2.1.329, facts 48 and 59 of docs/client-facts.md).
var plainPlaces = []place{
	(*search).inProject,
	(*search).inUser,
	(*search).inProjectDir,
	(*search).byAlias,
}

// pluginPlaces are the places of a plugin's skill.
var pluginPlaces = []place{
	(*search).inInstallation,
	(*search).inFoldersUnlessInstalled,
	(*search).inPluginDirs,
	(*search).forProjectDir,
}

// withoutRegistry are the places of a plugin's skill that need no registry.
var withoutRegistry = []place{(*search).inPluginDirs}

func (s *search) run() error {
	plugin, skill, ok := strings.Cut(s.result.Command, ":")
	if !ok {
		s.skill = plugin
		s.try(plainPlaces)
		return nil
	}
	s.plugin, s.skill = plugin, skill
	if err := s.openRegistry(); err != nil {
		s.try(withoutRegistry)
		if !s.inPluginDir {
			return &RegistryError{s.result.Command, err}
		}
		return nil
	}
	s.try(pluginPlaces)
	return nil
}

// try asks the places in their order and ends with the first fsm.json, so that
// nothing is read without need.
func (s *search) try(places []place) {
	for _, place := range places {
		for _, c := range place(s) {
			if s.use(c) {
				return
			}
		}
	}
}

// use makes the candidate the result if it has an fsm.json, whatever its type.
func (s *search) use(c candidate) bool {
	path := filepath.Join(c.folder, specName)
	found, err := exists(s.FS, path)
	switch {
	case err != nil:
		s.step(c.rule, path, OutcomeUsed, "cannot be checked: "+cause(err).Error())
	case found:
		s.step(c.rule, path, OutcomeUsed, "")
	default:
		s.step(c.rule, path, OutcomeAbsent, "")
		return false
	}
	s.result.Path, s.result.Plugin = path, c.plugin
	return true
}

func (s *search) step(rule Rule, path string, outcome Outcome, detail string) {
	s.result.Steps = append(s.result.Steps, Step{rule, path, outcome, detail})
}

// problem adds a step for a file of the client that cannot be used as it is.
func (s *search) problem(rule Rule, outcome Outcome, err error) {
	path, detail := "", err.Error()
	if f, ok := errors.AsType[*plugins.FileError](err); ok {
		path, detail = f.Path, f.Err.Error()
	}
	s.step(rule, path, outcome, detail)
}
