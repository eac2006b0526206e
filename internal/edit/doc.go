// Package edit replaces a file that other programs write too, and that no lock protects.
//
// An edit holds a lock on the directory, which other edits wait for. It compares the file with what
// was read, and replaces it by a rename: a crash leaves the old content or the new, whole. A change
// that another program has made since the file was read is noticed. One that it makes between the
// comparison and the rename, which are microseconds apart, is lost.
package edit
