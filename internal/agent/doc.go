// Package agent knows the coding agents whose hooks run fsmtx: what their events say, what they make of an answer, where their
// skills, hooks and MCP servers are, and what they can. It does no work of a hook. It only reads: skills, plugins, and the
// settings that switch these or hooks off.
//
// An agent is one file with an [Agent], which is a table of measured facts. CONTRIBUTING.md has the recipe. What an exit code or
// an output means to these agents in general is in package dialect of the hook runtime; here is only what fsmtx uses.
//
// What all but Claude Code have in common: they run a hook's command in a shell with the event on standard
// input, they take JSON on standard output at exit 0, and none of them overrides a hook
// that keeps a turn from ending as Claude Code does after eight times (fact 40): Codex and
// Gemini never do. A hook has to count by itself.
package agent
