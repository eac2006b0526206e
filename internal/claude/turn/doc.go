// Package turn reads why a turn of the agent ends: because the person said stop, because the
// agent asks the person something, or because another agent is still working. Every hook
// that may keep a turn from ending decides by these functions, so that they agree.
//
// The functions read natural language. They are written for short messages in the languages
// of their lists, and prefer to miss a request to stop over finding one that is not there.
package turn
