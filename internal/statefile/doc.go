// Package statefile keeps small files that several processes of one user share:
// counters, locks, logs. Other users may be able to write to the directory (by default
// /tmp).
//
// Update reads a file, computes the new content and replaces the file, under an exclusive
// lock on a file beside it (its name and ".lock", never removed). A reader gets either the
// old content or the new. Only regular files that this user owns are read, locked or
// appended to; a symbolic link is refused, not followed.
//
// The package is not for large files (each change rewrites the whole file), not for
// several files that must change together, and not for NFS, where flock may be local.
// Processes that do not take the lock are not excluded.
package statefile
