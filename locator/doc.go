// Package locator finds the fsm.json of a skill by the name that the skill was
// invoked with, in the folder that Claude Code itself runs, and explains every step
// of the search.
//
// It reads through an [FS], the operating system's or another, and never writes. It
// does not parse fsm.json.
//
// # Lookup
//
// The client takes a folder with a SKILL.md for a skill. The search predicts which folder
// the client runs, and uses the fsm.json there. If that folder has none, the skill has no
// tasks, even if another folder of the same name has one. A name without a colon is
// looked up in
//
//	{managed}/.claude/skills/{skill}
//	{config}/skills/{skill}
//	{start}/.claude/skills/{skill}, and in the same place of each parent
//	{added}/.claude/skills/{skill}
//
// where start is CLAUDE_PROJECT_DIR, or cwd if that is unknown. The search of the parents
// ends at the root of the git repository, which is included, or at HOME, which is not. After
// the root of a linked work tree that has no .claude/skills comes that of the main one. If
// none of these folders has a SKILL.md, the first of the following is taken: a command in
// these places; a skill in these places whose frontmatter has the name, in the same order; a
// plugin's skill whose frontmatter has the name; the only skill of this name in a
// .claude/skills below start.
//
// A name with a colon, {plugin}:{skill}, belongs to a plugin of --plugin-dir, an installed
// one, or one that is a folder of skills; or to a nested skill:
//
//	{plugin}/commands/{skill}.md, whose fsm.json is in commands/{skill}
//	{plugin}/commands/{skill}/SKILL.md
//	{plugin}/skills/{skill}, with "-" for each character that is not a letter, a digit, "_" or "-"
//	a folder that "skills", or a file that "commands", of the plugin.json or of the marketplace's entry names
//	{start}/{plugin}/.claude/skills/{skill}
//
// and after all of these to a skill of the plugin whose frontmatter has the name. {plugin} is
// the name in plugin.json, or else in the marketplace's entry. Where the two are different,
// every plugin.json is read, after everything else. If the plugin has several
// installations, the one that comes first in enabledPlugins takes precedence; of those of one
// key there the first in the registry that is of everyone, of start or of its repository. Of
// plugins that enabledPlugins does not name, which the client does not load, local scope takes
// precedence over project over user, then one that has the skill, then the one updated last.
//
// # Cost
//
// A folder of the user or the project is found with a few calls for each place. A name with a
// colon reads the files of the plugin that it names, and the manifest of its marketplace. Only a
// name in a frontmatter needs more: each skill of the user and the project is checked for an
// fsm.json, then each plugin for a folder of the name, and the skills of the plugins only if
// none has it. [Locator.ListedAs], which the hook has from the transcript, saves that: a name that
// the client lists is not one that only a frontmatter has, and of another it tells the skill. Not
// listed are a plugin's skills without a description, which are rarely called by another name
// than their folder's.
//
// # Folders without a SKILL.md
//
// If the client has no skill of the name, an fsm.json in a folder without a SKILL.md is
// used. The requirements give the order, and the first of these folders with an fsm.json
// is taken:
//
//	{cwd}/.claude/skills/{skill}
//	{config}/skills/{skill}
//	{start}/.claude/skills/{skill}
//
// For a plugin's skill the folders are skills/{skill} and commands/{skill} of the
// installation, or those above if no installation applies. A malformed registry of
// plugins is an error, and so is a missing one unless plugin directories are given.
//
// # Caveats
//
// The client knows a nested skill only after the model has read a file beside it, which
// this package cannot observe. The search for nested skills visits at most 250
// directories and skips hidden ones and node_modules; a name with the directory and a
// colon needs no search. If a nested folder and the frontmatter of another skill have the
// same name, the frontmatter takes precedence, or the folder if the name has a colon. A
// nested skill is not found by a frontmatter name that has a colon.
//
// A plugin that is a zip archive is not searched. Whether the client trusts the project, which
// it requires of a plugin in a project's folder of skills, is not read.
//
// The client's files are private to it and may change with any version: the order was
// measured with 2.1.329 (facts 48 to 51, 59 to 61, 65, 120 to 125 and 185 of
// docs/client-facts.md).
// Settings of an organisation and those given with the client's --settings are not
// read. [Result.Certain] reports whether the result depends on the client's --plugin-dir
// and --add-dir options, which a hook may not know.
//
// Paths are compared byte by byte, even on file systems that ignore case.
package locator
