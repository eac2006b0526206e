// Package overseer decides on the system calls of a program that a test runs: each is made, is
// left out, fails with an error, or is the last before the process is killed. Only on Linux,
// with a seccomp filter that notifies this process.
//
// The test's program becomes the program that is run: its TestMain calls Become.
package overseer
