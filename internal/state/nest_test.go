package state

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// treeOf returns the state of workflows, each written as "command parent", whose steps are
// numbered from 10, 20 and so on.
func treeOf(workflows ...string) *State {
	s := &State{Time: time.Now()}
	for n, text := range workflows {
		w := &workflow.Workflow{Session: "s1"}
		_, _ = fmt.Sscanf(text, "%s %d", &w.Command, &w.Parent)
		for i := range int64(3) {
			s.Steps = append(s.Steps, &Current{Step: Step{ID: int64(n+1)*10 + i, Subject: "x"}, Workflow: w, Status: pending})
		}
	}
	proved(s).Fold()
	return s
}

// startedIn makes steps be in progress, one started after the other by the agent.
func startedIn(s *State, agent string, ids ...int64) *State {
	for _, id := range ids {
		s.Time = s.Time.Add(time.Second)
		s.Step(id).Status = inProgress
		s.Evidence = append(s.Evidence, Evidence{Time: s.Time, Step: id, From: pending, To: inProgress, Verdict: Allow, Agent: agent,
			By: By{Session: "s1", Agent: agent}})
	}
	return s
}

// setBack makes a step pending again.
func setBack(s *State, id int64) *State {
	s.Step(id).Status = pending
	s.Evidence = append(s.Evidence, Evidence{Time: s.Time, Step: id, From: inProgress, To: pending, Verdict: Allow})
	return s
}

// lapsedStart is a start that was let through and has not reached the list.
func lapsedStart(s *State, id int64) *State {
	startedIn(s, "", id).Step(id).Status = pending
	s.Evidence = append(s.Evidence, Evidence{Time: s.Time, Step: id, From: pending, To: inProgress, Verdict: Lapsed})
	return s
}

// completedSteps makes steps be done.
func completedSteps(s *State, ids ...int64) *State {
	for _, id := range ids {
		s.Step(id).Status = completed
		s.Evidence = append(s.Evidence, Evidence{Time: s.Time, Step: id, To: completed, Verdict: SeenDone, Outcome: machine.Done})
	}
	s.Fold()
	return s
}

func TestPlace(t *testing.T) {
	of := func(command string) Calling { return Calling{Command: command} }
	for name, tt := range map[string]struct {
		state    *State
		call     Calling
		parent   int64 // 0 if it replaces
		replaces string
		lost     string
	}{
		"nothing there":                       {treeOf(), of("b"), 0, "", ""},
		"not begun":                           {treeOf("a"), of("b"), 0, "", "a (0 of 3 done)"},
		"another session's of the skill":      {treeOf("a"), Calling{Command: "a", Session: "s2"}, 0, "", "a (0 of 3 done)"},
		"started and set back":                {setBack(startedIn(treeOf("a"), "", 11), 11), of("b"), 10, "", ""},
		"a start that has lapsed":             {lapsedStart(treeOf("a"), 11), of("b"), 0, "", "a (0 of 3 done)"},
		"finished":                            {completedSteps(treeOf("a"), 10, 11, 12), of("b"), 0, "", ""},
		"a step in progress":                  {startedIn(treeOf("a"), "", 11), of("b"), 11, "", ""},
		"one done, none in progress":          {completedSteps(treeOf("a"), 10), of("b"), 11, "", ""},
		"typed, one done":                     {completedSteps(treeOf("a"), 10), Calling{Command: "b", Typed: true}, 0, "", "a (1 of 3 done)"},
		"typed, one in progress":              {startedIn(treeOf("a"), "", 11), Calling{Command: "b", Typed: true}, 11, "", ""},
		"the one started last":                {startedIn(treeOf("a"), "", 12, 10), of("b"), 10, "", ""},
		"the one that the same agent started": {startedIn(startedIn(treeOf("a"), "", 11), "x", 12), of("b"), 11, "", ""},
		"the one that the subagent started": {startedIn(startedIn(treeOf("a"), "x", 11), "", 12),
			Calling{Command: "b", Agent: "x"}, 11, "", ""},
		"a subagent that started none":        {startedIn(treeOf("a"), "", 10, 12), Calling{Command: "b", Agent: "x"}, 12, "", ""},
		"another session's":                   {startedIn(treeOf("a"), "", 11), Calling{Command: "b", Session: "s2"}, 11, "", ""},
		"the same skill":                      {startedIn(treeOf("a"), "", 11), of("a"), 0, "", ""},
		"the same skill, another in progress": {startedIn(treeOf("a", "b"), "", 20, 11), of("a"), 0, "", "b (0 of 3 done)"},
		"inside":                              {startedIn(treeOf("a", "b 10"), "", 10, 21), of("c"), 21, "", ""},
		"beside one that has not begun":       {startedIn(treeOf("a", "b 10"), "", 10), of("c"), 10, "", ""},
		"beside it, nothing in progress":      {completedSteps(treeOf("a", "b 11"), 10), of("c"), 11, "", ""},
		"from its own step":                   {startedIn(treeOf("a", "b 10"), "", 10, 21), of("b"), 10, "b", ""},
		"again before it has begun":           {startedIn(treeOf("a", "b 10"), "", 10), of("b"), 10, "b", ""},
		"from its own step, with one below": {startedIn(completedSteps(startedIn(treeOf("a", "b 10", "c 21"), "", 10), 30, 31, 32), "", 21),
			of("b"), 10, "b, c", ""},
		"again when it is finished":              {completedSteps(startedIn(treeOf("a", "b 10"), "", 10), 20, 21, 22), of("b"), 10, "b", ""},
		"a fourth":                               {startedIn(treeOf("a", "b 10", "c 20"), "", 10, 20, 30), of("d"), 20, "", ""},
		"a fourth again":                         {startedIn(treeOf("a", "b 10", "c 20", "d 20"), "", 10, 20, 30), of("d"), 20, "d", ""},
		"a fifth from the fourth":                {startedIn(treeOf("a", "b 10", "c 20", "d 20"), "", 10, 20, 40), of("e"), 20, "", ""},
		"another agent's of the same name stays": {startedIn(treeOf("a", "b 10"), "", 10), Calling{Command: "b", Agent: "x"}, 10, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			tt.call.Session = cmp.Or(tt.call.Session, "s1")
			got, err := tt.state.Place(tt.call)
			require.NoError(t, err)
			var parent int64
			if got.Parent != nil {
				parent = got.Parent.ID
			}
			assert.Equal(t, tt.parent, parent)
			assert.Equal(t, tt.replaces, commandsIn(got.Replaces))
			assert.Equal(t, tt.lost, textsOf(got.Lost))
		})
	}
}

func textsOf(lost []Lost) string {
	var texts []string
	for _, l := range lost {
		texts = append(texts, l.Text)
	}
	return strings.Join(texts, ", ")
}

func commandsIn(all []*workflow.Workflow) string {
	var commands []string
	for _, w := range all {
		commands = append(commands, w.Command)
	}
	return strings.Join(commands, ", ")
}

func TestASkillIsNotInsideItself(t *testing.T) {
	s := startedIn(treeOf("a", "b 10", "c 20"), "", 10, 20, 30)
	for _, command := range []string{"a", "b"} {
		_, err := s.Place(Calling{Command: command, Session: "s1"})
		require.ErrorIs(t, err, ErrOpenAbove, command)
	}
	_, err := s.Place(Calling{Command: "a", Session: "s1"})
	assert.EqualError(t, err, `"a": the skill is open already: #10 "x" of it has led to the workflow of c, `+
		`and a skill cannot be inside itself. Go on with #30 "x"`)
}

// TestWhatIsOnRecordOnlyCounts: a workflow whose record cannot be read is replaced, as tasks
// without a record are; and a step that came into the list as completed was not worked on.
func TestWhatIsOnRecordOnlyCounts(t *testing.T) {
	s := startedIn(treeOf("a"), "", 11)
	for _, c := range s.Steps {
		c.Unread = true
	}
	got, err := s.Place(Calling{Command: "b"})
	require.NoError(t, err)
	assert.Nil(t, got.Parent)

	s = completedSteps(treeOf("a"), 10)
	s.Step(10).Step.Status = fsmspec.Completed
	got, err = s.Place(Calling{Command: "b"})
	require.NoError(t, err)
	assert.Nil(t, got.Parent)
}

func TestCopiesCountAsTheSkillThatTheyBelongTo(t *testing.T) {
	s := startedIn(treeOf("a", "a 10", "b 20", "c 30"), "", 10, 20, 30, 40)
	s.Step(20).Workflow.Part = true
	s.Fold()
	got, err := s.Place(Calling{Command: "d", Session: "s1"})
	require.NoError(t, err)
	assert.Equal(t, int64(30), got.Parent.ID, "a and its copy are one level, so c is the third")
	_, err = s.Place(Calling{Command: "a", Session: "s1"})
	assert.ErrorIs(t, err, ErrOpenAbove)
}

// TestPlaceLosesNothing: whatever is called in whatever tree, no more than maxDepth skills are
// one within the other, none inside itself, and what gives way to a nested workflow is of the
// same skill under the same step, or below that.
func TestPlaceLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []string
		s := treeOf("a")
		startedIn(s, "", 10)
		command := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
		list = append(list, "a")
		for range rapid.IntRange(1, 8).Draw(t, "calls") {
			c := Calling{Command: command.Draw(t, "command"), Session: "s1", Agent: rapid.SampledFrom([]string{"", "x"}).Draw(t, "agent"),
				Typed: rapid.Bool().Draw(t, "typed")}
			open := slices.ContainsFunc(s.Steps, func(b *Current) bool { return b.Status == inProgress && !b.Done() })
			place, err := s.Place(c)
			switch {
			case err != nil:
				continue
			case place.Parent == nil:
				same := func(b *Current) bool { return b.Workflow.Command == c.Command && b.Workflow.Parent == 0 }
				require.True(t, !open || len(place.Lost) == 0 || slices.ContainsFunc(s.Steps, same),
					"%+v replaces %s although a step is in progress", c, textsOf(place.Lost))
				return
			}
			above := s.callsAbove(place.Parent)
			require.Less(t, len(above), maxDepth, "skills are open within another")
			require.NotContains(t, commandsIn(above), c.Command, "it is inside itself")
			for _, w := range place.Replaces {
				require.True(t, w.Command == c.Command && s.Parent(w) == place.Parent || slices.Contains(place.Replaces, s.Parent(w).Workflow),
					"%s under %s gives way to %s under #%d", w.Command, s.Parent(w).Name(), c.Command, place.Parent.ID)
			}
			list = append(list, c.Command)
			s.Steps = slices.DeleteFunc(s.Steps, func(b *Current) bool { return slices.Contains(place.Replaces, b.Workflow) })
			w := &workflow.Workflow{Command: c.Command, Parent: place.Parent.ID, Session: "s1", Agent: c.Agent}
			for i := range int64(2) {
				s.Steps = append(s.Steps, &Current{Step: Step{ID: int64(len(list))*10 + i}, Workflow: w, Status: pending})
			}
			proved(s).Fold()
			if rapid.Bool().Draw(t, "start") {
				startedIn(s, c.Agent, int64(len(list))*10)
			}
			done := rapid.SampledFrom(s.Steps).Draw(t, "done")
			if rapid.Bool().Draw(t, "complete") && len(s.OpenFor(done, completed)) == 0 {
				completedSteps(s, done.ID)
			}
			for _, w := range s.Workflows() {
				require.LessOrEqual(t, s.depth(w), maxDepth)
			}
		}
	})
}

func TestASkillThatDemandsOneAboveIsRefused(t *testing.T) {
	s := startedIn(treeOf("a", "b 10"), "", 10, 20)
	_, err := s.Place(Calling{Command: "c", Session: "s1", Demands: []string{"x", "a"}})
	require.ErrorIs(t, err, ErrCircle)
	_, err = s.Place(Calling{Command: "c", Session: "s1", Demands: []string{"x", "c2"}})
	require.NoError(t, err)
}
