// Package cmdline reads the options that Claude Code was started with and no event
// tells: --add-dir and --plugin-dir (facts 29 and 50 of docs/client-facts.md).
//
// A hook has the client's process number in CLAUDE_PID (fact 41), and Linux and macOS
// let a process read the command line of another one of the same user.
package cmdline
