// Package steps holds an agent to the steps of a workflow: which step may be started
// or completed, what has to hold first, and what was decided.
//
// It binds only the tasks that a hydration put into a list. What these are, and what
// their entries in fsm.json declared, is the [Workflow] that the hydration's own
// transaction recorded.
package steps
