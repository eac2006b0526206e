// Package frontmatter reads the YAML that stands between two lines of dashes
// at the head of a Markdown file, and nothing else of that file: the body may
// hold anything. It also reads a file that is YAML as a whole.
//
// What it reads was written by a language model, so it is tolerant in form (a
// byte order mark, CRLF, text before the first line of dashes) and strict in
// size: a bound on the bytes, and a refusal of aliases that expand to more
// than a bound, which is how a small document becomes a huge one.
//
// It writes nothing, knows no schema, and does not apply YAML merge keys.
package frontmatter
