//go:build e2e

// When an agent with open steps is sent back, and when its turn may end (docs/steps.md).

package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// turns returns how many requests of the run followed the first time that the model wanted
// to end its turn: 0 if it was not sent back.
func turns(r *realclient.Run, before int) int { return len(r.Exchanges(Main)) - before - 1 }

func TestAnAgentIsRemindedOfItsSteps(t *testing.T) {
	s := held(t, steps("Release"), "--stop", "remind")

	r := s.Prompt(Script{Main: append(begun(),
		Say("done"),
		Do(TaskUpdate("start", "1", "in_progress")), // sent back
		Say("done"), // progress: sent back again
		Say("done"), // no progress: it may stop
	)}, "go")

	main := r.Exchanges(Main)
	for at, want := range map[int]string{3: "ready", 5: "in progress"} {
		news := main[at].Request.News()
		assert.Equal(t, 1, strings.Count(news, `release: 0 of 3 steps done. #1 "Release: collect" is `+want), "once in the request: %s", news)
	}
	stops := r.Ran("Stop")
	assert.Len(t, stops, 3, "one hook each time")
	for _, stop := range stops {
		assert.Less(t, len(stop.Stderr), 200)
	}
}

// What the client will wake the agent for once is waited for; with --stop hold it is not (fact 180).
func TestATurnMayEndUntilAWakeUp(t *testing.T) {
	for mode, want := range map[string]int{"remind": 0, "hold": 8} {
		t.Run(mode, func(t *testing.T) {
			s := held(t, steps("Release"), "--stop", mode)
			s.Allow = append(s.Allow, "CronCreate")
			main := append(begun(), Do(LoadTools("load cron", "CronCreate")),
				Do(Call("later", "CronCreate", map[string]any{"cron": "0 0 1 1 *", "prompt": "look at the build", "recurring": false})))
			for range want + 1 {
				main = append(main, Say("I look again when the build is done."))
			}

			r := s.Prompt(Script{Main: main}, "go")

			allowed(t, r, "later")
			assert.Equal(t, want, turns(r, len(begun())+2))
		})
	}
}

// In print mode and by a message that is typed while the agent works.
func TestThePersonSaysStop(t *testing.T) {
	t.Run("in a later prompt", func(t *testing.T) {
		s := held(t, steps("Release"), "--stop", "hold")
		work := append(begun(), Say("Shall I go on?"))
		for range 8 {
			work = append(work, Say("Shall I go on?"))
		}
		s.Prompt(Script{Main: work}, "go")

		r := s.Prompt(Script{Main: []Turn{Say("As you wish.")}}, "That's enough for today, please stop here, thank you very much")
		assert.Zero(t, turns(r, 0), "held")

		work = nil
		for range 9 {
			work = append(work, Say("It runs."))
		}
		r = s.Prompt(Script{Main: work}, "stop the server")
		assert.Equal(t, 8, turns(r, 0), "that is not a request to stop the work")
	})
	t.Run("while the agent works", func(t *testing.T) {
		s := held(t, steps("Release"), "--stop", "hold")
		// A real model takes long enough for the client to write the transcript.
		written := Bash("wait", "until grep -rq queued_command "+s.Home+"/.claude/projects; do sleep 0.1; done")

		r := s.PromptAndSay(Script{Main: append(begun(), Do(written), Say("As you wish."))}, "go", "OK, that will do for now. Please stop.")

		assert.Zero(t, turns(r, len(begun())+1))
	})
}

// Facts 181 and 182: nothing is run in plan mode, also not the check of a step, which the client would not stop: it lets
// TaskUpdate through.
func TestNoCheckRunsInPlanMode(t *testing.T) {
	s := held(t, `[{"id": 1, "subject": "Write", "check": "touch ran"}, {"id": 2, "subject": "Print"}]`)

	r := s.Prompt(Script{Main: append(begun(), Do(TaskUpdate("checked", "1", "completed")), Do(TaskUpdate("free", "2", "completed")),
		Do(Bash("shell", fsmtx+" complete 1")), Say("done"))}, "go", "--permission-mode", "plan")
	assert.Contains(t, denied(t, r, "checked"), "cannot be completed in plan mode")
	allowed(t, r, "free")
	denied(t, r, "shell")
	assert.NoFileExists(t, s.Path("project/ran"))
}

// A subagent is sent back to the step that it has started, and to no other; the payload
// of SubagentStop lists it among what is running (fact 40).
func TestASubagentIsSentBackToItsStep(t *testing.T) {
	s := held(t, `[{"id": 1, "subject": "Write"}, {"id": 2, "subject": "Look"}]`, "--stop", "remind")

	r := s.Prompt(Script{
		Main: []Turn{
			Do(Skill("skill", "release")), load,
			Do(TaskUpdate("start 2", "2", "in_progress")),
			Do(Agent("idle", "general-purpose", "be idle")),
			Do(Agent("writer", "general-purpose", "be a writer")),
			Do(TaskUpdate("complete 2", "2", "completed")),
			Say("done"),
		},
		Agents: map[string][]Turn{
			"be idle": {Say("idled")},
			"be a writer": {
				load,
				Do(TaskUpdate("start 1", "1", "in_progress")),
				Say("wrote"), // sent back
				Do(TaskUpdate("complete 1", "1", "completed")),
				Say("wrote it all"),
			},
		},
	}, "go")

	allowed(t, r, "start 1", "complete 1", "start 2", "complete 2")
	assert.Contains(t, r.Text("idle"), "idled")
	assert.Contains(t, r.Text("writer"), "wrote it all")
	var told string
	for _, x := range r.Exchanges(Subagent) {
		told += x.Request.News()
	}
	assert.Contains(t, told, `#1 "Write" is in progress.`)
	assert.NotContains(t, told, `#2 "Look"`)
	assert.Equal(t, "done", r.Final)
	require.Equal(t, 2, stateOf(t, s).Count().Done)
}
