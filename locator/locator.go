package locator

// Locator says where to look. Its directories are absolute paths; an empty one is
// not searched. A Locator is safe for concurrent use if its FS is.
type Locator struct {
	FS         FS
	ConfigDir  string   // the client's: CLAUDE_CONFIG_DIR or ~/.claude
	ManagedDir string   // an organisation's: /etc/claude-code
	ProjectDir string   // CLAUDE_PROJECT_DIR: where the client was started
	Home       string   // HOME, where the search in parent directories ends
	PluginDirs []string // the client's --plugin-dir options
	AddDirs    []string // the client's --add-dir options
	Sources    []string // the client's --setting-sources: some of user, project and local; nil without it

	// Invoked says that the client has run the command. It then knows the name, which is
	// not ambiguous, and of a name that only a frontmatter has the skills without an fsm.json are not read.
	Invoked bool

	// Listed, if not nil, reports whether the client lists a skill by a name that was invoked. Such a name is not one that
	// only a frontmatter has: the client has a skill of its own by it.
	Listed func(name string) bool
}

// Result is the outcome of a search and how it was reached.
type Result struct {
	Command string `json:"command"`
	Path    string `json:"path"`   // the fsm.json, "" if there is none
	Plugin  string `json:"plugin"` // plugin@marketplace, the name of a plugin from PluginDirs, or ""
	Steps   []Step `json:"steps"`  // in the order they were taken

	known   bool
	certain bool
	runs    string
	off     string
}

// Off says, for people, which setting switches the skill off, so that the client runs it for nobody; ""
// if none does.
func (r Result) Off() string { return r.off }

// Known reports whether the name has an fsm.json, or is that of a skill or command without
// one.
func (r Result) Known() bool { return r.known || r.Found() }

// Runs returns the path of the SKILL.md or of the command file that the client runs, even
// if it has no fsm.json, or "" if that is not known.
func (r Result) Runs() string { return r.runs }

// Certain reports whether the result would be the same with any PluginDirs and AddDirs. It
// returns true for a skill of the user or the project, because the client looks there first.
func (r Result) Certain() bool { return r.certain }

// Found reports whether there is an fsm.json. It may still be unreadable.
func (r Result) Found() bool { return r.Path != "" }

// Step is one place that was searched, or a decision about one.
type Step struct {
	Rule    Rule    `json:"rule"`
	Path    string  `json:"path"` // "" if the place has no path
	Outcome Outcome `json:"outcome"`
	Detail  string  `json:"detail"` // for people; may be empty
}

// Rule is the kind of place that a step searches.
type Rule string

// The rules, in the order of the search.
const (
	RuleManaged        Rule = "managed skill"     // .claude/skills of the organisation's directory
	RuleUser           Rule = "user skill"        // skills/ of the configuration directory
	RuleProject        Rule = "project skill"     // .claude/skills of the start directory
	RuleParent         Rule = "parent skill"      // .claude/skills of one of its parents
	RuleMainWorkTree   Rule = "main work tree"    // .claude/skills of the main work tree of a linked one that has none
	RuleAddDir         Rule = "added directory"   // .claude/skills of one of AddDirs
	RuleCommand        Rule = "command"           // a command of the project, the user or the organisation
	RuleFrontmatter    Rule = "frontmatter"       // a skill of one of these places by the name in its frontmatter
	RuleAlias          Rule = "alias"             // a plugin's skill by the name in its frontmatter
	RuleNestedSkill    Rule = "nested skill"      // .claude/skills below the start directory
	RuleRegistry       Rule = "plugin registry"   // which installation of the plugin takes precedence
	RuleSettings       Rule = "settings"          // which plugins are disabled
	RuleMarketplace    Rule = "marketplace"       // whether the plugin is read from a source tree
	RulePluginSkill    Rule = "plugin skill"      // skills/ of a plugin
	RulePluginCommand  Rule = "plugin command"    // commands/ of a plugin
	RuleNested         Rule = "nested command"    // a:b:c as commands/b/c of plugin a
	RulePluginDir      Rule = "plugin directory"  // a plugin from PluginDirs, or in a folder of skills
	RulePluginManifest Rule = "plugin manifest"   // whether the client loads the plugin
	RuleProjectDir     Rule = "project directory" // .claude/skills of ProjectDir, and the plugins that apply there
)

// Outcome is the result of a step.
type Outcome string

// The outcomes.
const (
	OutcomeUsed    Outcome = "used"    // the result
	OutcomeFound   Outcome = "found"   // exists; the search continues from it
	OutcomeAbsent  Outcome = "absent"  // does not exist
	OutcomeSkipped Outcome = "skipped" // not searched; Detail says why
	OutcomeFailed  Outcome = "failed"  // exists but is unusable; Detail says why
)

// Locate finds the fsm.json of the skill that was invoked as command in the
// directory cwd. cwd may no longer exist, and is empty if it is unknown. Finding
// none is not an error.
//
// Result.Path is always below one of the directories searched. An fsm.json that
// cannot be read is found too, so that reading it returns the cause.
//
// Errors: [*NameError] if the name cannot be that of a skill; no path is made from it.
// [*RegistryError] if the registry of plugins, which most names with a colon need, cannot
// be used. Beside an error the result has the steps that were taken before.
func (l *Locator) Locate(command, cwd string) (Result, error) {
	s := l.search(command, cwd, &shared{})
	err := CheckName(command)
	if err == nil {
		err = s.run()
	}
	return s.result, err
}
