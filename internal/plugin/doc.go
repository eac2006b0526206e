// Package plugin writes a complete plugin of the client: its manifest, a
// marketplace that offers it, its hooks, this program, and the skills that go with
// them. Nothing else has to be installed.
//
// A Plugin is a list of parts; writing it does not depend on what the parts do.
//
// A file is replaced whole or not at all; there is no merging with a user's changes.
// Files are written one by one, each atomically. After a crash some may be missing or
// outdated; writing the plugin again completes it.
//
// Client facts (docs/client-facts.md) it rests on: a plugin's hooks find its folder in
// ${CLAUDE_PLUGIN_ROOT}, which the client expands (24), and one mistake in hooks.json
// disables the plugin's hooks (58).
package plugin
