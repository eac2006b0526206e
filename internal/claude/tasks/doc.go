// Package tasks is the client's task list as the client, Claude Code, keeps it:
// where its directory is, which files are tasks, which id is next, how the
// client's own writers are excluded, and how a workflow's tasks are replaced
// ([List.Replace]).
//
// It does not decide which tasks a list should hold: that is a plan of package
// fsmspec. It does not carry out the change of files either: that is package txn,
// which keeps the list whole through crashes.
//
// What the client does was measured, not documented. The facts cited here are
// those of docs/client-facts.md.
package tasks
