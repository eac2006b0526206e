// Package js handles JSON objects and text as JavaScript does: members keep their
// order, the last of two members with one name counts, and strings are trimmed,
// decoded and sorted by JavaScript's rules. Most of the agents are written in JavaScript,
// and hooks in sh search for the exact text that JSON.stringify writes.
//
// Numbers are the exception: they keep every digit.
package jsonx
