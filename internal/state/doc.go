// Package state is what is on record of a task list and what its tasks show, folded into one [State]. [Load] and
// [LoadNow] read it; every view and every decision is made from it.
//
// # Who writes
//
// The tasks of a list are changed by package tasks, in transactions, and the record of a workflow comes with one. The files of a state
// directory S beside these transactions are written by this package. Others say what is to be in them, by [Store]:
//
//	steps.jsonl     the evidence, a line for each decision: Store.Apply, Record, Note and what moves a workflow to another list
//	archive.*       all the evidence up to a place, also that on which no decision depends any more: Store.Write, when it has grown
//	late.*          evidence that was written without the lock: Store.WriteLate; the next holder of the lock merges it
//	session.json    what lives for sessions only, [Memory]: gates, presence and Store, by Remember
//	moving.json     the workflow that goes on in another list: Store. It is synced before the other list is changed, and while it cannot
//	                be read nobody knows where the workflow is, so it is not in the file that may be lost
//	missed      when the program could not be run: the registered line, see Missed
//
// What a kind of evidence means is in the table of kind.go.
package state
