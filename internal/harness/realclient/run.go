//go:build unix

package realclient

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

// Run is the result of one prompt.
type Run struct {
	fakemodel.Record
	Output
	Hooks   []Hook   // in the order in which they ended
	Denied  []string // names of the calls that were denied a permission
	Final   string   // the last message to the user
	IsError bool     // whether Final is an error

	t testing.TB
}

// Hook is one run of a hook.
type Hook struct {
	Event    string `json:"hook_event"` // PostToolUse
	Name     string `json:"hook_name"`  // PostToolUse:Skill
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
	ExitCode int    `json:"exit_code"`
	Outcome  string `json:"outcome"`
}

// line is a line of the client's output, with the fields that tests use.
type line struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Hook
	Result  string `json:"result"`
	IsError bool   `json:"is_error"`
	Denials []struct {
		ToolUseID string `json:"tool_use_id"`
	} `json:"permission_denials"`
}

// read parses the client's standard output.
func (r *Run) read() error {
	for text := range strings.Lines(r.Stdout) {
		var l line
		if err := json.Unmarshal([]byte(text), &l, jsontext.AllowInvalidUTF8(true)); err != nil {
			return fmt.Errorf("the client's output %q: %w", text, err)
		}
		r.add(l)
	}
	return nil
}

func (r *Run) add(l line) {
	switch l.Type + "/" + l.Subtype {
	case "system/hook_response":
		r.Hooks = append(r.Hooks, l.Hook)
	case "result/success":
		r.Final, r.IsError = l.Result, l.IsError
	}
	if l.Type == "result" && l.Subtype != "success" {
		r.Final, r.IsError = l.Subtype, true
	}
	for _, d := range l.Denials {
		r.Denied = append(r.Denied, r.Name(d.ToolUseID))
	}
}

// Text returns the result of the call. It ends the test if there is none.
func (r *Run) Text(id string) string {
	r.t.Helper()
	result, ok := r.Result(id)
	require.True(r.t, ok, "the model got no result of %q", id)
	return result.Text
}

// Told returns what the model was told with the result of the call: the result,
// reminders and output of hooks. It ends the test if there is no result.
func (r *Run) Told(id string) string {
	r.t.Helper()
	x := r.After(id)
	require.NotNil(r.t, x, "the model got no result of %q", id)
	return x.Request.News()
}

// Ran returns the runs of hooks for an event.
func (r *Run) Ran(event string) []Hook {
	var found []Hook
	for _, h := range r.Hooks {
		if h.Event == event {
			found = append(found, h)
		}
	}
	return found
}

// String shows the run for a failing test: the conversation, the hooks and the last
// message.
func (r *Run) String() string {
	var b strings.Builder
	b.WriteString(r.Record.String())
	for _, h := range r.Hooks {
		fmt.Fprintf(&b, "--- hook %s: exit code %d\n%s%s", h.Name, h.ExitCode, h.Stdout, h.Stderr)
	}
	fmt.Fprintf(&b, "--- end: exit code %d: %s\n%s", r.Code, r.Final, r.Stderr)
	return b.String()
}
