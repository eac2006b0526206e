// Package hooks runs the hooks of an agent's configuration for one event: it
// is the hook system for agents that have none, and the bench for people who
// write hooks.
//
//	Source ─► registry ─► planner ─► runner ─► aggregator ─► Result
//
// The registry holds every valid hook of the configuration, read once. The
// planner picks those of an event and a tool. The runner starts them, together
// or one after the other. The aggregator merges what they said by the event's
// strategy, and the policy is what that means for the caller. An [Engine] owns
// all of them.
//
// What LLxprt, Gemini CLI and Claude Code do differently is the content of a
// [Dialect]; no other file asks which one it is.
//
// # Promises
//
// A hook's failure never fails the event: only an explicit block blocks. Fire
// does not panic and returns no error, whatever the configuration, the input or
// a hook's output is. A hook that outlives its timeout, and everything it
// started, is terminated, and killed five seconds later. When Fire returns, no
// goroutine of this package is left; what a hook put in the background
// deliberately and successfully is left alone.
//
// # Not for
//
// Finding configuration files (package settings), sandboxing what hooks do,
// handlers that are no command (HTTP, prompts, agents: reported and skipped),
// and Windows.
package hooks
