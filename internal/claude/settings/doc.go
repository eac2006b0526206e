// Package install puts the hooks of this program into a settings file of the
// client, finds them there again, and takes them out.
//
// The file belongs to its user. What goes in goes in beside what is there, byte
// for byte, and taking it out gives back the bytes from before:
//
//	Remove(Add(data)) == data    if none of the hooks was there
//	Add(Add(data)) == Add(data)
//
// # Whose an empty container is
//
// Putting a hook in may make containers: the list of an event, the "hooks"
// object, the whole file. Taking it out must take those along and leave alone
// a container that was there before and was empty. The white space before the
// first thing in a container tells the two apart, so the file itself remembers
// and nothing else has to:
//
//   - None: the container was the user's and was empty. What stood between its
//     brackets now stands behind what went in, and is all that is left after.
//   - Some: the container is ours, and goes when it is empty again.
//
// A file that was absent is recognised as a whole: it is exactly what Add writes
// for no file. It ends in one newline, and in one more for every directory that
// had to be made for it; those directories go with it, if they are empty.
//
// The client rewrites its settings when it changes one (observed with 2.1.329: an
// indent of two spaces, every array over lines, a final newline), and what is
// written here looks the same. After that an empty container of the user's
// cannot be told from one of ours and goes too; to the client it meant nothing.
//
// # What it is not for
//
// It does not edit JSON with comments, and settles no quarrel with the file's
// grammar: what is not plain JSON, or is JSON of another shape, is refused. It
// keeps the mode and what a symbolic link points to, not hard links, owners or
// extended attributes. It takes no lock, for the client takes none; a change that
// somebody makes in the very moment of the rename is lost.
package settings
