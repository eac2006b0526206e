// Package fsmspec is the workflow format fsm.json: it parses a file, validates
// it and plans what a task list must lose and gain so that it holds the
// workflow.
//
// It is pure: bytes and values in, values out. It reads no file, writes none,
// takes no lock and knows no directory; whoever carries a plan out owns all of
// that. It does not look for cycles to refuse them, because the client's own
// task list does not either; it warns those who ask.
//
// # The format
//
// A file is UTF-8 JSON without a byte order mark: an array of at most MaxTasks
// objects, at most MaxBytes long, nested at most MaxDepth deep. A task has
//
//	id           a positive integer, unique in the file, not above MaxID; required
//	subject      a string that is not blank; required
//	description  a string
//	activeForm   a string
//	status       "pending" (the default), "in_progress" or "completed"
//	blocks       an array of ids of this file
//	blockedBy    an array of ids of this file
//	metadata     an object
//	owner        a string
//
// An integer is a number whose value is whole, however it is spelled: 1, 1.0
// and 1e0 are one id. null for an optional field means that it was left out.
// Keys of one object are unique, and every string can be written as UTF-8: a
// lone half of a surrogate pair (\ud800) cannot, and is refused. Fields that
// are not listed are ignored and cause a warning.
//
// # Ids
//
// Ids in a file are local. A plan adds a base to each, the largest number that
// the task list has ever given, so that no plan gives an id a second time and
// what is created never shares a name with what is deleted.
//
// Every value of this package may be shared between goroutines once it has been
// returned; nothing in a Spec or a Plan can be changed from outside.
package fsmspec
