// Package safefile reads files that other programs may have put in place, and
// changes single files durably.
//
// Reading never blocks on a FIFO or a device and never exceeds the caller's limit.
// After a crash a written file holds the old content or the new content, whole.
//
// It is not for several files that must change together: that is a transaction
// (package txn). It takes no lock, so the later of two writers wins.
package safefile
