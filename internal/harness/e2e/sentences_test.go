//go:build e2e

// Every sentence that a workflow brings to the person's screen and to the model, by each way in which an agent works on steps. With
// -update the file is written again; read each line of it then.

package e2e

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

const sentences = "testdata/sentences.txt"

// spoken is a workflow in which a step is refused, unchanged, sent back, chosen, not needed and approved.
const spoken = `{"fsm": 2, "steps": [
	{"id": 1, "subject": "Write", "produces": ["notes.md"], "check": "grep -q v2 notes.md || { echo 'notes.md does not name v2'; exit 1; }"},
	{"id": 2, "subject": "Test", "blockedBy": [1], "check": "test ! -e bad || { echo 'one test failed'; exit 1; }",
	  "outcomes": {"failed": {"back": 1, "max": 3}}},
	{"id": 3, "subject": "Choose", "blockedBy": [2], "decides": "person", "outcomes": ["stable", "beta"]},
	{"id": 4, "subject": "Lint", "check": "no-such-program"},
	{"id": 5, "subject": "Approve", "approval": "Publish it?"}
]}`

func TestTheSentencesOfAWorkflow(t *testing.T) {
	var all strings.Builder
	tell := func(name string, s *realclient.Sandbox, complete func(id, step string) Turn, skill string, args ...string) {
		s.Write("project/notes.md", "v2\n")
		ids := []string{"early", "unchanged", "bad notes", "refused", "good notes", "written", "bad", "back", "again", "still", "good", "tested",
			"undecided", "unrunnable", "unapproved"}
		r := s.Prompt(Script{Main: append(skillTurns(name, skill), complete("early", "2"), complete("unchanged", "1"),
			Do(Bash("bad notes", "echo v1 > notes.md")), complete("refused", "1"), Do(Bash("good notes", "echo v2 new > notes.md")),
			complete("written", "1"), Do(Bash("bad", "touch bad")), complete("back", "2"), complete("again", "1"), complete("still", "1"),
			Do(Bash("good", "rm bad")), complete("tested", "2"), complete("undecided", "3"), complete("unrunnable", "4"),
			complete("unapproved", "5"), Say("done"))}, "go", args...)
		fmt.Fprintf(&all, "== %s\n", name)
		for _, h := range r.Hooks {
			var reply struct {
				SystemMessage string `json:"systemMessage"`
			}
			if json.Unmarshal([]byte(h.Stdout), &reply, jsontext.AllowDuplicateNames(true)) == nil && reply.SystemMessage != "" {
				fmt.Fprintf(&all, "the person, at %s: %s\n", h.Name, reply.SystemMessage)
			}
		}
		for _, id := range ids {
			fmt.Fprintf(&all, "the model, of %s: %s\n", id, r.Text(id))
		}
	}
	commands := withoutTaskTools(t, spoken)
	tell("commands", commands, func(id, step string) Turn { return work(id, "complete "+step) }, "release")
	server := newServedHere(t, spoken)
	tell("server", server.Sandbox, func(id, step string) Turn { return server.call(id, "step_complete", int(step[0]-'0')) }, "fsmtx:release",
		server.args...)
	tasks := heldHere(t, spoken)
	tell("task tools", tasks, func(id, step string) Turn { return Do(TaskUpdate(id, step, "completed")) }, "release")

	got := all.String()
	for _, s := range []*realclient.Sandbox{commands, server.Sandbox, tasks} {
		got = strings.NewReplacer(s.Path("project"), "PROJECT", s.Session[:4], "LIST").Replace(got)
		require.NotContains(t, got, s.Session)
	}
	got = regexp.MustCompile(`(?m)^The user hasn't heard.*\n`).ReplaceAllString(got, "")
	require.NotContains(t, got, "--grant")
	if *redraw {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(sentences, []byte(got), 0o644))
	}
	kept, err := os.ReadFile(sentences)
	require.NoError(t, err)
	require.Equal(t, string(kept), got, "go test -tags e2e -run TestTheSentences ./internal/harness/e2e -update")
}

// skillTurns returns the turns that call the skill, and load the task tools for an agent that works by them.
func skillTurns(name, skill string) []Turn {
	turns := []Turn{Do(Skill("skill", skill))}
	if name == "task tools" {
		turns = append(turns, load)
	}
	return turns
}
