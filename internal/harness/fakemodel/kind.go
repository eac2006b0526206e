package fakemodel

import (
	"net/http"
	"strings"
)

// Kind says whose conversation a request belongs to.
type Kind string

const (
	// Main is the conversation with the user.
	Main Kind = "main"
	// Subagent is the conversation of an agent that the main one started.
	Subagent Kind = "subagent"
	// Compaction asks for a summary of the conversation so far.
	Compaction Kind = "compaction"
	// Side is a question beside the conversation, which the client asks for
	// itself: a title, a quota check, a verdict. It offers no tools.
	Side Kind = "side"
)

// agentHeader names the subagent that a request comes from.
const agentHeader = "X-Claude-Code-Agent-Id"

// kindOf tells what the client wants. Compaction is looked for first, because
// subagents are compacted too; what hooks said may follow the request for it.
func kindOf(h http.Header, r *Request) Kind {
	switch {
	case strings.Contains(r.News(), "create a detailed summary of"):
		return Compaction
	case len(r.Tools) == 0 || r.MaxTokens == 1:
		return Side
	case h.Get(agentHeader) != "" || strings.Contains(r.System.Text(), "cc_is_subagent=true"):
		return Subagent
	}
	return Main
}

// aside answers what no script is asked about. The client reads a summary
// between its tags and asks again without them; a title and other verdicts
// are JSON, and any text will do for a client that cannot read it.
func aside(k Kind) []Block {
	if k == Compaction {
		return []Block{Text("<analysis>Nothing is missing.</analysis>\n<summary>The work so far.</summary>")}
	}
	return []Block{Text(`{"title": "Scripted run"}`)}
}
