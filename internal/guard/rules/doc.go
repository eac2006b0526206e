// Package rules holds the fourteen rules of a planning workflow, H01 to H13, and
// everything that is known about planning: where its files are, what they hold,
// and the configuration. docs/guards.md has the rules' tables.
//
// Each rule has a file with its definition and its table: its rows for people, a
// function that reads the facts, and a pure function that decides on them and returns
// the row. A rule that changes something (H03, H05, H13) does so in a third function.
// The files without an H are what several rules share; binds.go is whom they bind.
package rules
