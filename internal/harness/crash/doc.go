// Package crash breaks things on purpose. Its file systems stand around the one
// that a transaction uses: one ends the process at a chosen step, one makes a
// chosen call fail, and one records what is done so that every state can be made
// which a power cut at any point might have left on the disk.
//
// It is for tests and for showing what happens; a hydration never uses it.
package crash
