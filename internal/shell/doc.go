// Package shell parses shell command lines as a shell does: words, quotes, escapes,
// comments, substitutions and here-documents. The parser is mvdan.cc/sh/v3/syntax.
//
// It never runs a command and never reads the file system or the environment.
package shell
