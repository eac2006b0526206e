// Package tasks knows the task lists of the client, Claude Code: where they are, which files
// are tasks, what is in them, which id is next and how to lock out the client's own writers.
// [Form] is all of that but where they are. The lists of projects, which other agents work on,
// have this form, too.
//
// The client's file format and locks are not documented. The facts cited here were
// measured; see docs/client-facts.md.
package tasks
