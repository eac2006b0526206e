// Package transcript reads the transcript that the client keeps of a session: one
// JSON object per line, for messages of the user and the model, results of tools
// and attachments. Lines are read from the last to the first, because a transcript
// can have hundreds of megabytes and the needed lines are near its end.
//
// The format is not documented; it was measured with client 2.1.329 (facts 47 and 62 of
// docs/client-facts.md). Lines of another form are skipped, and a transcript that cannot
// be read counts as empty. The package never writes, and never blocks on a file that is
// not regular.
package transcript
