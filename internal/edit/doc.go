// Package edit replaces a file that other programs write too, and that no lock protects.
//
// The new content is written beside the file, with its owner, group, permissions and extended
// attributes, and the two files are exchanged atomically. Then the file that came back is
// checked: if it is not the file that was read, another program has replaced that one
// meanwhile, and the exchange is reverted. After a crash the file holds the old content or
// the new, whole.
//
// On Linux leases close the remaining gaps: no program can open the old file for writing
// while it is being replaced, and none can read the new file before the check. Without
// leases, as on darwin, a program that writes into the old file after the check loses its
// write, and a program that reads between an exchange and its reversal reads our version.
//
// A killed edit leaves a work directory, called ".fsmtx-edit-" and the file's name. It is
// beside the file or, if the edit created or removed directories, beside the outermost of
// them. The next edit completes or reverts the killed one; Sweep does only that. Leftovers
// finds what killed edits and writes left in a directory.
package edit
