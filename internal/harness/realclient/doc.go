// Package realclient runs the real client, Claude Code, in a test: installed
// from npm into a cache, in a home and a project that are thrown away, with an
// environment built from nothing and a fake model behind it.
//
// A test makes a Sandbox, writes skills and settings into it, and sends it
// prompts; what comes back is a Run: what the model was told, what the tools
// returned, which hooks ran and what they said.
//
// # What it is not
//
// It drives the client without a terminal (claude -p): what only happens on a
// screen is out of its reach. It is for tests alone, and on Linux and macOS
// alone.
package realclient
