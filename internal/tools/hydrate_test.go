package tools_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/tools"
)

// watched is a stream that records at each write whether a file exists.
type watched struct {
	path   string
	text   strings.Builder
	before bool // the file did not exist at the last write
}

func (w *watched) Write(p []byte) (int, error) {
	_, err := os.Lstat(w.path)
	w.before = os.IsNotExist(err)
	return w.text.Write(p)
}

// TestReplyComesBeforeTheLog: the log may be on a slow disk or a slow pipe, and the agent waits
// for the reply.
func TestReplyComesBeforeTheLog(t *testing.T) {
	for name, test := range map[string]struct {
		event string
		out   bool // the reply is on standard output, not on standard error
	}{
		"hydrated":    {event: "good", out: true},
		"no workflow": {event: "none", out: true},
		"not valid":   {event: "bad"},
		"skipped":     {event: `{"tool_name": "Read"}`, out: true},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			for skill, text := range map[string]string{"good": `[{"id": 1, "subject": "a"}]`, "bad": `[{}]`} {
				put(t, filepath.Join(home, ".claude/skills", skill, "fsm.json"), text)
			}
			input := test.event
			if !strings.ContainsAny(input, " {") {
				input = fmt.Sprintf(`{"session_id": "s", "tool_response": {"commandName": %q}}`, test.event)
			}
			log := filepath.Join(home, "log")
			out, errs := &watched{path: log}, &watched{path: log}
			code := tools.Main([]string{"hydrate", "--log", log}, terminal.Streams{
				In: strings.NewReader(input), Out: out, Err: errs,
				Getenv: func(name string) (string, bool) { return map[string]string{"HOME": home}[name], name == "HOME" },
			})
			reply := errs
			if test.out {
				reply = out
				assert.Equal(t, "{\"continue\": true}\n", out.text.String())
			}
			assert.Equal(t, test.out, code == 0)
			assert.NotEmpty(t, reply.text.String())
			assert.True(t, reply.before, "the log was written before the reply")
			assert.FileExists(t, log)
		})
	}
}
