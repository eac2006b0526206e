// Command mutants checks that the tests notice when the code is broken.
//
// It lists what could be changed in the packages that the contracts rest on, one place at a
// time: an operator, as the mutation tester gremlins does; an operand of && or || is left
// out; a condition is never or always true; a call or an assignment is left out; what is
// returned is the other truth value; a range over a slice is turned round; a constant argument
// of a call is another one. What no test could notice is not changed: the wording of errors,
// capacities, how long a loop waits, the order of a search for any one.
// Compiling the tests anew for each mutant takes longer than running them, so this command
// builds them once, with every mutant in the code and none switched on, and then switches
// them on one by one. What cannot be switched (in a constant, say) is not tried: four of
// 1,200 that would compile. Each test is run by itself first, without a mutant, and the switches note which of
// them would make a difference in it: a mutant is tried with those tests only, the fastest
// first.
//
// The tests of the package come first, then those of further packages that are meant
// to notice. A mutant that no test notices in three tries (in one if the time is limited) has to be listed with a
// reason in survivors.txt; the command fails on any other, and on a listed one that
// is noticed after all.
//
//	go run ./internal/harness/mutants             # all packages
//	go run ./internal/harness/mutants ./fsmspec   # one of them
//	go run ./internal/harness/mutants -sample 50  # fifty mutants, chosen at random
//	go run ./internal/harness/mutants -at txn/dir.go:97 ./txn
//	go run ./internal/harness/mutants -at internal/state/grant.go -run Grant ./internal/state
//
// survivors.txt has one mutant a line, four fields separated by tabs: file,
// mutation type, the source line without its indentation, and the reason why the
// change cannot be observed. Lines are matched by text, so moving code does not
// invalidate them. Lines that begin with "#" are comments.
package main
