// Package steps holds an agent to the steps of a workflow. It decides which step may be
// started or completed, runs the gates that a step declares, and records each decision.
//
// It applies only to tasks that a hydration put into a list. The hydration's transaction
// recorded these tasks, and the gates that their entries in fsm.json declare, as a
// [Workflow].
package steps
