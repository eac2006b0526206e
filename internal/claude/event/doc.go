// Package event is what a hook and the client, Claude Code, say to one another:
// the JSON object the client writes to the hook's standard input ([Read]), and
// what the hook answers on standard output, on standard error and with its exit
// code ([Answer]).
//
// It does not decide what an event is for: that is up to the package that handles
// it. The facts it cites are those of docs/client-facts.md.
package event
