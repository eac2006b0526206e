// Package event is the interface between a hook and the client, Claude Code. [Read]
// parses the JSON object that the client writes to the hook's standard input. An
// [Answer] is what the hook returns: standard output, standard error, exit code.
//
// What a hook does at an event is decided by the package that handles the event.
// The facts cited here are those of docs/client-facts.md.
package event
