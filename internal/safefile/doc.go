// Package safefile reads files that other programs may have put in place, and
// changes single files durably.
//
// Reading never blocks on a FIFO or a device and never exceeds the caller's limit.
// After a crash a written file holds the old content or the new content, whole.
//
// # Editing a file of somebody else's
//
// An Edit replaces a file that other programs write too, without a lock that they would
// know of. The new content is written beside the file, with its owner, group, permissions
// and extended attributes, and the two are exchanged in one step. What comes back is
// looked at: if it is not the file that was read, somebody has replaced that meanwhile,
// and the exchange is taken back. On Linux leases close what gaps are left: no program
// can open the old file for writing while it is replaced, and none reads the new one
// before it is known that it stays. Where there are none, as on darwin, a program that
// writes over the old file after the last look loses its write, and one that reads in the
// moment between an exchange and its being taken back reads our version.
//
// A killed edit leaves its work directory, ".fsmtx-edit-" and the file's name, beside the
// file or, if it was creating or removing directories, beside the first of those. The
// next edit ends or removes what is there; Sweep does only that.
//
// # What it is not for
//
// Several files that must change together are a transaction (package txn). Write and
// Replace take no lock, and the later of two writers wins: they are for this program's own
// files.
package safefile
