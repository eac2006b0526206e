// Package plugins reads the plugins of the client, Claude Code, from disk: the registry
// of installed plugins, the marketplaces they came from, the settings that enable
// them, and the manifest and skills in a plugin's own directory. Each file cites the
// facts of docs/client-facts.md that it relies on.
//
// It reads through [FS] and never writes. Like the client it accepts unknown members
// and duplicate names, of which the last one counts. It skips an unusable entry and
// reports it as a [FileError]. Errors in JSON have the form path:line:column: message.
//
// Managed settings of an organisation and settings given on the client's command line
// are not read. A [Registry] is not safe for concurrent use.
package plugins
