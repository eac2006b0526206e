// Package guard runs the rules of a planning workflow as hooks of the client. It
// is the frame around every rule: it reads the event, honours development mode
// and the feature flags, opens a circuit breaker on a rule that keeps failing,
// limits consecutive blocks, keeps the decision log and writes the reply. The
// rules themselves, and everything known about planning, are in package rules.
//
// It fails open: a failure of its own (unreadable input, an unusable session
// file, a bug) never stops the user's work. Files that the model can write (the
// workflow's state, its lock, budget and configuration) are data: a broken one
// leads to the decision that the rule's table gives, and never switches a guard
// off.
//
// It is not a sandbox. A guard sees the tool calls that the client reports; a
// file written by a shell command goes unnoticed.
package guard
