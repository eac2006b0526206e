// Package transcript reads the transcript that the client keeps of a session: one
// JSON object per line, for messages of the user and the model, results of tools
// and attachments. Lines are read from the last to the first, because a transcript
// can have hundreds of megabytes and the needed lines are near its end.
//
// The format is not documented; it was measured with client 2.1.329 (facts 47 and 62 of
// docs/client-facts.md). Lines of another form are skipped, and a transcript that cannot
// be read counts as empty. The package never writes, and never blocks on a file that is
// not regular.
//
// It also reads why a turn of the agent ends: because the person said stop, because the agent
// asks the person something, or because another agent is still working. Every hook that may keep
// a turn from ending decides by these functions, so that they agree. They know four words for
// stop and English for a part, and understand nothing else: a reminder is given once per state of
// progress, so that what they miss costs one. Other words for stop are configured.
package transcript
