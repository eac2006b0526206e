// Package process runs the process of a hook: standard input written, both outputs
// collected within a bound, a time limit, and signals to the whole process group.
//
// A process that runs out of time, and everything it started in its group, gets
// SIGTERM, and SIGKILL five seconds later. What a process deliberately left in the
// background is left running when the process itself has exited.
//
// It does not know what a hook's exit code or output means.
package process
