// Package guard holds a planning workflow to its rules. Each of its fourteen
// guards answers one kind of event of the client: may this question be asked,
// this file be written, this research call be made, this agent or this turn
// end, and what must the model be told. docs/guards.md has their tables.
//
// A guard is a pure decision over the facts of its table; it returns the row
// that decided. What surrounds every decision is here once, in the frame:
// reading the event, development mode, feature flags, the circuit breaker, the
// limit on consecutive blocks, the decision log and the form of the reply.
//
// It fails open: trouble of its own (unreadable input, a session file that
// cannot be used, a bug) never stops the user's work. What the model can write
// (the workflow's state, its lock, budget and configuration) is data: a broken
// file there decides as its table says and never switches a guard off.
//
// It is no sandbox. A guard sees the tool calls that the client shows it, so a
// file written by a shell command passes unseen.
package guard
