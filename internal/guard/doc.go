// Package guard runs the rules of a planning workflow as hooks of the client. It is the
// frame around every rule: it reads the event, honours development mode and the feature
// flags, opens a circuit breaker for a rule that keeps failing, limits consecutive blocks,
// keeps the decision log and writes the reply. The rules themselves, and everything that
// is known about planning, are in package rules.
//
// It fails open: a failure of the guard itself (unreadable input, an unusable session
// file, a bug) never stops the user's work. Files that the model can write (the workflow's
// state, lock, budget and configuration) are data. A broken one is not a failure and never
// switches a guard off; the rule's table has the decision for it.
//
// It is not a sandbox. A guard sees the tool calls that the client reports; it does not
// see files that shell commands write.
package guard
