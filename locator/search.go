package locator

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
)

// specName is the file that is looked for in the folder of a skill.
const specName = "fsm.json"

// search is one call of Locate.
type search struct {
	*Locator
	command       string
	plugin, skill string // the command name before and after its first colon; without a colon plugin is ""
	cwd           string
	result        Result

	*shared
	chosen    []installed // cached result of prefer
	hasChosen bool
	sought    bool           // findSession has been called
	inSession *client.Plugin // the plugin of PluginDirs, nil if it has none
}

func (l *Locator) search(command, cwd string, known *shared) *search {
	return &search{Locator: l, command: command, cwd: cwd, shared: known, result: Result{Command: command}}
}

// candidate is a folder that may be the skill's.
type candidate struct {
	rule   Rule
	folder string        // "" if the client runs something that has no folder
	plugin string        // key or name of the plugin that it belongs to, "" if none
	skill  *client.Skill // of a plugin, as the client has it; nil if that is not known
}

// choice searches one kind of place for what the client runs.
type choice func(*search) (candidate, bool)

// place returns the candidates in one kind of place of the requirements, in order. It adds
// a step for each thing that it skips.
type place func(*search) []candidate

// plainChoices is the order in which the client looks up a name without a colon: the names
// of folders, then commands, then the names in frontmatters (measured with 2.1.329, facts
// 48, 59, 61 and 65 of docs/internals/client-facts.md). Nested folders come last, because searching
// for them takes longest.
var plainChoices = []choice{
	(*search).byFolder,
	(*search).byCommand,
	(*search).byName,
	(*search).byNestedFolder,
}

// scopedChoices is the order in which the client looks up a name with a colon.
var scopedChoices = []choice{
	(*search).byFolder,
	(*search).byCommand,
	(*search).inPlugin,
	(*search).inScope,
	(*search).byName,
	(*search).byNameInPlugin,
}

// plainPlaces are the places of the requirements for a name without a colon. They are
// searched only if the client has no skill of the name.
var plainPlaces = []place{
	(*search).inProject,
	(*search).inUser,
	(*search).inProjectDir,
}

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
	case s.inSession != nil:
		s.try([]place{(*search).inSessionPlugin})
		return nil
	case s.registryErr != nil:
		return s.withoutRegistry()
	}
	s.try([]place{(*search).inInstallation})
	return nil
}

// isPath reports whether the part before the colon is the path of a nested skill, so not
// a plugin's name. "@scope/x" may be both: some plugins have the name of their npm package
// (measured with 2.1.329, fact 188).
func (s *search) isPath() bool {
	return strings.Contains(s.plugin, "/") && !strings.HasPrefix(s.plugin, "@")
}

// choose tries the choices in order. The first that finds something decides, even if it has
// no fsm.json: one elsewhere belongs to another skill. choose returns false if the client
// has no folder of the name.
func (s *search) choose(choices []choice) bool {
	for _, choice := range choices {
		if c, ok := choice(s); ok {
			s.result.known = true
			if c.folder != "" {
				s.checkOverride(c)
				s.use(c)
			}
			return c.folder != ""
		}
	}
	return false
}

// try searches the places in order until it finds an fsm.json.
func (s *search) try(places []place) {
	for _, place := range places {
		for _, c := range place(s) {
			if s.isRefused(c) {
				continue
			}
			if s.use(c) {
				return
			}
		}
	}
}

// isRefused reports whether the candidate is a plugin's skill that the client does not have under this
// name, although its folder does: a manifest renames it. A name that has been invoked is known to the client, so there the
// folder is used.
func (s *search) isRefused(c candidate) bool {
	isItsOwn := isFile(s.FS, filepath.Join(c.folder, client.SkillFile)) || c.plugin != "" && isFile(s.FS, c.folder+".md")
	if s.Invoked || s.plugin == "" || s.result.known || !isItsOwn {
		return false
	}
	s.step(c.rule, c.folder, OutcomeSkipped, "the client does not have this skill under the name")
	return true
}

// use makes the candidate the result if it has an fsm.json, even one that is not a regular
// file, and reports whether it has.
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

// problem adds a step for a file of the client that cannot be used.
func (s *search) problem(rule Rule, outcome Outcome, err error) {
	path, detail := "", err.Error()
	if f, ok := errors.AsType[*client.FileError](err); ok {
		path, detail = f.Path, f.Err.Error()
	}
	s.step(rule, path, outcome, detail)
}
