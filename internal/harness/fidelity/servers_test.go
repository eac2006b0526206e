package fidelity

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// formsServer names the environment variable that turns this test program into an MCP
// server whose only tool asks the user something.
const formsServer = "FIDELITY_FORMS"

// message is a message of JSON-RPC.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
}

// serveForms runs in a child process. It speaks a version of the protocol in which a server
// may ask the user while a tool runs. The tool returns what the client answers for the user.
func serveForms(in io.Reader, out io.Writer) error {
	type object = map[string]any
	messages, answer := json.NewDecoder(in), json.NewEncoder(out)
	var asked json.RawMessage // the call of the tool that waits for the user
	for {
		var got struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
		}
		if err := messages.Decode(&got); err != nil {
			return nil // the client has gone
		}
		reply := message{Version: "2.0", ID: got.ID}
		switch {
		case got.Method == "initialize":
			reply.Result = object{"protocolVersion": "2025-06-18", "capabilities": object{"tools": object{}},
				"serverInfo": object{"name": "forms", "version": "1"}}
		case got.Method == "tools/list":
			reply.Result = object{"tools": []any{object{"name": "ask", "inputSchema": object{"type": "object"}}}}
		case got.Method == "tools/call":
			asked = got.ID
			form := object{"type": "object", "properties": object{"branch": object{"type": "string"}}}
			reply = message{Version: "2.0", ID: json.RawMessage("1000"), Method: "elicitation/create",
				Params: object{"message": "Which branch?", "requestedSchema": form}}
		case got.Method == "" && string(got.ID) == "1000":
			reply.ID, reply.Result = asked, object{"content": []any{object{"type": "text", "text": "the user: " + string(got.Result)}}}
		case len(got.ID) == 0:
			continue // a notification
		default:
			reply.Result = object{}
		}
		if err := answer.Encode(reply); err != nil {
			return err
		}
	}
}

// headerMark is the value of a variable that a hook's header may use.
const headerMark = "MARK-H"

// newServer starts the server that cases of requests use, and returns its address.
func newServer(t testing.TB) string {
	mux := http.NewServeMux()
	for path, body := range map[string]string{
		"/block":     `{"decision":"block","reason":"REASON-H"}`,
		"/empty":     "",
		"/context":   `{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"CONTEXT-H"}}`,
		"/context-b": `{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"CONTEXT-HB"}}`,
		"/text":      "CONTEXT-H",
		"/invalid":   `{"decision":"deny","reason":"REASON-H"}`,
		"/prompt":    `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"CONTEXT-H"}}`,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
	}
	mux.HandleFunc("/error", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "REASON-H", http.StatusInternalServerError)
	})
	mux.HandleFunc("/error-block", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"decision":"block","reason":"REASON-H"}`)
	})
	mux.HandleFunc("/header", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Mark") == "a-"+headerMark+"-"+headerMark+"-" {
			fmt.Fprint(w, `{"decision":"block","reason":"REASON-H"}`)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}
