// Package client is what this program knows of the client, Claude Code: where its configuration, plugins
// and transcripts are, and what is in them. Comments cite facts by their number in docs/internals/client-facts.md,
// with the version of the client that each was measured on.
//
// # Events
//
// [Read] parses the JSON object that the client writes to a hook's standard input. An [Answer] is what the
// hook returns: standard output, standard error, exit code. What a hook does at an event is decided elsewhere.
//
// # Options
//
// Options of the client that no event contains are read from its command line: --add-dir and --plugin-dir
// (fact 29, client 2.1.197; fact 50, client 2.1.329), the session that goes on, and what decides whether the
// client runs hooks and writes a transcript. A hook has the client's process number in CLAUDE_PID (fact 41,
// client 2.1.329). Linux and macOS let a process read the command line of another process of the same user.
//
// # Plugins
//
// Plugins are read from disk: the registry
// of installed plugins, the marketplaces they came from, the settings that enable
// them, and the manifest and skills in a plugin's own directory. Each file cites the
// facts of docs/internals/client-facts.md that it relies on.
//
// They are read through [FS] and never written. Like the client it accepts unknown members
// and duplicate names, of which the last one counts. It skips an unusable entry and
// reports it as a [FileError]. Errors in JSON have the form path:line:column: message.
//
// Managed settings of an organisation and settings given on the client's command line
// are not read. A [Registry] is not safe for concurrent use.
//
// # Transcripts
//
// The client keeps a transcript of a session: one
// JSON object per line, for messages of the user and the model, results of tools
// and attachments. Lines are read from the last to the first, because a transcript
// can have hundreds of megabytes and the needed lines are near its end.
//
// The format is not documented; it was measured with client 2.1.329 (facts 47 and 62 of
// docs/internals/client-facts.md). Lines of another form are skipped, and a transcript that cannot
// be read counts as empty. Nothing here writes, or blocks on a file that is
// not regular.
//
// Here is also read why a turn of the agent ends: because the person said stop, because the agent
// asks the person something, or because another agent is still working. Every hook that may keep
// a turn from ending decides by these functions, so that they agree. They know four words for
// stop and English for a part, and understand nothing else: a reminder is given once per state of
// progress, so that what they miss costs one. Other words for stop are configured.
package client
