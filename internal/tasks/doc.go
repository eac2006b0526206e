// Package tasks changes task lists: [List.Replace] replaces the tasks of a workflow,
// [List.Undo] undoes a replacement.
//
// Which tasks a list should hold is decided by a plan of package fsmspec. The files are changed
// by package txn, which keeps the list consistent through crashes. What the files look like,
// which number is next and how the client's own writers are locked out is known by [Form].
package tasks
