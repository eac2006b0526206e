// Package workflow is a workflow as a hydration has recorded it: its steps, their order, and the gates that their entries in
// fsm.json declare. The record is in the transaction that put the tasks into the list, and it is never changed. The gates are
// not in the task files, because the agent can edit those.
package workflow
