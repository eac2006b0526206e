package gates

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
)

// flowState returns the state of a workflow with outcomes whose steps are in progress.
func flowState(t *testing.T, entries ...string) *state.State {
	w := planned(entries...)
	s := &state.State{Time: time.Now()}
	for _, step := range w.Steps {
		s.Steps = append(s.Steps, &state.Current{Step: step, Workflow: &w, Status: inProgress})
	}
	require.NoError(t, w.Prove())
	s.Fold()
	return s
}

// stateFrom sets the status before the last decision.
func stateFrom(s *state.State, status string) *state.State {
	s.Evidence[len(s.Evidence)-1].From = status
	return s
}

// TestTheNewsOfAWorkflow names its own steps only.
func TestTheNewsOfAWorkflow(t *testing.T) {
	s := stateOf(stepLine{id: 1, status: completed, passed: true}, stepLine{id: 2, status: pending})
	other := stateOf(stepLine{id: 3, status: completed, passed: true})
	other.Steps[0].Workflow.Command = "ship"
	s.Steps = append(s.Steps, other.Steps...)
	proved(s)
	done := []*state.Current{s.Steps[0], s.Steps[2]}
	assert.Equal(t, []string{`release: 1 of 2 done: #1 "A"`, `ship: 1 of 1 done: #3 "C"`}, progressOf(s, done, nil))
	assert.Equal(t, []string{`release: 1 of 2 done: #1 "A"`}, progressOf(s, done[:1], nil))
}

// TestWrongLinesAreToldWithWhatToDo, on a line of its own behind the output of a command.
func TestWrongLinesAreToldWithWhatToDo(t *testing.T) {
	c := flowState(t, `{"subject": "A", "each": {"lines": "list"}, "do": [{"id": 1, "subject": "B"}]}`).Steps[0]
	for wrong, mend := range map[string]string{"line 2 is twice": ". Mend", "it failed:\nno such file": "\nMend"} {
		assert.Equal(t, `#1 "A" cannot be started: it is done for each line of list, and `+wrong+mend+" that, then start it again",
			noLines(c, wrong, nil).Reason)
	}
}

// TestWhatTheAgentReadsAtATransition: at most 600 characters beside the description of what is ready, in a workflow of forty steps
// with subjects that are as long as they may be.
func TestWhatTheAgentReadsAtATransition(t *testing.T) {
	const name = "a-name-of-thirty-one-characters"
	subject, description := strings.Repeat("A subject that goes on and on, ", 12), strings.Repeat("D", 100)
	begin := `{"subject": ` + q(subject) + `, "description": ` + q(description)
	all := slices.Repeat([]string{begin + `, "status": "completed", "blockedBy": [1]}`}, 40)
	all[0] = begin + `, "outcomes": {"done": {}, ` + q(name) + `: {"back": 1, "max": 100}}}`
	var before []int64
	for id := range int64(39) {
		before = append(before, id+1)
	}
	all[39] = `{"subject": ` + q(subject) + `, "blockedBy": ` + q(before) + `,
		"outcomes": {"approved": {}, "changes": {"back": 1, "max": 3}}}`
	l := hydrated(t, all...)
	read := []string{string(l.end(1, name).Turn.Text), l.told(1, "done"), string(l.end(40, "changes").Turn.Text), l.told(1, "done")}
	assert.Contains(t, read[2], " more are open again. Ready: #1")
	longest := 0
	for _, text := range read {
		longest = max(longest, utf8.RuneCountInString(strings.Replace(text, description, "", 1)))
	}
	assert.LessOrEqual(t, longest, 600, read)
	assert.Greater(t, longest, 300, "the cases are not the long ones")
}

// TestStopAndResumeSpeakOfRounds: an agent that has lost its context, or is sent back, reads
// what is open again, and in which round.
func TestStopAndResumeSpeakOfRounds(t *testing.T) {
	s := flowState(t, `{"subject": "Implement"}`,
		`{"subject": "Review", "blockedBy": [1], "outcomes": {"approved": {}, "changes": {"back": 1, "max": 2}}}`)
	agent, _ := sentBack(s, s.Ready(), Stopping{Mode: Remind}, "")
	assert.NotContains(t, string(agent)+resumed(s), "round")
	s.Evidence = []state.Evidence{{Step: 1, Verdict: state.SeenDone, To: completed, Outcome: "done"},
		{Step: 2, Verdict: state.Allow, To: pending, Outcome: "changes", Reopens: ids(1, 2)}}
	s.Fold()
	agent, told := sentBack(s, s.Ready(), Stopping{Mode: Remind}, "")
	assert.Contains(t, agent, `#1 "Implement" (round 2 of 3) is in progress.`)
	assert.Contains(t, told, `#1 "Implement" (round 2 of 3)`)
	assert.Contains(t, resumed(s), "Open again: #1 \"Implement\" (round 2 of 3) and #2 \"Review\" (round 2 of 3)\n")
}

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
	return strings.Join(lines, "\n") + "\n\n"
}

// TestWhatIsSaidOfSteps: parts, copies, a loop, a condition, a time limit, and a person's choice.
func TestWhatIsSaidOfSteps(t *testing.T) {
	all := ""
	l := ofSpec(t, `{"fsm": 2, "steps": [
 {"id": 1, "subject": "List", "outcomes": {"some": {}, "none": {}}},
 {"id": 2, "subject": "Migrate", "blockedBy": [1], "when": {"1": "some"}, "each": {"lines": "lines"}, "do": [
   {"id": 1, "subject": "Change {item}", "do": [{"id": 1, "subject": "Edit", "within": "1h"}]},
   {"id": 2, "subject": "Test {item}", "check": "false", "blockedBy": [1], "outcomes": {"failed": {"back": 1, "max": 1, "then": "parked"}, "parked": {}}}]},
 {"id": 3, "subject": "Decide", "blockedBy": [2], "decides": "person", "outcomes": {"again": {"back": 2, "max": 2}, "fine": {}}},
 {"id": 4, "subject": "Mourn", "when": {"1": "none"}},
 {"id": 5, "subject": "Tell", "blockedBy": [3, 4], "approval": "Told?"}
]}`)
	all += said(t, l.state())
	l.end(1, "some")
	l.write("lines", "a\nb")
	l.begin(2)
	l.begin(8)
	s := l.state()
	s.Time = s.Time.Add(2*time.Hour + 3*time.Minute)
	all += said(t, s)
	assert.Equal(t, "", s.Returned(1)+s.Returned(8)+s.Returned(99))

	l.end(8, "")
	assert.Equal(t, `The parts of #6 are done. Go on with #6 "Change a" (for "a" of #2)`, l.state().Returned(8))
	l.end(6, "")
	require.NotNil(t, l.end(7, "").Turn)
	l.ended(8, 6, 7)
	all += said(t, l.state())
	assert.Equal(t, `The item "a" is done. #2 "Migrate" still waits for the item "b", of which #9 "Change b" and #10 "Test b" are `+
		`open. Ready now: #11 "Edit: b"`, l.state().Returned(7))
	l.ended(11, 9)
	l.skip(10)
	assert.Equal(t, `The item "b" is done. Every item is. Go on with #2 "Migrate" (its 2 items are done: complete it)`, l.state().Returned(10))
	l.end(2, "")
	l.past(Past{Step: 3, Done: true, Outcome: "fine"})
	require.Equal(t, state.Ask, l.end(5, "").Decision)
	l.remove(11)
	all += said(t, l.state())
	golden(t, "said.txt", all)
}
