// Package plugin writes a complete plugin of the client: its manifest, a marketplace that
// offers it, its hooks, this program, and skills. Nothing else has to be installed.
//
// A Plugin is a list of parts; writing it does not depend on what the parts do.
//
// Files are written one by one, each atomically. After a crash some may be missing or
// outdated; writing the plugin again completes it. The manifest, the hooks file and the file
// of the MCP server are merged with the author's changes. All other files are replaced as a
// whole or kept.
//
// The package relies on these facts about the client (docs/client-facts.md): it expands
// ${CLAUDE_PLUGIN_ROOT}, the plugin's directory, in hooks (24), and one mistake in hooks.json
// disables the plugin's hooks (58).
package plugin
