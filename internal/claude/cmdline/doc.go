// Package cmdline reads options from the command line of the client, Claude Code, that no
// event contains: --add-dir and --plugin-dir (fact 29, client 2.1.197; fact 50, client
// 2.1.329), the session that goes on, and what decides whether the client runs hooks and
// writes a transcript. The facts are in docs/client-facts.md.
//
// A hook has the client's process number in CLAUDE_PID (fact 41, client 2.1.329). Linux
// and macOS let a process read the command line of another process of the same user.
package cmdline
