// Package hooks runs the hooks of an agent's configuration for one event. It is the
// hook system for agents that have none, and a test bench for authors of hooks.
//
//	Source → Registry → Plan → processes → Aggregated → Policy
//
// The registry holds every valid hook of the configuration, which is read once. The plan is
// the hooks that run for an event and a subject, such as a tool. Their processes run
// together or one after the other. Their outputs are merged, and the policy is what the
// merged output means for the caller. An [Engine] owns all of it.
//
// A [dialect.Dialect] describes, as data, how agents differ.
//
// # Promises
//
// A failing hook never fails the event: only an explicit block blocks. Fire does not
// panic and returns no error, whatever the configuration, the input or the output of
// a hook. A hook that outlives its timeout is stopped with its process group. When
// Fire returns, no goroutine of this package is left.
//
// # Caveats
//
// The engine does not look for configuration files (Finder does), does not
// sandbox hooks, runs only hooks of the types command and http, which needs curl, and
// does not support Windows.
package hooks
