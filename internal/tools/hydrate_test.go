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
	called := func(skill string) string {
		return fmt.Sprintf(`{"session_id": "s", "tool_response": {"commandName": %q}}`, skill)
	}
	for event, succeeds := range map[string]bool{called("good"): true, called("none"): true, called("bad"): false,
		`{"tool_name": "Read"}`: true} {
		home := t.TempDir()
		put(t, filepath.Join(home, ".claude/skills/good/fsm.json"), `[{"id": 1, "subject": "a"}]`)
		put(t, filepath.Join(home, ".claude/skills/bad/fsm.json"), `[{}]`)
		log := filepath.Join(home, "log")
		out, errs := &watched{path: log}, &watched{path: log}
		code := tools.Main([]string{"hydrate", "--log", log}, terminal.Streams{In: strings.NewReader(event), Out: out, Err: errs,
			Getenv: func(name string) (string, bool) { return map[string]string{"HOME": home}[name], name == "HOME" }})
		assert.Equal(t, succeeds, code == 0, event)
		reply := errs
		if succeeds {
			reply = out
			assert.Equal(t, "{\"continue\": true}\n", out.text.String(), event)
		}
		assert.NotEmpty(t, reply.text.String(), event)
		assert.True(t, reply.before, "%s: the log was written before the reply", event)
		assert.FileExists(t, log, event)
	}
}
