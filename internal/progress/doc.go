// Package progress is how an agent without a task list of its own works on the steps of a
// workflow: what it is told, and how it starts and completes a step. The commands (fsmtx next,
// start, complete, begin) and the tools of the MCP server are two ways of saying the same; the
// gates behind both are those of package gates.
package progress
