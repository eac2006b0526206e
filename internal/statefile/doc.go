// Package statefile keeps small files that several processes of one user share,
// in a directory where other users may write as well (by default /tmp): counters,
// locks, logs.
//
// A file is changed by reading it, computing its successor and replacing it, under
// an exclusive lock on a file beside it (its name and ".lock", never removed). A
// reader sees the old content or the new, never a mix. Only a regular file that
// this user owns is read, locked or appended to; a symbolic link in its place is
// refused, not followed.
//
// It is not for large files (each change rewrites the whole file), not for several
// files that must change together, and not for NFS, where flock may be local.
// Processes that do not take the lock are not excluded.
package statefile
