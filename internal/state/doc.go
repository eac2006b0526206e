// Package state is what is on record of a task list and what its tasks show, folded into one [State]. [Load] and
// [LoadNow] read it; every view and every decision is made from it.
//
// # Who writes
//
// The tasks of a list are changed by package tasks, in transactions, and the record of a workflow comes with one. The files of a state
// directory S beside these transactions are written by this package. Others say what is to be in them, by [Store], [Remember],
// [WriteMemo] and [WritePending]:
//
//	steps.jsonl     the evidence, a line for each decision: Store.Apply, Record, Note and what moves a workflow to another list
//	archive.*       all the evidence up to a place, also that on which no decision depends any more: Store.Write, when it has grown
//	late.*          evidence that was written without the lock: Store.WriteLate; the next holder of the lock merges it
//	pending.json    updates that are being decided: gates
//	grants.json     a person's yes to one call: Store.Grant
//	stop.json       which reminders were given, and which news was told: gates
//	heard.json      what hooks have learnt of a session: gates
//	told.json       what was told once: Store
//	moving.json     the workflow that goes on in another list: Store
//
// Package presence keeps who works on the list in a file of its own, by [Remember]. What a kind of evidence means is in the
// table of kind.go.
package state
