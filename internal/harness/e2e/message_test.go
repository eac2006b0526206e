//go:build e2e

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

// A completion is decided after the edits and the commands before it in its message: the client runs these one after the other.
func TestACompletionFollowsTheCallsBeforeItInItsMessage(t *testing.T) {
	s := held(t, `[{"id": 1, "subject": "Write", "produces": ["one"]}, {"id": 2, "subject": "Make", "produces": ["two"]},
		{"id": 3, "subject": "Write", "produces": ["three"]}, {"id": 4, "subject": "Make", "produces": ["four"]}]`)
	onPath(s)
	s.Write("project/.claude/settings.json", `{"permissions": {"allow": ["Write", "Bash"]}, "hooks": {"PreToolUse": [{"matcher": "Write",
		"hooks": [{"type": "command", "command": "sleep 1"}]}]}}`)
	write := func(name string) Block {
		return Call(name, "Write", map[string]any{"file_path": s.Path("project/" + name), "content": "x\n"})
	}
	slow := func(name string) Block { return Bash(name, "sleep 1; echo x >"+name) }
	r := s.Prompt(Script{Main: append(begun(), Do(write("one"), TaskUpdate("list after write", "1", "completed")),
		Do(slow("two"), TaskUpdate("list after shell", "2", "completed")), Do(write("three"), Bash("command after write", "fsmtx complete 3")),
		Do(slow("four"), Bash("command after shell", "fsmtx complete 4")), Say("done"))}, "go")
	allowed(t, r, "list after write", "list after shell", "command after write", "command after shell")
	assert.Equal(t, 4, stateOf(t, s).Count().Done)
}
