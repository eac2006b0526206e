// Package locator finds the fsm.json of a skill by the name that the skill was
// invoked with, in the folder that Claude Code itself runs, and explains every step
// of the search.
//
// It reads through an [FS], the operating system's or another, and never writes. It
// does not parse fsm.json and knows nothing of tasks.
//
// # Lookup
//
// A folder with a SKILL.md is a skill to the client. The search predicts which one it
// runs, and uses the fsm.json in it. If there is none, the skill has no tasks,
// whatever lies elsewhere. A name without a colon is looked up in
//
//	{config}/skills/{skill}
//	{start}/.claude/skills/{skill}, and in the same place of each parent
//	{added}/.claude/skills/{skill}
//
// where start is CLAUDE_PROJECT_DIR, or cwd if that is unknown. The parents end at the
// root of the git repository and below HOME. If no folder has the name, it is one in
// the frontmatter of a skill in these places, in the same order, then one in the
// frontmatter of a plugin's skill, then that of the only skill of this name in a
// .claude/skills below start.
//
// A name with a colon, {plugin}:{skill}, belongs to a plugin of --plugin-dir or an
// installed one, or to a nested skill:
//
//	{plugin}/commands/{skill}.md, whose fsm.json is in commands/{skill}
//	{plugin}/skills/{skill}, also by the name in its frontmatter
//	{start}/{plugin}/.claude/skills/{skill}
//
// Of several installations the one that enabledPlugins has first takes precedence, then
// that of local scope over project over user, then the one that has the skill, then the
// one updated last.
//
// # Folders without a SKILL.md
//
// Only if the client has no folder of the name is an fsm.json in another folder used.
// The first of these places has it, as the requirements say:
//
//	{cwd}/.claude/skills/{skill}
//	{config}/skills/{skill}
//	{start}/.claude/skills/{skill}
//
// For a plugin's skill the places are skills/{skill} and commands/{skill} of the
// installation, and those above if no installation applies. A malformed registry of
// plugins is an error, and so is a missing one unless plugin directories are given.
//
// # Caveats
//
// The client knows a nested skill once the model has read a file beside it, which cannot
// be seen here. The search for one visits at most 250 directories, and not those
// that are hidden or called node_modules; a scoped name needs no search. If a nested
// folder and a frontmatter have one name, the frontmatter is taken for the client's
// choice, and the folder if the name has a colon. A nested skill with a colon in its
// frontmatter name is not found by it.
//
// The client's files are private to it and may change with any version: the order was
// measured with 2.1.329 (facts 48 to 51, 59 to 61 and 65 of docs/client-facts.md).
// Settings of an organisation and those given on the client's command line are not
// read. [Result.Certain] tells whether the client's --plugin-dir and --add-dir options,
// which a hook may not know, could change the result.
//
// Paths are compared byte by byte, even on file systems that ignore case.
package locator
