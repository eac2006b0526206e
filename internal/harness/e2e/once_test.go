//go:build e2e

// What the calls of one message, and two registrations of the hook, decide once.

package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// registerTwice adds the hooks that are installed to the settings of the project, with another path of the program: the client runs
// hooks with the same line once.
func registerTwice(t *testing.T, s *realclient.Sandbox) {
	t.Helper()
	settings, err := os.ReadFile(s.Path(localFile))
	require.NoError(t, err)
	require.Contains(t, string(settings), fsmtx)
	require.NoError(t, os.Symlink(fsmtx, s.Path("home/fsmtx")))
	s.Write(projectFile, strings.ReplaceAll(string(settings), fsmtx, s.Path("home/fsmtx")))
}

func TestALoopThatTwoHooksJudgeUsesOneRound(t *testing.T) {
	s := held(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Write"},
		{"id": 2, "subject": "Test", "blockedBy": [1], "check": "test -e code", "outcomes": {"failed": {"back": 1, "max": 3}}},
		{"id": 3, "subject": "Review", "blockedBy": [2], "outcomes": {"again": {"back": 3, "max": 3}, "fine": {}}}]}`)
	registerTwice(t, s)
	r := s.Prompt(Script{Main: append(begun(),
		Do(TaskUpdate("write", "1", "completed")),
		Do(TaskUpdate("fail", "2", "completed")),
		Do(TaskUpdate("write again", "1", "completed")),
		Do(Bash("code", "touch code")),
		Do(TaskUpdate("test", "2", "completed")),
		Do(ends("again", "3", "again")),
		Do(TaskList("list")),
		Say("done"))}, "go")
	allowed(t, r, "write", "fail", "write again", "test", "again")
	assert.Contains(t, r.After("fail").Request.News(), "Test: failed, time 1 of 3. ")
	assert.NotContains(t, r.After("fail").Request.News(), "fsmtx step skip")
	assert.Contains(t, r.After("again").Request.News(), "Review: again, time 1 of 3. ")
	assert.Equal(t, []string{"#1 [completed] Write (round 2 of 4)", "#2 [completed] Test (round 2 of 4)",
		"#3 [pending] Review (round 2 of 4)"}, taskLines(t, r, "list"))
}
