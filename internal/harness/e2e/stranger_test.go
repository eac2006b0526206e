//go:build e2e

// What README promises to a person who has read nothing else: a first skill is held, by init and one command of the client.

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// A person with the default model answers the questions of init, types the skill, sees each step, is asked for the approval, and
// reads the end: with the list that init offers, and without it.
func TestAStrangerGetsASkillHeld(t *testing.T) {
	for name, answer := range map[string]string{"the list is shown": "\r", "nothing is drawn": "n\r"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := realclient.New(t)
			s.Env["CLAUDE_CODE_ENABLE_TODO_TOOLS"] = ""
			onPath(s)
			s.Write("project/Makefile", "test:\n\t@test -f CHANGELOG.md\n")
			s.Write("project/.claude/skills/release/SKILL.md", "---\nname: release\ndescription: Release.\n---\n\n# Release\n\n"+
				"1. Write the changes into `CHANGELOG.md`.\n2. Run `make test` and make sure it passes.\n"+
				"3. Publish. Ask the user for approval before you publish.\n")
			setUp := s.Sit(fsmtx, "init")
			for _, one := range [][2]string{{"step 1:", "y\r"}, {"step 2:", "y\r"}, {"step 3:", "y\r"}, {"fsm.json? [Y/n]", "\r"}, {"[local]", "\r"},
				{"as a list? [Y/n]", answer}, {"[y/N] ", "\r"}} {
				setUp.See(0, one[0])
				setUp.Type(one[1])
			}
			setUp.See(0, "start claude here and type /release")
			assert.Zero(t, setUp.Wait())

			begin := func(step string) Turn { return work("begin "+step, "start "+step) }
			end := func(id, step string) Turn { return work(id, "complete "+step) }
			var turns []Turn
			if answer == "\r" {
				turns = append(turns, load)
				begin = func(step string) Turn { return Do(TaskUpdate("begin "+step, step, "in_progress")) }
				end = func(id, step string) Turn { return Do(TaskUpdate(id, step, "completed")) }
			}
			m := attended(s, "/release", Script{Main: append(turns, begin("1"), end("early", "3"), end("missing", "1"),
				Do(write("file", s.Path("project/CHANGELOG.md"))), end("1", "1"),
				begin("2"), end("2", "2"), begin("3"), end("3", "3"), Say("the-turn-is-over"))}, "--permission-mode", "acceptEdits",
				"--allowedTools", "ToolSearch", "TaskUpdate")
			if answer == "\r" {
				m.See(0, "Publish › blocked by #2")
				m.See(0, "#3 \"Publish\" cannot be completed: #2 \"Run `make test` and make sure it passes\" must be done")
			} else {
				m.See(0, `PostToolUseFailure:Bash says: release: #3 "Publish" was refused: #2 is not done`)
				m.See(0, "PostToolUseFailure:Bash says: release: #1 \"Write the changes into `CHANGELOG.md`\" was refused: missing: CHANGELOG.md")
			}
			for _, text := range []string{"release: 3 tasks #1–#3", "release: 1 of 3 done: #1",
				"May the next step begin: Publish?"} { // which is asked when the step before it is to be completed
				m.See(0, text)
			}
			m.Answer(0, "\r", "the-turn-is-over")
			for _, text := range []string{"release: 2 of 3 done: #2", `release: 3 of 3 done: #3 "Publish"`} {
				m.Answer(0, "\x0c", text) // control and l: of a line that is like the one before, only what differs is drawn
			}
			r := m.Run()
			denied(t, r, "early")
			allowed(t, r, "1", "2", "3")
			assert.Equal(t, 3, stateOf(t, s).Count().Done)
		})
	}
}
