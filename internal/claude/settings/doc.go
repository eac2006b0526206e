// Package settings adds this program's hooks to a settings file of the client,
// finds them there, and removes them. It can also set the variable that gives newer
// models task tools; a flag of one hook then records that Add set the variable. In the
// same way it adds this program's MCP server to a configuration file.
//
// The file belongs to its user. Every other byte in it is kept, and removing the hooks
// restores the file as it was before:
//
//	Remove(Add(data)) == data      if data holds none of the hooks
//	Add(Add(data)) == Add(data)
//
// # Who created an empty container
//
// Adding a hook may create containers: the list of an event, the "hooks" object,
// the file. Removing the hook must remove those too, but not a container that the user
// had created and that was empty. The white space before the first element of a
// container records who created it, so no record is needed beside the file:
//
//   - None: the user created the container, and it was empty. The white space that was
//     between its brackets now follows the new element and remains after removal.
//   - Some: Add created the container, and Remove removes it when it is empty.
//
// The top object is a container too: if Add created it and it is empty again, the file
// is removed. A file that Add created ends in a newline. A file that was blank, which
// the client accepts, gets no newline, and Remove restores its white space. In a created
// file the value of the first member has one space before it, plus one for each
// directory that was created for the file; see CreatedDirs. File.Replace removes those
// directories with the file if they are empty.
//
// # The form of a hook
//
// Each hook is "command" alone, a line of the shell that does nothing if the program is
// missing:
//
//	test ! -x /opt/bin/fsmtx || exec /opt/bin/fsmtx hook --agent=claude
//
// Other agents read these files too, ignore "args", "if" and perhaps "matcher", and run
// "command" in a shell whose standard input is the event (fact 127). Hooks with "args", which
// earlier versions wrote, and lines without the condition are recognised, and are outdated. So
// are the hooks of versions that registered several commands for one event; they are removed
// when the others are added.
//
// # Client facts
//
// The numbers are those of docs/client-facts.md, measured with Claude Code 2.1.197
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
// spaces, each array element on its own line and a final newline. New files have
// that layout too. After such a rewrite an empty container of the user is
// indistinguishable from one that Add created and is removed with the hooks. For the
// client an empty container has no effect.
//
// # Limits
//
// Files with comments, duplicate names or an unexpected shape are refused. The client
// takes no lock on its settings; edit.File documents how a file is replaced, what is
// kept, and what happens to a concurrent change of another program.
package settings
