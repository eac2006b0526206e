// Package hydrate is the main job as a whole: from the event of an invoked skill
// to the skill's tasks in the client's task list.
//
// The data goes one way: event, request, fsm.json, spec, snapshot, plan,
// transaction, reply. Whatever can be found wrong is found before the first lock
// is taken, and until the plan is applied nothing but locks has changed.
package hydrate
