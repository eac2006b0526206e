//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// What an agent writes around a command changes nothing about the decision: the client's hook has seen it. A line that changes the
// environment of the command, or hides what it is about, is refused; a script is on record as one.
func TestLinesAroundACommand(t *testing.T) {
	const refusedLine, unseen = state.How("refused"), state.ByShell
	lines := []struct {
		line string
		how  state.How
	}{
		{"fsmtx complete N | cat", state.ByCommand},
		{"fsmtx complete N 2>&1 | tail -n 5 >out.txt", state.ByCommand},
		{"cd sub && fsmtx complete N; cd ..", state.ByCommand},
		{"fsmtx start N; fsmtx complete N", state.ByCommand},
		{`fsmtx complete N --note "$(date +%Y)"`, state.ByCommand},
		{"timeout 60 fsmtx complete N && echo done", state.ByCommand},
		{"X=1; echo $X; fsmtx complete N", state.ByCommand},
		{"(fsmtx complete N)", state.ByCommand},
		{"sleep 1; fsmtx complete N # in the background", state.ByCommand},
		{"fsmtx complete N # by a subagent", state.ByCommand},
		{"sh tool.sh N", unseen},
		{"MAKEFLAGS=-n fsmtx complete N", refusedLine},
		{"PATH=$PWD/fake:$PATH fsmtx complete N", refusedLine},
		{"export PATH=$PWD/fake:$PATH; fsmtx complete N", refusedLine},
		{"for i in N; do fsmtx complete $i; done", refusedLine},
		{"sh -c 'fsmtx complete N'", refusedLine},
		{"env A=1 fsmtx complete N", refusedLine},
	}
	var steps []string
	var helper []Turn
	turns := []Turn{Do(Skill("skill", "release"))}
	for i, l := range lines {
		n := fmt.Sprint(i + 1)
		steps = append(steps, fmt.Sprintf(`{"id": %s, "subject": "S%s", "check": "test -e here"}`, n, n))
		line := strings.ReplaceAll(l.line, "N", n)
		turn := Do(Bash(l.line, line))
		switch {
		case strings.HasSuffix(line, "background"):
			turn = Do(Call(l.line, "Bash", map[string]any{"command": line, "description": "run", "run_in_background": true}))
		case strings.HasSuffix(line, "subagent"):
			helper = []Turn{turn, Say("helped")}
			turn = Do(Agent("agent", "general-purpose", "be a helper"))
		}
		turns = append(turns, turn)
	}
	turns = append(turns, Do(Bash("wait", "until grep -q completed $HOME/.claude/tasks/*/9.json; do sleep 0.1; done")))
	s := withoutTaskTools(t, "["+strings.Join(steps, ",")+"]")
	s.Allow = append(s.Allow, "Bash", "Agent")
	s.Write("project/here", "x")
	s.Write("project/sub/x", "x")
	s.Write("project/tool.sh", "fsmtx complete $1\n")
	s.Write("project/fake/test", "exit 0\n")
	r := s.Prompt(Script{Main: append(turns, Say("done")), Agents: map[string][]Turn{"be a helper": helper}}, "go")
	st := stateOf(t, s)
	for i, l := range lines {
		c := st.Step(int64(i + 1))
		if l.how == refusedLine {
			assert.Contains(t, denied(t, r, l.line), "Run it plainly", l.line)
			assert.False(t, c.Done(), l.line)
			continue
		}
		assert.True(t, c.Done(), "%s: %s", l.line, r.Text(l.line))
		for _, e := range st.About(c.ID) {
			if e.Verdict == state.Allow && e.To == workflow.Completed {
				assert.Equal(t, l.how, e.By.How, l.line)
				assert.Equal(t, l.how == unseen, slices.Contains(e.Gaps, state.Unseen), l.line)
			}
		}
	}
}

// The client runs an edit and the commands of one message one after the other, in their order, each with its hooks (fact 64): each is
// decided as if it were alone. So a command finds what the call before it did, and one that comes too early is refused.
func TestCallsOfOneMessage(t *testing.T) {
	s := withoutTaskTools(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Write", "check": "test -e here"},
		{"id": 2, "subject": "Two", "blockedBy": [1], "check": "sleep 0.2"}, {"id": 3, "subject": "Three", "blockedBy": [2]},
		{"id": 4, "subject": "Four"}, {"id": 5, "subject": "Five", "blockedBy": [4]},
		{"id": 6, "subject": "Once", "check": "echo ran >>ran"},
		{"id": 7, "subject": "Seven"}, {"id": 8, "subject": "Sign", "blockedBy": [7], "approval": "Sign it?"}]}`)
	s.Allow = append(s.Allow, "Bash", "Write")
	complete := func(n string) Block { return Bash("complete "+n, "fsmtx complete "+n) }
	r := s.Prompt(Script{Main: []Turn{Do(Skill("skill", "release")),
		Do(write("write", s.Path("project/here")), complete("1")), Do(complete("2"), complete("3")), Do(complete("5"), complete("4")),
		Do(complete("6"), Bash("again", "fsmtx complete 6")), Do(complete("7"), complete("8")), Say("done")}}, "go")
	assert.Contains(t, r.Text("complete 5"), `#4 "Four" must be done first`)
	assert.Contains(t, r.Text("again"), `#6 "Once" is done`)
	assert.Equal(t, "ran\n", read(t, s, "project/ran"))
	assert.Contains(t, denied(t, r, "complete 8"), "Sign it?")
	st := stateOf(t, s)
	assert.Equal(t, 6, st.Count().Done)
	last := st.About(8)[len(st.About(8))-1]
	assert.NotEqual(t, "a person said no", last.Why, "nobody was asked (fact 195)")
}
