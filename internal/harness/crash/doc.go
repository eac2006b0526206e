// Package crash tests the crash contract of a hydration from end to end: what
// docs/internals/crash-safety.md promises, on real files.
//
// Power cuts are simulated. A model of a disk records every step of a transaction
// and builds each state that a power cut may leave; each is recovered and compared
// with the contract (disk.go, power.go, tree.go). Deaths of processes, full disks,
// missing permissions and the like are real.
//
// The file systems that fail, freeze or kill are those of txn/vfs/faultfs.
package crash
