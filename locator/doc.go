// Package locator finds the fsm.json of a skill by the name that the skill was
// invoked with, where Claude Code finds the skill itself, and explains every step
// of the search.
//
// It reads through an [FS], the operating system's or another, and never writes. It
// does not parse fsm.json and knows nothing of tasks.
//
// # Lookup
//
// A name without a colon is a skill of the project or of the user:
//
//	{cwd}/.claude/skills/{skill}/fsm.json
//	{config}/skills/{skill}/fsm.json
//
// A name with a colon, {plugin}:{skill}, belongs to an installed plugin. Of several
// installations that apply in cwd the one of local scope takes precedence over
// project over user, then the one that has the skill, then the one updated last.
//
//	{install}/skills/{skill}/fsm.json
//	{install}/commands/{skill}/fsm.json
//
// If no installation applies, {skill} is looked for like a name without a colon. A
// missing or malformed registry of plugins is an error.
//
// Further places of the client are searched only if these have no fsm.json:
// CLAUDE_PROJECT_DIR, the directories given with --plugin-dir, nested commands, and
// the names that the skills of plugins give themselves in their frontmatter.
//
// # Caveats
//
// This order is the documented one. The client's own differs: the user's folder takes
// precedence over the project's, parents of the start directory are searched too, and
// of two marketplaces the first in enabledPlugins is taken (measured with 2.1.329, facts
// 48 to 51 of docs/client-facts.md). None of this is followed yet.
//
// The client's files are private to it and may change with any version. Settings of
// an organisation and those given on the client's command line are not read.
//
// Paths are compared byte by byte, even on file systems that ignore case.
package locator
