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
	command       string
	plugin, skill string // the parts of the command name; plugin is "" if it has no colon
	cwd           string
	result        Result

	registry    *plugins.Registry     // nil until it is needed
	registryErr error                 // why it cannot be used
	settings    *plugins.Settings     // nil until they are needed
	chosen      map[string]*installed // by directory
	session     *root                 // the one of PluginDirs that is the plugin, nil if none is
	project     []string              // what projectDirs returns
	rootList    []root                // what roots returns
	own         []candidate           // the skills of the user and the project, once listed
	ofPlugins   []candidate           // those of plugins
}

// candidate is a folder that may be the skill's.
type candidate struct {
	rule   Rule
	folder string // "" if the client runs something that has no folder
	plugin string // key or name of the plugin that it belongs to, "" if none
}

// choice returns what the client runs, if it is found among one kind of place.
type choice func(*search) (candidate, bool)

// place is one kind of place in the requirements. It returns the candidates there in
// their order and adds a step for each thing that it passes over.
type place func(*search) []candidate

// plainChoices are how the client finds a name without a colon: by a folder's name,
// as a command, and then by the name in a frontmatter (measured with 2.1.329, facts
// 48, 59, 61 and 65 of docs/client-facts.md). A nested skill that takes precedence
// over a frontmatter is found last, because searching for it takes longest.
var plainChoices = []choice{
	(*search).byFolder,
	(*search).byCommand,
	(*search).byName,
	(*search).byNestedFolder,
}

// scopedChoices are how the client finds a name with a colon.
var scopedChoices = []choice{
	(*search).byFolder,
	(*search).inPlugin,
	(*search).inScope,
	(*search).byOwnName,
	(*search).byNameInPlugin,
}

// plainPlaces are where the requirements have the fsm.json of a name without a colon.
// They are only searched for what the client does not have in a folder.
var plainPlaces = []place{
	(*search).inProject,
	(*search).inUser,
	(*search).inProjectDir,
}

// pluginPlaces are where the requirements have the fsm.json of a plugin's skill.
var pluginPlaces = []place{
	(*search).inInstallation,
	(*search).inFoldersUnlessInstalled,
	(*search).forProjectDir,
}

// sessionPlaces are those of a plugin of PluginDirs, which takes precedence over an
// installed one (measured with 2.1.329, fact 51).
var sessionPlaces = []place{(*search).inSessionPlugin}

func (s *search) run() error {
	plugin, skill, ok := strings.Cut(s.command, ":")
	if !ok {
		s.skill = plugin
		if !s.choose(plainChoices) {
			s.try(plainPlaces)
		}
		return nil
	}
	s.plugin, s.skill = plugin, skill
	switch {
	case s.choose(scopedChoices), s.isPath():
		return nil
	case s.session != nil:
		s.try(sessionPlaces)
		return nil
	case s.registryErr != nil:
		return s.withoutRegistry()
	}
	s.try(pluginPlaces)
	return nil
}

// isPath reports whether the part before the colon is a path, so not a plugin's name.
func (s *search) isPath() bool { return strings.Contains(s.plugin, "/") }

// choose asks the choices in their order and makes the first that has the skill the
// result, with an fsm.json or without: what lies elsewhere belongs to another skill.
// It reports false if the client has no folder of the name.
func (s *search) choose(choices []choice) bool {
	for _, choice := range choices {
		if c, ok := choice(s); ok {
			s.result.known = true
			if c.folder != "" {
				s.use(c)
			}
			return c.folder != ""
		}
	}
	return false
}

// try asks the places in their order and ends with the first fsm.json.
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
