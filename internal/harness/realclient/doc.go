//go:build unix

// Package realclient runs the real client, Claude Code, in tests. It installs the client
// from npm into a cache and starts it in a temporary home and project, with a minimal
// environment and a fake model.
//
// A test creates a Sandbox, writes skills and settings into it, and sends prompts. The
// result is a Run: what the model was told, what the tools returned, which hooks ran and
// what they printed.
//
// The client runs without a terminal (claude -p), so nothing that happens only on a
// screen can be tested. The package works on Linux and macOS.
package realclient
