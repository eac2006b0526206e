// Package fidelity compares "fsmtx hooks fire" with the agents that it stands for: the
// same configuration and the same event go through the real agent and through fire, and
// both must give the same verdict, run the same hooks and tell the model the same.
//
// The cases are tables in testdata/hooks/fidelity, one for each agent: a case is a line,
// or a small block. Beside each table is a file with what the agent answered when it was
// last asked, so that a plain "go test" compares fire with the agent without installing
// it. "make fidelity" asks the pinned agents again (build tag fidelity), and fails if one
// of them answers something else. It only has tests.
package fidelity
