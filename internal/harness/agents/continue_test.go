//go:build agents

package agents_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/agents"
	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

const wandering = `[
  {"id": 1, "subject": "Build", "check": "test -f built"},
  {"id": 2, "subject": "Review", "blockedBy": [1], "approval": "Is the review done?"},
  {"id": 3, "subject": "Test", "blockedBy": [2], "check": "test -f tested"},
  {"id": 4, "subject": "Sign", "blockedBy": [3], "approval": "Sign it?"},
  {"id": 5, "subject": "Publish", "blockedBy": [4], "check": "test -f published"}
]`

// TestAWorkflowGoesOnInAnotherAgent: it is begun in Claude Code, which is killed in the third step. A day later another agent goes on;
// from Codex it comes back. Every gate holds, a check and an approval after each change, and the log tells one story.
func TestAWorkflowGoesOnInAnotherAgent(t *testing.T) {
	of(t, slices.DeleteFunc(agents.All(), func(a *agents.Agent) bool { return a.Program != "codex" && a.Program != "gemini" }),
		func(t *testing.T, a *agents.Agent) {
			claude := realclient.New(t)
			w := a.In(t, claude.Place)
			program := withWorkflow(t, w)
			w.Write("project/.agents/skills/ship/fsm.json", wandering)
			fsmtx(t, w, program, "install", "--stop", "off")
			fsmtx(t, w, program, "install", "--agent", a.Program, "--stop", "off")

			first := claude.Session
			r := claude.Prompt(Script{Main: []Turn{
				Do(Bash("begin", program+" begin ./.agents/skills/ship")),
				Do(Bash("fails", program+" complete 1")),
				Do(Bash("make", "touch built")),
				Do(Bash("passes", program+" complete 1")),
				Do(Bash("approval", program+" complete 2")),
				Say("A person has to approve."),
			}}, "ship it")
			assert.Contains(t, r.Text("fails"), "its check failed")
			assert.Contains(t, r.Text("approval"), "Is the review done?")
			fsmtx(t, w, program, "step", "done", "2", "--because", "read it", "--session", first)
			claude.Try(Script{Main: []Turn{
				Do(Bash("start", program+" start 3")),
				Do(Bash("dies", "kill -9 $CLAUDE_PID")),
			}}, "go on")
			passes(t, 24*time.Hour, w.Path("home/.claude/tasks/."+first+".fsmtx"))

			there := w.Prompt(Script{Main: []Turn{
				Do(a.Bash("continue", program+" continue")),
				Do(a.Bash("fails", program+" complete 3")),
				Do(a.Bash("make", "touch tested; echo made")),
				Do(a.Bash("passes", program+" complete 3")),
				Do(a.Bash("approval", program+" complete 4")),
				Do(a.Bash("past", program+" step done 4 --because x")),
				Say("A person has to approve."),
			}}, "what is open?")
			require.Zero(t, there.Code)
			assert.True(t, there.Exchanges(Main)[0].Request.Says("this project has an unfinished workflow of another session (ship: 2 of 5 done"))
			assertResults(t, there, map[string]string{
				"continue": "ship goes on here (2 of 5 done)",
				"fails":    "its check failed",
				"passes":   `"Test" is done`,
				"approval": "person",
				"past":     "person can decide",
			})
			lists, err := filepath.Glob(w.Path("home/.local/state/fsmtx/tasks/project-*"))
			require.NoError(t, err)
			require.Len(t, lists, 1)
			fsmtx(t, w, program, "step", "done", "4", "--because", "signed it", "--list", filepath.Base(lists[0]))

			ends := func(bash func(id, command string) Block, first ...Turn) []Turn {
				return append(first, Do(bash("fails", program+" complete 5")), Do(bash("make", "touch published")),
					Do(bash("ends", program+" complete 5")), Say("Done."))
			}
			const complete = "The workflow is complete"
			if a.Program != "codex" {
				r := w.Prompt(Script{Main: ends(a.Bash)}, "publish it")
				assertResults(t, r, map[string]string{"fails": "its check failed", "ends": complete})
			} else {
				passes(t, time.Hour, filepath.Join(filepath.Dir(lists[0]), "."+filepath.Base(lists[0])+".fsmtx"))
				claude.Session = realclient.NewSession()
				r := claude.Prompt(Script{Main: ends(Bash, Do(Bash("continue", program+" continue")))}, "publish it")
				assert.Contains(t, r.Ran("SessionStart")[0].Stdout, "ship: 4 of 5 done")
				assert.Contains(t, r.Text("continue"), "ship goes on here (4 of 5 done)")
				assert.Contains(t, r.Text("fails"), "its check failed")
				assert.Contains(t, r.Text("ends"), complete)
			}
			story := fsmtx(t, w, program, "log", "--decisions").Stdout
			for _, text := range []string{"hydrated", "#1 \"Build\"", "read it", "#3 \"Test\"", "it was in the task list", "signed it",
				"published exited with 0"} {
				_, rest, found := strings.Cut(story, text)
				if assert.True(t, found, "%s is not told, or not in its turn", text) {
					story = rest
				}
			}
		})
}

// passes makes the files of a state directory older.
func passes(t *testing.T, by time.Duration, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	for _, e := range entries {
		require.NoError(t, os.Chtimes(filepath.Join(dir, e.Name()), time.Time{}, time.Now().Add(-by)))
	}
}
