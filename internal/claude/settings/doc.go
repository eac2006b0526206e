// Package settings adds this program's hooks to a settings file of the client,
// finds them there, and removes them. It can also set the variable that gives newer
// models task tools; a flag of one hook then records that the variable is ours.
//
// The file belongs to its user. Everything else in it keeps every byte, and
// removing the hooks restores the bytes from before:
//
//	Remove(Add(data)) == data      if data holds none of the hooks
//	Add(Add(data)) == Add(data)
//
// # Who created an empty container
//
// Adding a hook may create containers: the list of an event, the "hooks" object,
// the file. Removing it must remove those too, but not a container that was there
// before and was empty. The white space before the first element of a container
// tells the two apart, so no record is needed beside the file:
//
//   - None: the user created the container, and it was empty. The white space
//     between its brackets now follows the new element and is what remains after
//     removal.
//   - Some: Add created the container, and Remove removes it when it is empty.
//
// The object itself is a container too: if Add created it and it is empty again, the
// file goes. A file that Add created ends in a newline; one that was blank, which the
// client accepts, gets no newline, and Remove restores its white space. The value of the
// first member of a created file has one space before it, plus one for each directory
// that was created for the file; Remove lets the caller remove those directories if
// they are empty.
//
// # Client facts
//
// The numbers are those of docs/client-facts.md, measured with Claude Code 2.1.197
// (fact 24) and 2.1.329 (the others):
//
//   - 24: A hook with "command" and "args" runs without a shell; "command" alone
//     runs through /bin/sh. Timeouts are in seconds. A matcher is a regular
//     expression for the whole name. "${CLAUDE_PLUGIN_ROOT}" is expanded in a
//     plugin's hooks.
//   - 32: Newer models have no task tools unless CLAUDE_CODE_ENABLE_TODO_TOOLS=1 is
//     in the environment or under "env" in a settings file.
//   - 46: The model hears nothing of a hook that the client kills at its timeout.
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
// that layout too. After such a rewrite an empty container of the user's looks like
// one that Add created and is removed with the hooks; to the client it means
// nothing.
//
// # Limits
//
// Files with comments, duplicate names or an unexpected shape are refused. How a file is
// replaced, what it keeps, and what happens to a change that another program makes at
// the same time, is told by safefile.Edit: the client takes no lock on its settings.
package settings
