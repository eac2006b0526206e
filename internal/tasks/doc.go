// Package tasks changes task lists: [List.Replace] replaces the tasks of a workflow,
// [List.Undo] undoes a replacement.
//
// Which tasks a list should hold is decided by a plan of package fsmspec. The files are changed
// by package txn, which keeps the list consistent through crashes. What the files look like,
// which number is next and how the client's own writers are locked out is known by [Form].
//
// It knows the task lists of the client, Claude Code: where they are, which files
// are tasks, what is in them, which id is next and how to lock out the client's own writers.
// [Form] is all of that but where they are. The lists of projects, which other agents work on,
// have this form, too.
//
// The client's file format and locks are not documented. The facts cited here were
// measured; see docs/internals/client-facts.md.
package tasks
