// Package proof makes and judges the statement of a run: what is on record of a workflow, bound
// to a commit and signed with an OpenSSH key.
//
// A [Statement] is an in-toto Statement v1 in a DSSE envelope. seal signs one; [Open] verifies
// an envelope before it looks at what is in it; a judge compares it with a
// policy and a repository. docs/internals/attestation.md describes the files.
//
// A signature proves who vouches for the statement, and that it was not changed since. It does
// not prove that the record was true: an agent that can read the key can sign.
package proof
