// Package state is what is on record of a task list and what its tasks show, folded into one [State]. [Load] and
// [LoadNow] read it; every view and every decision is made from it. Whatever changes a list is put on record and shown
// by [Store.Apply]: nothing else writes.
//
// A state directory S holds, beside the transactions of package txn, the evidence (steps.jsonl, one line for each
// decision), a snapshot of the part on which decisions depend, and small files on which nothing depends for long.
package state
