// Package settings adds this program's hooks to a settings file of the client,
// finds them there, and removes them. It can also set the variable that gives newer
// models task tools; a flag of one hook then records that Add set the variable. In the
// same way it adds this program's MCP server to a configuration file.
//
// The file belongs to its user. Nothing of it is written anew: what is added is put between bytes that stay, with the indent and
// the ends of lines that the file has, and is found and cut out again. So Remove restores the file to the last byte, whatever its form
// (see splice.go), also if the user has changed other parts of it since.
//
//	Add(Add(data)) == Add(data)
//
// # The form of a hook
//
// Each hook is "command" alone, a line of the shell that does nothing if the program is
// missing:
//
//	test ! -x /opt/bin/fsmtx || exec /opt/bin/fsmtx hook --agent=claude
//
// Other agents read these files too, ignore "args", "if" and perhaps "matcher", and run
// "command" in a shell whose standard input is the event (fact 127). Hooks with "args" and lines
// without the condition, which a person may write, are recognised, and are outdated.
//
// # What keeps hooks from running
//
// [Here] finds what keeps the client from running hooks: settings of the person, the project and the
// organisation, variables of the environment, and options of the client's command line (facts 110
// to 114). It reads no settings that an organisation serves or sets by device management, because
// only the client has them.
//
// # Client facts
//
// The numbers are those of docs/internals/client-facts.md, measured with Claude Code 2.1.197
// (fact 24) and 2.1.329 (the others):
//
//   - 24: A hook with "command" and "args" runs without a shell; "command" alone
//     runs through /bin/sh. Timeouts are in seconds. A matcher is a regular
//     expression for the whole name.
//   - 25, 126: A plugin's directory is CLAUDE_PLUGIN_ROOT in its hooks' environment.
//   - 32: Newer models have no task tools unless CLAUDE_CODE_ENABLE_TODO_TOOLS=1 is
//     in the environment or under "env" in a settings file.
//   - 46: The model is not informed when the client kills a hook at its timeout.
//   - 52: Project settings are read from the directory in which the client starts,
//     not from its parents.
//   - 97: The client accepts one byte order mark, an empty file, duplicate names and
//     invalid UTF-8. With a comment or a trailing comma it drops the whole file.
//   - 58: One mistake in the hooks can make the client drop the whole file,
//     permissions included. Therefore a file of an unexpected shape is refused, not
//     edited.
//
// When the client changes a setting it rewrites the file with an indent of two
// spaces, each array element on its own line and a final newline. A new file has that layout. After a rewrite an empty container that
// was there before is not told from one that Add has made, and goes; for the client it has no effect.
//
// # Limits
//
// Files with duplicate names or an unexpected shape are refused. So are those with comments where the client or the
// agent does not read these: see Strict. Neither takes a lock on its settings; safefile.Edit documents how a file is
// replaced, what is kept, and what happens to a concurrent change of another program: the file is compared immediately before the
// rename, and changed again from what it is then.
package settings
