// Package together tests the promises of hydration beside other processes: other
// hydrations, the client's own writers, signals, and locks that others hold or have left
// behind. It contains only tests.
//
// The others are real processes. This test program, started again, is the hook as it
// is installed, or a hook whose file system follows a script; with the build tag
// together a client is a Node program that uses the client's own locking library. Each
// process reports what it did, and the reports are compared with what the list holds
// at the end.
package together
