// Package plugins knows how Claude Code keeps plugins on disk: the registry of
// installed plugins, the marketplaces they came from, the settings that enable
// them, and the manifest and skills in a plugin's own directory. Each file cites the
// facts of docs/client-facts.md that it relies on.
//
// It reads through [FS] and never writes. It tolerates what the client tolerates:
// unknown members, equal names of which the last is taken, and entries that are
// unusable, which it skips and reports as a [FileError]. Mistakes in JSON have the
// form path:line:column: message.
//
// The settings of an organisation and those given on the client's command line
// are not read. A [Registry] is not safe for concurrent use.
package plugins
