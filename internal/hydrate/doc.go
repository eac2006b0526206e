// Package hydrate puts the tasks of an invoked skill into the client's task list. It
// covers the whole way from the event to the answer.
//
// Data flows one way: event, request, fsm.json, plan, transaction, answer. All of the
// input is checked before the first lock is taken. Package tasks locks, reads and changes
// the list.
//
// Problems of an fsm.json are shown with the line of the file at which each is; problems with the same
// message are joined.
package hydrate
