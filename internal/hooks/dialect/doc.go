// Package dialect describes, as data, how agents differ: where LLxprt Code, Gemini
// CLI, Claude Code and Codex keep hooks, which events they have, and what an exit code or
// an output of a hook means for each event.
//
// Each agent has one file with its table. To follow a new version of an agent, change
// its table; no other package asks which agent it works for.
//
// The sources are the agents' hook references and, except for LLxprt Code, measurements
// of the agents themselves: see internal/harness/fidelity.
package dialect
