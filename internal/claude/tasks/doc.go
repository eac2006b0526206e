// Package tasklist knows the client's task list as the client keeps it: where
// its directory is, which files in it are tasks, which number comes next, and
// how to keep the client's own writers out while it is changed.
//
// What the client does was measured, not documented; the rules here follow the
// client, not taste. It changes nothing but locks and the high-water mark: tasks
// are changed by the transaction that is given a plan.
package tasks
