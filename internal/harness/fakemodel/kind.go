package fakemodel

import (
	"net/http"
	"strings"
)

// Kind is the kind of conversation that a request belongs to.
type Kind string

const (
	// Main is the conversation with the user.
	Main Kind = "main"
	// Subagent is the conversation of an agent that the main conversation started.
	Subagent Kind = "subagent"
	// Compaction is a request for a summary of the conversation so far.
	Compaction Kind = "compaction"
	// Side is a request of the client for its own purposes, such as a title or a
	// quota check. It offers no tools.
	Side Kind = "side"
)

// agentHeader names the subagent that a request comes from.
const agentHeader = "X-Claude-Code-Agent-Id"

// kindOf returns the kind of a request. It checks for compaction first, because
// subagents are compacted too, and in all news, because output of hooks may follow the
// request for a summary.
func kindOf(h http.Header, r *Request) Kind {
	switch {
	case strings.Contains(r.News(), "create a detailed summary of"):
		return Compaction
	case len(r.Tools) == 0 || r.MaxTokens == 1:
		return Side
	case h.Get(agentHeader) != "" || strings.Contains(r.System.text(), "cc_is_subagent=true"):
		return Subagent
	}
	return Main
}

// unscripted answers requests that need no script. The client requires the tags around
// a summary; a title is JSON, and the client ignores a text that it cannot use.
func unscripted(k Kind) []Block {
	if k == Compaction {
		return []Block{Text("<analysis>Nothing is missing.</analysis>\n<summary>The work so far.</summary>")}
	}
	return []Block{Text(`{"title": "Scripted run"}`)}
}
