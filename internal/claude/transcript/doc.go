// Package transcript reads the transcript that the client keeps of a session: one
// JSON object per line, for messages of the user and the model, results of tools
// and attachments. Lines are read from the last to the first, because a transcript
// can have hundreds of megabytes and what matters is near its end.
//
// The format is not documented. What is relied on was measured on 2.1.329; a line
// of another shape is skipped, and a transcript that cannot be read is empty. It
// never writes, and never blocks on what is not a regular file.
package transcript
