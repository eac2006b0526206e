package fakemodel

// Script is what the model says in one run of the client, turn by turn. A
// request beyond the last turn is refused and is a fault, and so is a turn
// that nobody asked for.
type Script struct {
	// Main is the conversation with the user, in every prompt of the run.
	Main []Turn
	// Agents are the subagents' conversations. The key is a text that the
	// agent's prompt, its first user message, contains. Two agents with the
	// same key each go through the turns from the start.
	Agents map[string][]Turn
}

// Turn answers one request. It may look at what the request says, or at the
// disk: the client waits for it. It does not run on the test's goroutine, so it
// may not end the test.
type Turn func(*Request) []Block

// Do answers with these blocks: text, calls of tools, or both.
func Do(blocks ...Block) Turn {
	return func(*Request) []Block { return blocks }
}

// Say answers with a text and so ends the client's turn.
func Say(text string) Turn { return Do(Text(text)) }
