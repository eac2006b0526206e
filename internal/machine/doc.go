// Package machine is the state machine of a workflow: which steps are ready, what an outcome
// leads to, how often a step can come round again. It knows nothing about files, lists,
// agents or gates.
//
// The steps are a directed acyclic graph. A step ends in a named outcome. An outcome goes
// forward; or it leads back to the step itself or to one before it, and opens the steps
// between again, a limited number of times (a loop); or it ends the workflow. A step with a
// condition is needed only if the steps that it names ended so (a branch); otherwise it
// counts as done without being worked on.
//
// [New] proves that a workflow always ends. A [State] is what happened so far; it is a value:
// every change returns a new one.
package machine
