package fakemodel

// Script holds the model's answers in one run of the client. A request beyond the last
// turn is refused. Such a request, and a turn that is not requested, is a fault.
type Script struct {
	// Main is the conversation with the user, in every prompt of the run.
	Main []Turn
	// Agents holds the conversations of subagents. The key is a text in the agent's
	// prompt, its first user message. Two agents with the same key each start with
	// the first turn.
	Agents map[string][]Turn
}

// Turn answers one request while the client waits; it may look at the request and at
// the disk. It does not run on the test's goroutine, so it must not end the test.
type Turn func(*Request) []Block

// Do answers with these blocks: text, calls of tools, or both.
func Do(blocks ...Block) Turn {
	return func(*Request) []Block { return blocks }
}

// Say answers with a text, which ends the client's turn.
func Say(text string) Turn { return Do(Text(text)) }
