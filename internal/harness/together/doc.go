// Package together holds what hydration promises when it is not alone: other
// hydrations, the client's own writers, signals, and locks that somebody else
// holds or has left behind. It is tests only.
//
// The others are played by real processes. This test program, started again, is
// the hook as it is installed, a hook whose disk does as it is told, or a writer
// that keeps to the client's protocol; with the build tag together that writer is
// a Node program that uses the client's own locking library. What they did is
// written down by those who did it, and held against what the list holds at the
// end. Every check is shown to fail when somebody breaks the rules.
package together
