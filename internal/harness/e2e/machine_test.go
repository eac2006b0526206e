//go:build e2e

// The workflows of testdata/machine, and that of the planning, on the real client, from begin to
// end, each with outcomes that are refused.

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// move is what happens next in a workflow.
type move struct {
	task, outcome string // the agent completes it
	start         bool   // the agent starts it
	person        bool   // a person says so, in a terminal
	shell, skill  string // the agent runs this, then calls this skill, first
	set           string // the values it gives, as the members of an object
	denied        string // what the agent reads if it is refused
	back          string // what it reads if the outcome leads back
}

// workplace makes the files that the workflows' checks and commands look at.
const workplace = `mkdir -p scripts docs specs/feature; printf 'test:\n\t@test -e code\nlint:\n\t@true\n' > Makefile
printf '#!/bin/sh\ntest -e fixed\n' > scripts/repro; printf '#!/bin/sh\ntest -e recovered\n' > scripts/error-rate-ok; printf '#!/bin/sh\nexit 0\n' > scripts/bump-ok
printf '#!/bin/sh\necho one\n' > scripts/all-packages; printf '#!/bin/sh\ntest -e answered || echo what\n' > scripts/open-questions; cp scripts/bump-ok scripts/every-claim-has-a-source
chmod +x scripts/*; git init -q -b feature .; git add Makefile; git -c user.name=a -c user.email=a@b commit -qm x`

// machines are the moves, by the file of the workflow in testdata.
var machines = map[string][]move{
	"machine/1-tdd.json": {{task: "1"}, {task: "2", shell: "touch code"}, {task: "3"}, {task: "4"},
		{task: "5", denied: "say how it ends"}, {task: "5", outcome: "anothr",
			denied: `it cannot end as "anothr". Complete it with metadata {"outcome": "another"}`},
		{task: "5", outcome: "another", back: "time 1 of 20"}, {task: "1", denied: "its check failed"},
		{task: "1", shell: "rm code"}, {task: "2"},
		{task: "3", back: "Run every test: failed, time 1 of 5"}, {task: "2", shell: "touch code"}, {task: "3"}, {task: "4"},
		{task: "5", outcome: "complete"}},
	"machine/2-review.json": {{task: "1"}, {task: "2", back: "Test it: failed, time 1 of 3"}, {task: "1", shell: "touch code"}, {task: "2"},
		{task: "3", outcome: "approved", denied: "REVIEW.md"}, {task: "3", outcome: "disputed", denied: `nobody chooses "disputed"`},
		{task: "3", outcome: "approved", shell: "echo BLOCKER > REVIEW.md", denied: "its check failed"},
		{task: "3", outcome: "changes", back: "changes, time 1 of 3"},
		{task: "1"}, {task: "2"}, {task: "3", outcome: "approved", shell: "echo fine > REVIEW.md"}, {task: "5"}},
	"machine/3-release.json": {{task: "1"}, {task: "2", outcome: "major", denied: "is decided by the person"},
		{task: "2", outcome: "minor", person: true}, {task: "3", denied: "it has to give"},
		{task: "3", set: `"version": "1.4"`, denied: "does not match"}, {task: "3", set: `"version": "1.4.0"`},
		{task: "5", denied: "CHANGELOG.md"}, {task: "5", shell: "echo 1.4.0 > CHANGELOG.md"}, {task: "6", back: "failed, time 1 of 2"},
		{task: "6", shell: "touch code"},
		{task: "7", denied: "1.4.0"}, {task: "7", person: true}},
	"machine/4-incident.json": {{task: "1", outcome: "sev1", denied: "is decided by the person"},
		{task: "1", outcome: "sev2", person: true}, {task: "3"},
		{task: "4", outcome: "rollback", denied: `it cannot end as "rollback"`}, {task: "4", outcome: "rolled-back"},
		{task: "5", back: "failed, time 1 of 10"},
		{task: "3"}, {task: "4", outcome: "patched", shell: "touch recovered"}, {task: "5"}, {task: "6"}, {task: "7", denied: "postmortem.md"},
		{task: "7", shell: "echo it > postmortem.md"}, {task: "8"}},
	"machine/5-migration.json": {{task: "1", denied: "packages.txt"}, {task: "1", shell: "echo one > packages.txt"},
		{task: "2", outcome: "parked", denied: "has no outcomes. Leave the outcome out"}, {task: "2", start: true},
		{task: "2", denied: `#6 "Migrate one"`}, {task: "6"}, {task: "7", back: "Test one: failed, time 1 of 3"},
		{task: "7", denied: `#6 "Migrate one"`},
		{task: "6", shell: "mkdir -p one; cp Makefile one; touch one/code"}, {task: "7"}, {task: "2"},
		{task: "3", shell: "echo none > MIGRATION.md"}, {task: "4", shell: "touch code"}, {task: "5", start: true},
		{task: "5", denied: "release-notes"}, {task: "5", skill: "release-notes"}},
	"machine/6-speckit.json": {{task: "1", start: true}, {task: "1", shell: "echo NEEDS CLARIFICATION > specs/feature/spec.md",
		denied: "speckit-specify"}, {task: "1", skill: "speckit-specify"},
		{task: "2", outcome: "clear", denied: "leave the outcome out"}, {task: "2"},
		{task: "3", denied: "its check failed"}, {task: "3", shell: "echo clear > specs/feature/spec.md"},
		{task: "4", outcome: "approved", denied: "is decided by the person"},
		{task: "4", outcome: "approved", person: true}, {task: "5", start: true}, {task: "5", skill: "speckit-plan"},
		{task: "6", outcome: "rework", person: true},
		{task: "5", start: true}, {task: "5", denied: "speckit-plan"}, {task: "5", skill: "speckit-plan"},
		{task: "6", outcome: "approved", person: true},
		{task: "7", shell: "echo one > specs/feature/tasks.list"}, {task: "8", start: true}, {task: "8", denied: `"Implement: one"`},
		{task: "17"}, {task: "8"},
		{task: "9", back: "failed, time 1 of 3"}, {task: "8", start: true}, {task: "25", shell: "touch code"}, {task: "8"}, {task: "9"}},
	"machine/7-bughunt.json": {{task: "1", outcome: "fixed", denied: `it cannot end as "fixed"`}, {task: "1", outcome: "reproduced"},
		{task: "2", set: `"hypothesis": "short"`, denied: "does not match"},
		{task: "2", set: `"hypothesis": "it is the cache"`}, {task: "3", outcome: "confirmed", denied: "evidence.md"},
		{task: "3", outcome: "refuted", back: "refuted, time 1 of 6"},
		{task: "2", denied: "it has to give"}, {task: "2", set: `"hypothesis": "it is the parser"`},
		{task: "3", outcome: "confirmed", shell: "echo it > evidence.md"}, {task: "5"}, {task: "6", back: "failed, time 1 of 3"},
		{task: "5", shell: "touch code fixed"}, {task: "6"}},
	"machine/8-research.json": {{task: "1", shell: "echo what > questions.txt"}, {task: "2", start: true}, {task: "6"},
		{task: "7", outcome: "stand", denied: `it cannot end as "stand"`}, {task: "7", outcome: "open"}, {task: "2"},
		{task: "3", outcome: "enough", denied: "leave the outcome out"}, {task: "3", back: "more, time 1 of 4"}, {task: "2", start: true},
		{task: "8"}, {task: "9", outcome: "stands"}, {task: "2"}, {task: "3", shell: "touch answered"}, {task: "5", denied: "report.md"},
		{task: "5", shell: "echo it > report.md"}},
	"workflows/planning/fsm.json": {{task: "1", denied: "specs/feature/spec.md"},
		{task: "1", shell: "echo it > specs/feature/spec.md; echo it > specs/feature/.planning-state.local.md"},
		{task: "2", shell: "echo it > specs/feature/research.md"}, {task: "3"},
		{task: "4", shell: "for f in .minimal .clean .pragmatic ''; do echo it > specs/feature/design$f.md; done"}, {task: "5"},
		{task: "6", outcome: "green", shell: "echo it > specs/feature/plan.md; echo 'verdict: RED' >> specs/feature/.planning-state.local.md",
			denied: "a gate in the state file is RED"},
		{task: "6", outcome: "red", back: "red, time 1 of 3"}, {task: "7", denied: `#4 "Phase 4: architecture"`},
		{task: "4", denied: "are as they were before the step was worked on"},
		{task: "4", shell: "for f in .minimal .clean .pragmatic ''; do echo anew > specs/feature/design$f.md; done"}, {task: "5"},
		{task: "6", outcome: "green", shell: "echo it > specs/feature/.planning-state.local.md; echo anew > specs/feature/plan.md"},
		{task: "7", shell: "echo it > specs/feature/test-plan.md; printf '# UT-001\n# UAT-001\n' > specs/feature/tests.md"},
		{task: "8", outcome: "covered", denied: "no coverage matrix"}, {task: "8", outcome: "covered",
			shell: "echo Coverage matrix >> specs/feature/test-plan.md"},
		{task: "9", denied: "specs/feature/tasks.md"},
		{task: "9", shell: "for n in 1 2; do echo \"## Phase $n\"; for m in 1 2 3; do echo \"- [ ] [T00$m] it (UT-001)\"; done; " +
			"done > specs/feature/tasks.md",
			denied: "Is the planning complete?"},
		{task: "9", person: true}},
}

func TestTheMachines(t *testing.T) {
	for file, moves := range machines {
		t.Run(file, func(t *testing.T) {
			fsm, err := os.ReadFile(filepath.Join("../../../testdata", file))
			require.NoError(t, err)
			s := held(t, string(fsm))
			for _, plain := range []string{"release-notes", "speckit-specify", "speckit-plan"} {
				s.Write(projectSkills+"/"+plain+"/SKILL.md", strings.ReplaceAll(plainSkill, "plain", plain))
			}
			s.Allow = []string{"Skill", "Bash"}
			turns := append(begun(), Do(Bash("workplace", workplace)))
			first := 0
			for i, m := range moves {
				if m.person {
					play(t, s, turns, moves, first, i)
					byHand(t, s, m)
					turns, first = []Turn{load}, i+1
					continue
				}
				if m.shell != "" {
					turns = append(turns, Do(Bash(fmt.Sprint("shell ", i), m.shell)))
				}
				if m.skill != "" {
					turns = append(turns, Do(Skill(fmt.Sprint("skill ", i), m.skill)))
				}
				turns = append(turns, Do(m.call(t, fmt.Sprint("move ", i))))
			}
			play(t, s, turns, moves, first, len(moves))
			for _, c := range stateOf(t, s).Steps {
				assert.NotEmpty(t, c.Outcome, c.Name())
			}
		})
	}
}

// call returns the agent's update.
func (m move) call(t *testing.T, id string) Block {
	metadata := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte("{"+m.set+"}"), &metadata))
	if m.outcome != "" {
		metadata["outcome"] = m.outcome
	}
	input := map[string]any{"taskId": m.task, "status": map[bool]string{true: "in_progress", false: "completed"}[m.start]}
	if len(metadata) > 0 {
		input["metadata"] = metadata
	}
	return Call(id, "TaskUpdate", input)
}

// byHand ends a step as a person does in a terminal of their own.
func byHand(t *testing.T, s *realclient.Sandbox, m move) {
	args := []string{"step", "done", m.task, "--because", "I say so", "--session", s.Session}
	if m.outcome != "" {
		args = append(args, "--outcome", m.outcome)
	}
	own := s.Sit(fsmtx, args...)
	require.Zero(t, own.Wait(), own.Text())
}

// play lets the model make the moves from first up to, but without, end.
func play(t *testing.T, s *realclient.Sandbox, turns []Turn, moves []move, first, end int) {
	r := s.Prompt(Script{Main: append(turns, Say("done"))}, "go")
	for i := first; i < end; i++ {
		id := fmt.Sprint("move ", i)
		switch m := moves[i]; {
		case m.denied != "":
			assert.Contains(t, denied(t, r, id), m.denied, "%+v", m)
		case m.back != "":
			allowed(t, r, id)
			assert.Contains(t, r.After(id).Request.News(), m.back, "%+v", m)
		default:
			allowed(t, r, id)
		}
	}
}
