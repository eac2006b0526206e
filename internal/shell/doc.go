// Package shell reads shell command lines the way a shell does: words, quotes,
// escapes, comments, substitutions and here-documents. The grammar is that of
// mvdan.cc/sh/v3/syntax.
//
// It never runs a command and never looks at the file system or the environment.
package shell
