// Package checks tells which commands check something in a project and change nothing: those are what may be proposed as the check
// of a step.
//
// A command is known in one of two ways. The table in programs.go has programs, with the subcommands and flags with which they only
// check. A target of the Makefile, a script of package.json and an executable of the project are read, with all that they run, and
// each command of theirs has to be in that table, or one that only builds or prints. What cannot be read is not known.
//
// It runs nothing. A command that it knows can still do harm through what it loads: the tests of a project may do anything.
package checks
