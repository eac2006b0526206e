// Package tasks reads and changes the task list of the client, Claude Code. It knows
// where the list's directory is, which files are tasks, which id is next and how to
// lock out the client's own writers. [List.Replace] replaces the tasks of a workflow,
// [List.Undo] undoes a replacement.
//
// Which tasks a list should hold is decided by a plan of package fsmspec. The files
// are changed by package txn, which keeps the list consistent through crashes.
//
// The client's file format and locks are not documented. The facts cited here were
// measured; see docs/client-facts.md.
package tasks
