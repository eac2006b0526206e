// Package faultfs wraps a file system so that a chosen operation fails, or so that
// the process is killed before that operation. It is for tests of programs that use
// package txn, and for demonstrations of a crash.
//
// [Steps] is the general form: it calls a function before each operation, which may
// make the operation fail. [Freeze] makes the nth step and all later ones fail, [Fail]
// only the nth; [Kill] and [KillWhen] kill the process.
//
// A step is one operation that changes names or bytes. With Steps.Reads set, operations
// that read are steps too. vfs.FS.WriteNew is three steps: the file is created, written
// and synced.
package faultfs
