// Package locator finds the fsm.json of a skill by the name the skill was
// invoked with, where Claude Code finds the skill itself, and reads what the
// client keeps on disk about its plugins: the registry of installed plugins,
// the marketplaces they came from and the settings that switch them.
//
// It reads through [FS], which is the operating system's or any other, and
// never writes. It does not parse fsm.json, does not know what a task is and
// does not decide what an error means to the client.
//
// # The lookup
//
// A name without a colon is a skill of the project or of the user:
//
//	{cwd}/.claude/skills/{skill}/fsm.json
//	{config}/skills/{skill}/fsm.json
//
// A name with a colon, {plugin}:{skill}, is looked for in the installation of
// the plugin that goes first: local scope before project before user, then the
// one that has the skill, then the one updated last.
//
//	{install}/skills/{skill}/fsm.json
//	{install}/commands/{skill}/fsm.json
//
// If no installation applies, the two places of a plain name are tried with
// {skill}. If the registry is missing or malformed, that is an error. What the
// client does beyond this is followed only where the above finds nothing:
// CLAUDE_PROJECT_DIR, directories given with --plugin-dir, nested commands and
// the names that plugin skills give themselves in their frontmatter. Every
// step taken is in [Result].
//
// # Caveats
//
// The files of the client are its own and may change with a version of it; the
// formats read here are the two of installed_plugins.json (an array, and an
// object of version 2), known_marketplaces.json, marketplace.json, plugin.json
// and enabledPlugins of settings.json. Settings of an organisation and those
// given on the client's command line are not read.
//
// Paths are compared byte by byte, also on filesystems that ignore case.
// Everything here is safe for concurrent use if the filesystem is.
package locator
