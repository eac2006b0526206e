package fidelity

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

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
