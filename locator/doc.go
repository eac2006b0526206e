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
// A name with a colon, {plugin}:{skill}, belongs to a plugin of --plugin-dir or an installed
// one, or to a nested skill:
//
//	{plugin}/commands/{skill}.md, whose fsm.json is in commands/{skill}
//	{plugin}/commands/{skill}/SKILL.md
//	{plugin}/skills/{skill}, with "-" for each character that is not a letter, a digit, "_" or "-"
//	a folder that "skills", or a file that "commands", of the plugin.json or of the marketplace's entry names
//	{start}/{plugin}/.claude/skills/{skill}
//
// and after all of these to a skill of the user or the project, or of the plugin, whose frontmatter has the name. {plugin}
// is the name in plugin.json, or else in the marketplace's entry. Of several
// installations of the plugin local scope takes precedence over project over user scope, then the one updated last.
//
// # What is not predicted
//
// The client has more rules: for links, for a plugin's name in two marketplaces, for skills that a second plugin lists, for two
// skills of one name in their frontmatters or of one folder's name, for manifests with mistakes, for names of commands that a
// manifest gives, for the root of a marketplace's plugins, for directories of plugins, for folders of skills that are plugins,
// and for the scopes of added directories. They are rare, and the client says itself which folder it runs a moment later. The
// hook compares that with the
// prediction before the next task tool is used and at the end of the turn, and corrects the tasks.
//
// # Cost
//
// A folder of the user or the project is found with a few calls for each place. A name with a
// colon reads the files of the plugin that it names, and the manifest of its marketplace. Only a
// name in a frontmatter needs more: each skill is checked for an fsm.json, and the frontmatters of those that have one
// are read. [Locator.Listed], which the hook has from the transcript, saves that for the client's own skills.
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
// colon needs no search.
//
// A plugin that is a zip archive is not searched.
//
// The client's files are private to it and may change with any version: the order was
// measured with 2.1.329 (facts 48 to 51, 59 to 61, 65 and 120 to 125 of
// docs/internals/client-facts.md).
// Settings of an organisation and those given with the client's --settings are not
// read. [Result.Certain] reports whether the result depends on the client's --plugin-dir
// and --add-dir options, which a hook may not know.
//
// Paths are compared byte by byte, even on file systems that ignore case.
package locator
