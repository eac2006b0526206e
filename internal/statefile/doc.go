// Package statefile keeps small files that several processes of one user share,
// in a directory where others may write too (the default is /tmp): counters,
// locks, logs.
//
// A file is changed by reading it, computing its successor and replacing it,
// under an exclusive lock on a file beside it (its name and ".lock", never
// removed). A reader sees the old content or the new one, never half of one.
// Nothing is read, locked or appended to unless it is a regular file that
// belongs to this user; a symlink in its place is refused, never followed.
//
// It is not for large files (each change rewrites the whole), not for several
// files that must change together, and not for NFS, where flock may be local.
// Processes that do not take the lock are not held off.
package statefile
