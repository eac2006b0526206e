package client

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Offer is which tools for the steps of a workflow a session has.
type Offer struct {
	Known     bool   // the client has listed the session's tools
	TaskTools bool   // TaskUpdate is among them
	Server    string // the beginning of the names of the MCP server's tools; empty if there is no server
}

// delta is an attachment in which the client tells the model what it can use from now on
// (measured with 2.1.329, facts 148 and 149).
type delta struct {
	Type    string   `json:"type"`
	Added   []string `json:"addedNames"`
	Readded []string `json:"readdedNames"`
	Removed []string `json:"removedNames"`
	Blocks  []string `json:"addedBlocks"` // the instructions of servers
}

// serverMark is in the instructions of the MCP server of this program, by which its name in
// the session is found.
const serverMark = "workflow_status: the steps, which are ready"

// Tools returns which tools the session of a transcript has now. It reads only that part of a
// long transcript in which the client's last word about each is, from the end.
//
// The client tells of the tools with the first prompt, and it may not have written it when the
// model's answer to that prompt came at once. promptID is the prompt_id of the event, empty for
// one that comes before the client writes its prompt: while there is neither a word about the
// tools nor this prompt, Tools reads the transcript again, for at most half a second, if the
// client writes it.
func Tools(path, promptID string) (o Offer) {
	if path == "" {
		return Offer{}
	}
	search(path, promptID, listingAtMost, func() bool {
		o = tools(path)
		return o != (Offer{})
	})
	return o
}

// tools reads the transcript once.
func tools(path string) (o Offer) {
	var server, gone []string
	decided := false // about the task tools
	backwards(path, maxSession, func(raw []byte) bool {
		d, ok := parseDelta(raw)
		switch {
		case !ok:
		case d.Type == "deferred_tools_delta":
			o.Known = true
			if !decided {
				decided = slices.Contains(d.Removed, "TaskUpdate")
				o.TaskTools = slices.Contains(append(d.Added, d.Readded...), "TaskUpdate")
				decided = decided || o.TaskTools
			}
		case server == nil:
			server = d.serves(gone)
			gone = append(gone, d.Removed...)
		}
		return !decided || server == nil
	})
	if len(server) > 0 {
		o.Server = "mcp__" + plain(server[0], '_') + "__"
	}
	return o
}

// serves returns the name of the server of this program, if the client says that it is there
// and has not said later that it is gone.
func (d delta) serves(gone []string) []string {
	for _, name := range slices.Concat(d.Added, d.Readded) {
		heading := "## " + name + "\n"
		if slices.ContainsFunc(d.Blocks, func(b string) bool { return strings.HasPrefix(b, heading) && strings.Contains(b, serverMark) }) &&
			!slices.Contains(gone, name) {
			return []string{name}
		}
	}
	return nil
}

func parseDelta(raw []byte) (d delta, ok bool) {
	head := raw[:min(len(raw), headBytes)]
	if !bytes.Contains(head, []byte(`"deferred_tools_delta"`)) && !bytes.Contains(head, []byte(`"mcp_instructions_delta"`)) {
		return delta{}, false
	}
	l, ok := parse(raw, "attachment")
	if !ok || l.IsSidechain {
		return delta{}, false
	}
	err := json.Unmarshal(l.Attachment, &d, jsonx.Tolerant)
	return d, err == nil && (d.Type == "deferred_tools_delta" || d.Type == "mcp_instructions_delta")
}
