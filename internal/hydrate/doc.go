// Package hydrate does the main job as a whole: from the event of an invoked skill
// to the skill's tasks in the client's task list.
//
// The data flows one way: event, request, fsm.json, plan, transaction, answer.
// Everything that can be wrong with the input is found before the first lock is
// taken. How the list is locked, read and changed is up to package tasks.
package hydrate
