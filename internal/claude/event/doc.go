// Package event holds what a hook and the client say to one another: the JSON
// object the client writes to the hook's standard input, and the JSON object
// the hook answers with on its standard output.
//
// It knows every event by its fields and none by its meaning: what an event is
// for is the business of the package that handles it.
package event
