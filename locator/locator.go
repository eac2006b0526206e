package locator

import "strings"

// Locator says where to look. Its paths are absolute; an empty one is not
// looked at.
type Locator struct {
	Fs         FS
	ConfigDir  string   // the client's: CLAUDE_CONFIG_DIR or ~/.claude
	ProjectDir string   // CLAUDE_PROJECT_DIR: where the client was started
	PluginDirs []string // what the client was given as --plugin-dir
}

// Result is what a lookup came to, and how.
type Result struct {
	Command string `json:"command"`
	Path    string `json:"path"`   // the fsm.json, "" if there is none
	Plugin  string `json:"plugin"` // plugin@marketplace, the bare name of one from a plugin directory, or ""
	Steps   []Step `json:"steps"`  // in the order they were taken
}

// Found reports whether there is an fsm.json. It is there, which does not mean
// that it can be read.
func (r Result) Found() bool { return r.Path != "" }

// Step is one thing that was looked at.
type Step struct {
	Rule    string `json:"rule"`    // one of the Rule constants
	Path    string `json:"path"`    // what was looked at, "" if there was no path to look at
	Outcome string `json:"outcome"` // one of the outcomes
	Detail  string `json:"detail"`  // in words, for people; may be empty
}

// Rules a step can be taken by, in the order of the lookup.
const (
	RuleRegistry      = "plugin registry"   // which installation of the plugin goes first
	RuleSettings      = "settings"          // which plugins are switched off
	RuleMarketplace   = "marketplace"       // whether the plugin is read from a source tree
	RulePluginSkill   = "plugin skill"      // skills/ of a plugin
	RulePluginCommand = "plugin command"    // commands/ of a plugin
	RuleProject       = "project skill"     // .claude/skills of cwd
	RuleUser          = "user skill"        // skills of the configuration directory
	RuleNested        = "nested command"    // a:b:c as commands/b/c of plugin a
	RulePluginDir     = "plugin directory"  // a plugin given with --plugin-dir
	RuleProjectDir    = "project directory" // the same for CLAUDE_PROJECT_DIR as for cwd
	RuleAlias         = "alias"             // a plugin's skill by the name in its frontmatter
)

// Outcomes of a step.
const (
	Used    = "used"    // this is the result
	Found   = "found"   // there, and the lookup goes on from it
	Absent  = "absent"  // not there
	Skipped = "skipped" // not looked at, or passed over for another; the detail says why
	Failed  = "failed"  // there, and of no use; the detail says why
)

// Locate finds the fsm.json of the skill invoked as command in the directory
// cwd, which may be gone by now, or empty if it is not known.
//
// The result's Path is always below one of the directories looked in. What has
// the name but cannot be read is a result too, so that reading it says why. No
// fsm.json at all is no error. The error is a [*NameError] if the name is
// refused, before any path is made of it, or a [*RegistryError] if a plugin's
// skill cannot be looked for; the result then still has the steps.
func (l *Locator) Locate(command, cwd string) (Result, error) {
	s := &search{Locator: l, cwd: cwd, result: Result{Command: command}}
	err := CheckName(command)
	if err == nil {
		err = s.run(command)
	}
	return s.result, err
}

func (s *search) run(command string) error {
	if plugin, skill, ok := strings.Cut(command, ":"); ok {
		return s.pluginSkill(plugin, skill)
	}
	s.plainSkill(command)
	return nil
}
