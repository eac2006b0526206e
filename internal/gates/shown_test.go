package gates

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// said returns all that other packages ask about the steps of a list: a line for each step, with
// what does not apply to it left out.
func said(t *testing.T, s *state.State) string {
	var lines []string
	for _, c := range s.Steps {
		words := []string{fmt.Sprint(c.ID, " ", s.Word(c))}
		add := func(what, text string) {
			if text != "" {
				words = append(words, what+text)
			}
		}
		add("as ", c.Outcome)
		add("because ", c.WhyNotNeeded())
		add("", strings.TrimSpace(c.Rounds()))
		add("", strings.TrimSpace(s.Items(c)))
		add("item ", s.Item(c))
		add("", strings.TrimSpace(s.Belongs(c)))
		add("", s.OverText(c)+s.OverLimit(c))
		if c.PartOf() != 0 {
			add("in ", message.Itoa(c.PartOf()))
		}
		if s.Copied(c) != (s.Item(c) != "") {
			add("", "copied or not")
		}
		if s.Undecided(c) {
			add("", "undecided")
		}
		if s.AwaitsPerson(c) {
			add("", "asked")
		}
		if waits := s.Waits(c); len(waits) > 0 {
			add("after ", fmt.Sprint(waits))
		}
		var choices []string
		for _, o := range s.Choosable(c) {
			text := fmt.Sprintf("%s by %s", o.Name, o.ChosenBy)
			if o.Back != 0 {
				text += fmt.Sprintf(" to %d, %d of %d", o.Back, o.Used, o.Max)
			}
			if o.Then != "" {
				text += ", then " + o.Then
			}
			if o.ChosenBy != "machine" {
				choices = append(choices, o.Name)
			}
			if text != "done by agent" {
				add("", text)
			}
		}
		if len(c.Outcomes) > 0 {
			assert.Equal(t, choices, c.Choices())
		}
		lines = append(lines, strings.Join(words, "; "))
	}
	return "\n" + strings.Join(lines, "\n")
}

// TestWhatIsSaidOfSteps: parts, copies, a loop, a condition, a time limit, and a person's choice.
func TestWhatIsSaidOfSteps(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "steps": [
 {"id": 1, "subject": "List", "outcomes": {"some": {}, "none": {}}},
 {"id": 2, "subject": "Migrate", "blockedBy": [1], "when": {"1": "some"}, "each": {"lines": "lines"}, "do": [
   {"id": 1, "subject": "Change {item}", "do": [{"id": 1, "subject": "Edit", "within": "1h"}]},
   {"id": 2, "subject": "Test {item}", "check": "false", "blockedBy": [1], "outcomes": {"failed": {"back": 1, "max": 1, "then": "parked"}, "parked": {}}}]},
 {"id": 3, "subject": "Decide", "blockedBy": [2], "decides": "person", "outcomes": {"again": {"back": 2, "max": 2}, "fine": {}}},
 {"id": 4, "subject": "Mourn", "when": {"1": "none"}},
 {"id": 5, "subject": "Tell", "blockedBy": [3, 4], "approval": "Told?"}
]}`)
	assert.Equal(t, `
1 ready; some by agent; none by agent
2 blocked; after [1]
3 blocked; undecided; after [2]; again by person to 2, 0 of 2; fine by person
4 blocked; after [1]
5 blocked; after [3 4]`, said(t, l.state()))
	l.end(1, "some")
	l.write("lines", "a\nb")
	l.begin(2)
	l.allows(8, workflow.InProgress)
	s := l.state()
	s.Time = s.Time.Add(2*time.Hour + 3*time.Minute)
	assert.Equal(t, `
1 done; as some; some by agent; none by agent
2 in progress; ▸ 2 items, 0 done; after [1 7 10]
3 blocked; undecided; after [2]; again by person to 2, 0 of 2; fine by person
4 not needed; as skipped; because #1 ended as some; after [1]
5 blocked; after [3 4]
6 blocked; item a; (for "a" of #2); in 2; after [1 8]
7 blocked; item a; (for "a" of #2); in 2; after [6]; failed by machine to 6, 0 of 1, then parked; parked by machine
8 in progress; item a; (part of #6, for "a"); 1 h 3 min over, 1 h 3 min over its time limit of 1h; in 6; after [1]
9 blocked; item b; (for "b" of #2); in 2; after [1 11]
10 blocked; item b; (for "b" of #2); in 2; after [9]; failed by machine to 9, 0 of 1, then parked; parked by machine
11 ready; item b; (part of #9, for "b"); in 9; after [1]`, said(t, s))
	assert.Equal(t, "", s.Returned(1)+s.Returned(8)+s.Returned(99))

	l.end(8, "")
	assert.Equal(t, `The parts of #6 are done. Go on with #6 "Change a" (for "a" of #2)`, l.state().Returned(8))
	l.end(6, "")
	require.NotNil(t, l.end(7, "").Turn)
	l.end(8, "")
	l.end(6, "")
	require.True(t, l.end(7, "").Allowed())
	assert.Equal(t, `
1 done; as some; some by agent; none by agent
2 in progress; ▸ 2 items, 1 done; after [1 7 10]
3 blocked; undecided; after [2]; again by person to 2, 0 of 2; fine by person
4 not needed; as skipped; because #1 ended as some; after [1]
5 blocked; after [3 4]
6 done; as done; (round 2 of 2); item a; (for "a" of #2); in 2; after [1 8]
7 done; as parked; (round 2 of 2); item a; (for "a" of #2); in 2; after [6]; failed by machine to 6, 1 of 1, then parked; parked by machine
8 done; as done; (round 2); item a; (part of #6, for "a"); in 6; after [1]
9 blocked; item b; (for "b" of #2); in 2; after [1 11]
10 blocked; item b; (for "b" of #2); in 2; after [9]; failed by machine to 9, 0 of 1, then parked; parked by machine
11 ready; item b; (part of #9, for "b"); in 9; after [1]`, said(t, l.state()))
	assert.Equal(t, `The item "a" is done. #2 "Migrate" still waits for the item "b", of which #9 "Change b" and #10 "Test b" are `+
		`open. Ready now: #11 "Edit: b"`, l.state().Returned(7))
	l.end(11, "")
	l.end(9, "")
	_, err := l.GoPast(t.Context(), Past{Step: 10, Because: "x"}, state.By{})
	require.NoError(t, err)
	assert.Equal(t, `The item "b" is done. Every item is. Go on with #2 "Migrate" (its 2 items are done: complete it)`, l.state().Returned(10))
	l.end(2, "")
	_, err = l.GoPast(t.Context(), Past{Step: 3, Done: true, Outcome: "fine", Because: "x"}, state.By{})
	require.NoError(t, err)
	require.Equal(t, state.Ask, l.end(5, "").Decision)
	require.NoError(t, os.Remove(filepath.Join(l.List.Dir, fileName(11))))
	assert.Equal(t, `
1 done; as some; some by agent; none by agent
2 done; as done; ▸ 2 items, 2 done; after [1 7 10]
3 done; as fine; undecided; after [2]; again by person to 2, 0 of 2; fine by person
4 not needed; as skipped; because #1 ended as some; after [1]
5 ready; asked; after [3 4]
6 done; as done; (round 2 of 2); item a; (for "a" of #2); in 2; after [1 8]
7 done; as parked; (round 2 of 2); item a; (for "a" of #2); in 2; after [6]; failed by machine to 6, 1 of 1, then parked; parked by machine
8 done; as done; (round 2); item a; (part of #6, for "a"); in 6; after [1]
9 done; as done; item b; (for "b" of #2); in 2; after [1 11]
10 skipped; as skipped; item b; (for "b" of #2); in 2; after [9]; failed by machine to 9, 0 of 1, then parked; parked by machine
11 done; as done; item b; (part of #9, for "b"); in 9; after [1]`, said(t, l.state()))
}
