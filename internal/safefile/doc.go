// Package safefile is where files are opened, written and locked.
//
// A [Dir] is a directory that is held open: names in it are resolved from its descriptor.
// [Unheld] resolves paths as usual. Reading never blocks on a FIFO or a device and never
// exceeds the caller's limit. [Replace] leaves the old content or the new after a crash,
// whole. [Lock] waits for a lock until a context is done.
//
// A killed Replace leaves renameio's temporary file beside the file, called ".fsmtx-write-", the
// file's name and a number. [Leftovers] finds it when it is an hour old.
//
// # Limits
//
// Several files that must change together need a transaction (package txn). Write and
// Replace take no lock, and the later of two writers wins: they are for this program's own
// files.
//
// A file that other programs write too, and that no lock protects, needs an [Edit]. It holds a lock
// on the directory, which other edits wait for. It compares the file with what was read, and
// replaces it by a rename: a crash leaves the old content or the new, whole. A change that another
// program has made since the file was read is noticed. One that it makes between the comparison and
// the rename, which are microseconds apart, is lost.
package safefile
