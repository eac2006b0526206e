// Package facts finds out what gates look at: which files are there below a directory, and whether they are other than they were;
// what a command has printed; what a call of a tool runs or touches. Each look is bounded, and may be made without any lock.
package facts
