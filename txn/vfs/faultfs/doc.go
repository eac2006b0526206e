// Package faultfs wraps a file system so that a chosen operation fails, or so that
// the process dies ahead of it. It is for tests of programs that use package txn,
// and for showing what a crash looks like.
//
// [Steps] is the general form: a function is called ahead of each operation and
// may make it fail. [Freeze] lets nothing happen from the nth step on, [Fail] fails
// the nth step only, and [Kill] and [KillWhen] end the process.
//
// A step is one system call that changes names or bytes, or one that reads if Reads
// is set. vfs.FS.WriteFile is several steps: the temporary file is created, written,
// synced and renamed.
package faultfs
