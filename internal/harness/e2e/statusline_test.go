//go:build e2e

package e2e

import (
	"testing"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

// TestTheStatusLineShowsTheWorkflow, beside the line of the person's own settings: what is done,
// what was refused, and that an approval waits for the person. While the client asks them it shows
// no status line (fact 154).
func TestTheStatusLineShowsTheWorkflow(t *testing.T) {
	s := held(t, `[{"id": 1, "subject": "Write"}, {"id": 2, "subject": "Publish", "blockedBy": [1], "approval": "Publish it?"}]`,
		"--statusline")
	s.Write("home/.claude/settings.json", `{"statusLine": {"type": "command", "command": "echo MINE"}}`)
	client := s.Attend(Script{Main: append(begun(),
		Do(TaskUpdate("too early", "2", "in_progress")),
		Say("Shall I go on?"), // the client draws the line only now and then, so the turn ends here
		Do(TaskUpdate("start", "1", "in_progress")),
		Do(TaskUpdate("write", "1", "completed")),
		Do(TaskUpdate("publish", "2", "completed")),
		Say("Published."))})
	client.See(0, "MINE")
	client.Enter("release it")
	from := client.Here()
	client.See(from, "refused #2: order: #1 not done | MINE")
	from = client.Here()
	client.Enter("go on")
	client.See(from, "Publish it?")
	client.Answer(client.Here(), "\x1b", "waiting for you")
}
