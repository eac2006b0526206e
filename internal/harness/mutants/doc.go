// Command mutants checks that the tests notice when the code is broken.
//
// It runs gremlins (a mutation tester: it changes one operator at a time and runs
// the package's own tests) on the packages that the crash contract rests on. What
// those tests leave alive or never reach it tries again, one mutant at a time,
// against the further test packages that are meant to notice. A mutant that
// survives both has to be listed with a reason in survivors.txt; the command fails
// on any other, and on a listed one that is noticed after all.
//
//	go run ./internal/harness/mutants             # all packages; about an hour on 2 cores
//	go run ./internal/harness/mutants ./fsmspec   # one of them
//
// survivors.txt has one mutant a line, four fields separated by tabs: file,
// mutation type, the source line without its indentation, and the reason why the
// change cannot be observed. Lines are matched by text, so moving code does not
// invalidate them. Lines that begin with "#" are comments.
package main
