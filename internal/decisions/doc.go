// Package decisions is the log of what fsmtx decides: one schema of JSON lines for
// hydrations, steps and guards, and the file that they are appended to.
//
// Many processes may append to one file at once. Each line is one write at the file's end,
// so lines are never mixed, and a process that dies leaves a whole line or none. A power cut
// may tear the last line; the next one then begins on a line of its own. Nothing is synced:
// the log is for reading, and no decision depends on it.
//
// The package does not rotate what is not a regular file, such as a pipe or a device, and
// does not work across machines: a network file system may not append atomically.
package decisions
