package gates

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/txn"
)

// migration migrates each package; a package whose test fails too often is parked.
const migration = `{"fsm": 2, "steps": [
 {"id": 1, "subject": "List"},
 {"id": 2, "subject": "Migrate", "blockedBy": [1], "each": {"lines": "packages.txt"}, "do": [
   {"id": 1, "subject": "Change {item}"},
   {"id": 2, "subject": "Test {item}", "description": "Run it.", "blockedBy": [1], "check": "test -e \"$FSM_ITEM.ok\"",
	"outcomes": {"failed": {"back": 1, "max": 1, "then": "parked"}, "parked": {}}}]},
 {"id": 3, "subject": "Look", "blockedBy": [2], "outcomes": {"again": {"back": 2, "max": 2}, "fine": {}}}
]}`

// migrating is a migration of the packages in these lines, which is ready.
func migrating(t tb, lines string) *list {
	l := ofSpec(t, migration, "packages.txt", lines)
	l.ended(1)
	return l
}

// redo is an event that reads no files.
func (l *list) redo() {
	l.t.Helper()
	_, err := l.Redo(l.t.Context())
	require.NoError(l.t, err)
}

func TestEachLine(t *testing.T) {
	l := ofSpec(t, migration)
	assert.Equal(t, "1 List: pending\n2 Migrate: pending <1\n3 Look: pending <2", l.all())
	assert.Contains(t, l.denies(2, inProgress), `#1 "List" must be done first`)
	l.end(1, "")
	l.write("packages.txt", " b \n\na\nb\n")
	assert.Equal(t, `#2 "Migrate" is to be done for 2 items of packages.txt. Their tasks are in the list now: #4 "Change b", #5 "Test b", `+
		`#6 "Change a" and #7 "Test a". Ready: #4 "Change b"
Also ready: #6 "Change a"
Complete #2 "Migrate" when they are done.`, l.begin(2))
	assert.Equal(t, "1 List: completed\n2 Migrate: in_progress <1 5 7\n3 Look: pending <2\n4 Change b: pending <1\n5 Test b: pending <4\n6 "+
		"Change a: pending <1\n7 Test a: pending <6", l.all())
	l.write("packages.txt", "c") // changes nothing
	assert.Contains(t, l.denies(2, completed),
		`#2 "Migrate" cannot be completed: under it is the item "b", of which #4 "Change b" and #5 "Test b" are open`)
	s := l.state()
	items, ok := s.Expansion(s.Step(2))
	assert.True(t, ok)
	assert.Equal(t, []string{"b", "a"}, items)

	l.write("b.ok", "1")
	l.end(4, "")
	require.True(t, l.end(5, "").Allowed(), "its check sees FSM_ITEM")
	assert.Equal(t, 1, l.state().OfItems(l.state().Step(2)).Done)
	l.end(6, "")
	require.NotNil(t, l.end(7, "").Turn, "the check of a failed")
	assert.Equal(t, "6 Change a (round 2 of 2): pending <1\n7 Test a (round 2 of 2): pending <6", l.all()[strings.Index(l.all(), "6 Change"):])
	l.ended(6, 7)
	assert.Equal(t, "parked", l.state().Step(7).Outcome)
	assert.Equal(t, ids(2), ready(l.state()))
	require.True(t, l.end(2, "").Allowed())

	// A loop takes the copies out of the list, and reads the lines anew at the next start.
	require.NotNil(t, l.end(3, "again").Turn)
	assert.Equal(t, "1 List: completed\n2 Migrate (round 2 of 3): pending <1\n3 Look (round 2 of 3): pending <2", l.all())
	assert.Contains(t, l.begin(2), `is to be done for 1 item of packages.txt. Their tasks are in the list now: #8 "Change c" and #9 "Test c"`)
	assert.Contains(t, l.all(), "8 Change c: pending <1\n9 Test c: pending <8")
	assert.Equal(t, ids(8), ready(l.state()))

	// A person opens the step again: then it is read once more. What is skipped needs no copies.
	l.reopen(1)
	assert.Equal(t, "1 List (round 2): pending\n2 Migrate (round 2 of 3): pending <1\n3 Look (round 2 of 3): pending <2", l.all())
	l.end(1, "")
	assert.Contains(t, l.denies(2, completed), `#10 "Change c"`)
}

// TestNoLines: nothing to do is done at once, also without a start.
func TestNoLines(t *testing.T) {
	for _, start := range []bool{true, false} {
		l := migrating(t, "\n \n")
		if start {
			v := l.do(2, inProgress)
			assert.EqualValues(t, `#2 "Migrate" has nothing to be done for: packages.txt has no lines. Complete it now.`, v.Told)
			assert.EqualValues(t, `#2 "Migrate" has nothing to be done for: packages.txt has no lines`, v.Trouble)
			l.write("packages.txt", "a")
		}
		require.True(t, l.end(2, "").Allowed())
		assert.Equal(t, "done", l.state().Step(2).Outcome)
		assert.Equal(t, ids(3), ready(l.state()))
	}
}

// TestNoLinesOfACopyThatIsOut: it was completed past the hooks, and the step that is completed now leads back to before it.
func TestNoLinesOfACopyThatIsOut(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "steps": [
		{"id": 1, "subject": "All", "each": {"lines": "list"}, "do": [
			{"id": 1, "subject": "Do {item}", "each": {"lines": "more"}, "do": [{"id": 1, "subject": "Change {item}"}]}]},
		{"id": 2, "subject": "Look", "blockedBy": [1], "outcomes": {"again": {"back": 1, "max": 2}, "fine": {}}}]}`, "list", "a", "more", "\n")
	l.begin(1)
	l.set(3, completed)
	l.set(1, completed)
	require.NotNil(t, l.end(2, "again").Turn)
	assert.Nil(t, l.state().Step(3))
	assert.EqualValues(t, `release: #2 "Look" was sent back: again, time 1 of 2`, l.News(t.Context(), false))
}

// TestACompletionExpands: a step that was not started is expanded when its completion is tried.
func TestACompletionExpands(t *testing.T) {
	l := migrating(t, "a")
	held, err := l.List.Open(t.Context())
	require.NoError(t, err)
	impatient := l.beside()
	impatient.List.Wait = time.Millisecond
	assert.Contains(t, impatient.denies(2, inProgress), "another program holds the lock of the task list. Try again")
	require.NoError(t, held.Close())
	l.Apply = true
	assert.Contains(t, l.Update(t.Context(), Update{Task: "2", Status: completed, Outcome: "parked"}).Reason,
		`#2 "Migrate" has no outcomes. Leave the outcome out`, "the word is judged before anything is read")
	l.Apply = false
	assert.Nil(t, l.state().Step(4))
	assert.Contains(t, l.denies(2, completed), `#2 "Migrate" cannot be completed before the tasks for the lines of packages.txt. `+
		`#2 "Migrate" is to be done for 1 item of packages.txt. Their tasks are in the list now: #4 "Change a" and #5 "Test a". Ready: #4`)
	assert.Equal(t, ids(4), ready(l.state()))
	assert.Contains(t, l.denies(2, completed), "under it is")
}

// TestWrongLines: the start is refused with the line, and nothing changes.
func TestWrongLines(t *testing.T) {
	run := strings.Replace(migration, `{"lines": "packages.txt"}`,
		`{"run": "cat packages.txt; echo oh no >&2; test ! -e fail", "timeout": 9}`, 1)
	for name, c := range map[string]struct{ file, lines, want string }{
		"missing": {migration, "", `it is done for each line of packages.txt, and the file packages.txt does not exist. ` +
			`Mend that, then start it again`},
		"too long":  {migration, "a\n" + strings.Repeat("x", 201), `packages.txt: line 2 has 201 characters, and at most 200 are allowed`},
		"too many":  {migration, numbersTo(101), `packages.txt: line 101 is one too many`},
		"not UTF-8": {migration, "\xff", `packages.txt: line 1 is not valid UTF-8`},
		"out of a path": {strings.Replace(migration, `"description": "Run it."`, `"produces": ["{item}/x"]`, 1), "../a",
			`packages.txt: the line "../a" does not fit: task 2 ("Test ../a"): produces: "../a/x": .. is not allowed`},
		"a command": {run, numbersTo(101), `its output: line 101 is one too many`},
		"its failure": {strings.Replace(run, "! -e fail", "-e fail", 1), "a",
			`the command failed: it ended with exit status 1. The end of its output:`},
	} {
		t.Run(name, func(t *testing.T) {
			l := ofSpec(t, c.file)
			l.end(1, "")
			if c.lines != "" {
				l.write("packages.txt", c.lines)
			}
			before := l.all()
			assert.Contains(t, l.denies(2, inProgress), `#2 "Migrate" cannot be started: it is done for each line`)
			assert.Contains(t, l.denies(2, inProgress), c.want)
			assert.Equal(t, before, l.all())
			l.write("packages.txt", "a")
			l.write("fail", "1")
			if name != "a command" {
				assert.Contains(t, l.begin(2), "is to be done for 1 item")
			}
		})
	}
}

func numbersTo(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, i)
	}
	return b.String()
}

// TestManyTasks: the list may have 1,000 tasks of workflows.
func TestManyTasks(t *testing.T) {
	var parts []string
	for i := range 10 {
		parts = append(parts, fmt.Sprintf(`{"id": %d, "subject": "p"}`, i+1))
	}
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "A", "each": {"lines": "a"}, "do": [`+strings.Join(parts, ",")+
		`]}, {"id": 2, "subject": "B"}]}`)
	l.write("a", numbersTo(100))
	assert.Contains(t, l.denies(1, inProgress), "its 100 items need 1000 tasks, and the list, which has 2, may have at most 1000")
	l.write("a", numbersTo(99))
	assert.Contains(t, l.begin(1), "is to be done for 99 items of a.")
	assert.Len(t, l.state().Steps, 992)
}

// TestInTurn: a copy starts when the one before it is done. Without do the copies are the step.
func TestInTurn(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "steps": [
 {"id": 3, "subject": "Ask {item}", "description": "About {item}.", "activeForm": "Asking {item}", "each": {"run": "printf 'a\nb\n'",
	"inTurn": true}, "produces": ["{item}.md"],
  "outcomes": {"yes": {}, "no": {"stop": true}, "again": {"back": 3, "max": 1}}},
 {"id": 4, "subject": "End", "when": {"3": "done"}}]}`)
	assert.Equal(t, "3 Ask each item: pending\n4 End: pending <3", l.all())
	assert.Contains(t, l.state().Step(3).Description, "About each item.\nIt is done for each line that this command prints: ")
	assert.NotContains(t, l.state().Step(3).Description, "Ends as")
	assert.Contains(t, l.begin(3), `Ready: #7 "Ask a": About a.`)
	assert.Equal(t, "3 Ask each item: in_progress <7 10\n4 End: pending <3\n7 Ask a: pending\n10 Ask b: pending <7", l.all())
	assert.Contains(t, l.state().Step(7).Description, `About a.`)
	assert.Contains(t, l.state().Step(7).Description, `Ends as: yes, or no (ends this item), or again (back to #7, once at most).`)
	assert.Contains(t, l.denies(10, inProgress), `#7 "Ask a" must be done first`)
	assert.Contains(t, l.end(7, "").Reason, "say how it ends")
	assert.Contains(t, l.end(7, "yes").Reason, "a.md")
	require.NotNil(t, l.end(7, "again").Turn)
	l.write("a.md", "1")
	l.write("b.md", "1")
	require.True(t, l.end(7, "no").Allowed())
	assert.Equal(t, "no", l.state().Step(7).Outcome, "it ends the copy only")
	assert.Equal(t, ids(10), ready(l.state()))
	require.True(t, l.end(10, "yes").Allowed())
	require.True(t, l.end(3, "").Allowed())
	assert.Equal(t, ids(4), ready(l.state()))
}

// nestedParts has parts in parts, and a step for lines among them.
const nestedParts = `{"fsm": 2, "steps": [
 {"id": 1, "subject": "A"},
 {"id": 2, "subject": "B", "blockedBy": [1], "produces": ["b"], "do": [
   {"id": 1, "subject": "C", "do": [{"id": 1, "subject": "D", "check": "test $FSM_ROUND = 1 -o -e b"}, {"id": 2, "subject": "E",
	"blockedBy": [1], "outcomes": {"over": {"stop": true}, "on": {}}}, {"id": 3, "subject": "F", "blockedBy": [2]}]},
   {"id": 2, "subject": "G", "blockedBy": [1], "each": {"lines": "lines"}}]},
 {"id": 3, "subject": "H", "blockedBy": [2], "outcomes": {"again": {"back": 2, "max": 1}, "fine": {}}}
]}`

func TestParts(t *testing.T) {
	l := ofSpec(t, nestedParts)
	l.write("lines", "x\ny")
	assert.Equal(t, "1 A: pending\n2 B: pending <1 5\n3 H: pending <2\n4 C: pending <1 8\n5 G: pending <4\n6 D: pending <1\n7 E: "+
		"pending <6\n8 F: pending <7", l.all())
	assert.Equal(t, ids(1), ready(l.state()))
	assert.Contains(t, l.denies(6, inProgress), `#1 "A" must be done first`)
	l.end(1, "")
	assert.Equal(t, ids(6), ready(l.state()), "the work is inside")
	l.begin(2)
	l.end(6, "")
	require.True(t, l.end(7, "over").Allowed())
	assert.Contains(t, l.all(), "8 F (not needed): completed", "a stop ends the innermost")
	assert.Equal(t, ids(4), ready(l.state()))
	l.end(4, "")
	assert.Contains(t, l.begin(5), `#10 "G: x" and #12 "G: y"`)
	assert.Contains(t, l.all(), "5 G: in_progress <4 10 12")
	l.ended(10, 12, 5)
	assert.Contains(t, l.end(2, "").Reason, "b", "its own gates hold when its parts are done")
	l.write("b", "1")
	require.True(t, l.end(2, "").Allowed())

	// The loop opens the parts again, with the same numbers, and takes the copies out.
	require.NotNil(t, l.end(3, "again").Turn)
	assert.Equal(t, "1 A: completed\n2 B (round 2 of 2): pending <1 5\n3 H (round 2 of 2): pending <2\n4 C (round 2): pending <1 8\n5 G "+
		"(round 2): pending <4\n6 D (round 2): pending <1\n7 E (round 2): pending <6\n8 F (round 2): pending <7", l.all())
	assert.Equal(t, ids(6), ready(l.state()))
}

// TestAConditionOfParts: what a step that is not needed consists of is not needed either.
func TestAConditionOfParts(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "A", "outcomes": ["x", "y"]},
 {"id": 2, "subject": "B", "when": {"1": "x"}, "do": [{"id": 1, "subject": "C"}]}, {"id": 3, "subject": "D", "when": {"1": "x"},
	"each": {"lines": "none"}}, {"id": 4, "subject": "E", "blockedBy": [2, 3]}]}`)
	l.end(1, "y")
	assert.Equal(t, "1 A: completed\n2 B (not needed: #1 ended as y): completed <1 5\n3 D (not needed: #1 ended as y): completed <1\n4 E: "+
		"pending <2 3\n5 C (not needed: #2 is not needed): completed <1", l.all())
	assert.Equal(t, ids(4), ready(l.state()))
}

// TestReopenBeforeACopyInTurn: a step for the next line that is in progress waits again, and the list shows it.
func TestReopenBeforeACopyInTurn(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Ask", "each": {"run": "printf 'a\nb\nc\n'", "inTurn": true}, "do": [
 {"id": 1, "subject": "Write"}, {"id": 2, "subject": "Send", "blockedBy": [1], "do": [{"id": 1, "subject": "Seal"}]}]}]}`)
	l.begin(1)
	l.ended(2, 4, 3, 5)
	l.begin(6, 7)
	l.reopen(2)
	assert.Contains(t, l.all(), "6 Send: b: pending")
	assert.Contains(t, l.all(), "7 Seal: b: pending")
	assert.Equal(t, ids(2), ready(l.state()))
}

// TestReopenWhereManyWaysLeadFromStepToStep: each of the 50 lines has two last steps, and so has each stage of the parts. There are
// more ways from one end to the other than can be tried.
func TestReopenWhereManyWaysLeadFromStepToStep(t *testing.T) {
	parts := []string{`{"id": 1, "subject": "Part"}`, `{"id": 2, "subject": "Part"}`}
	for n := 1; n < 99; n += 2 {
		for id := n + 2; id < n+4; id++ {
			parts = append(parts, fmt.Sprintf(`{"id": %d, "subject": "Part", "blockedBy": [%d, %d]}`, id, n, n+1))
		}
	}
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "All", "do": [`+strings.Join(parts, ", ")+`]},
 {"id": 2, "subject": "Ask", "each": {"run": "seq 50", "inTurn": true}, "do": [{"id": 1, "subject": "A"}, {"id": 2, "subject": "B"}]},
 {"id": 3, "subject": "Other"}]}`)
	l.begin(2)
	l.end(3, "")
	l.reopen(3)
	require.Len(t, l.state().Steps, 3+2*50+2*50)
	assert.Contains(t, l.all(), "3 Other (round 2): pending")
}

// TestAPersonAndCopies: a person may skip a copy, and the step with open copies.
func TestAPersonAndCopies(t *testing.T) {
	l := migrating(t, "a\nb")
	l.begin(2)
	_, err := l.GoPast(t.Context(), Past{Step: 5, Because: "x"}, state.By{})
	assert.ErrorIs(t, err, errBlocked)
	l.past(Past{Step: 5, WithBlockers: true})
	assert.Equal(t, ids(6), ready(l.state()))
	l.skip(2)
	assert.Contains(t, l.all(), "6 Change b (not needed: #2 was skipped): completed")
	assert.Equal(t, ids(3), ready(l.state()))
	l.reopen(2)
	assert.Equal(t, "1 List: completed\n2 Migrate (round 2 of 3): pending <1\n3 Look: pending <2", l.all())
	assert.Contains(t, l.begin(2), `#8 "Change a"`)
}

// TestGoneCopies: a copy that a program removes from the list counts as skipped, and is never
// made again.
func TestGoneCopies(t *testing.T) {
	l := migrating(t, "a\nb")
	l.begin(2)
	l.remove(4, 5)
	l.write("b.ok", "1")
	l.ended(6, 7)
	assert.Equal(t, ids(2), ready(l.state()))
	require.True(t, l.end(2, "").Allowed())
	assert.Equal(t, []string{"1 List: completed", "2 Migrate: completed <1 5 7"}, strings.Split(l.all(), "\n")[:2])
}

// TestUndoneExpansion: the tasks for the lines are a part of the call of the skill, and are taken back with it alone.
func TestUndoneExpansion(t *testing.T) {
	l := migrating(t, "a")
	l.begin(2)
	before := l.all()
	labels, err := l.List.Labels(t.Context())
	require.NoError(t, err)
	_, err = l.List.Undo(t.Context(), labels[len(labels)-1].ID, false)
	require.ErrorContains(t, err, "it is a part of another change")
	assert.Equal(t, before, l.all())
}

// TestAnExpansionIsRedone: wherever a crash comes after the line of evidence, the next event
// creates the tasks, all of them, once.
func TestAnExpansionIsRedone(t *testing.T) {
	l := migrating(t, "a\nb")
	c, _ := l.Frame.begin(t.Context(), Update{Task: "2", Status: inProgress})
	dir, s, err := c.Open(t.Context())
	require.NoError(t, err)
	c.readLines(t.Context(), s.Step(2))
	d := c.decide(s)
	require.True(t, d.decided())
	require.NoError(t, c.Write(dir, s, d.lines)) // and the process dies
	require.NoError(t, dir.Close())
	l.write("packages.txt", "z")

	before := l.all()
	s = l.state()
	items, _ := s.Expansion(s.Step(2))
	assert.Equal(t, []string{"a", "b"}, items)
	assert.Equal(t, before, l.all(), "who only looks changes nothing")
	l.redo()
	assert.Equal(t, "1 List: completed\n2 Migrate: pending <1 5 7\n3 Look: pending <2\n4 Change a: pending <1\n5 Test a: pending <4\n6 "+
		"Change b: pending <1\n7 Test b: pending <6", l.all())
	after := l.all()
	l.redo()
	assert.Equal(t, after, l.all())

	// A crash behind the transaction: the tasks are there, and the line that says so is not.
	path := l.stateFile(state.EvidenceFile)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := slices.DeleteFunc(strings.SplitAfter(string(data), "\n"),
		func(line string) bool { return strings.Contains(line, `"verdict":"expanded"`) })
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
	l.redo()
	assert.Equal(t, after, l.all())
}

// TestCompletedInAnotherWayBeforeItsLinesWereRead: a status that a program writes does not stand
// for the lines: the next update reads them, and the step waits for its copies.
func TestCompletedInAnotherWayBeforeItsLinesWereRead(t *testing.T) {
	l := ofSpec(t, migration)
	l.end(1, "")
	l.set(2, completed)
	l.redo()
	assert.Empty(t, l.state().Step(2).Outcome, "an event that reads no files does not judge it")
	assert.Contains(t, l.denies(3, inProgress),
		`#2 "Migrate" was completed past the hooks and does not pass its gates, so no other step is let through. #2 "Migrate" cannot be `+
			`started: it is done for each line of packages.txt, and the file packages.txt does not exist`)
	l.write("packages.txt", "a")
	assert.Contains(t, l.denies(3, inProgress),
		`before the tasks for the lines of packages.txt. #2 "Migrate" is to be done for 1 item of packages.txt. `+
			`Their tasks are in the list now: #4`)
	assert.Equal(t, ids(4), ready(l.state()))
	l.write("a.ok", "1")
	l.ended(4, 5)
	assert.Equal(t, "done", l.state().Step(2).Outcome, "it is completed in the list, and nothing under it is open")

	l = migrating(t, "")
	l.set(2, completed)
	v := l.do(3, inProgress)
	assert.True(t, v.Allowed(), "%+v", v)
	assert.EqualValues(t, `#2 "Migrate" has nothing to be done for: packages.txt has no lines`, v.Trouble)
	assert.Equal(t, "done", l.state().Step(2).Outcome, "there is nothing to do")
}

// TestCompletedBeforeItsCopiesCame: the client goes on after the death of a hook that had read the
// lines and not created the tasks.
func TestCompletedBeforeItsCopiesCame(t *testing.T) {
	l := migrating(t, "a")
	e := state.Evidence{Time: l.state().Time, Step: 2, From: pending, To: pending, Verdict: state.Expand, Why: "1 item", Round: 1,
		Expands: "x", Items: []string{"a"}}
	require.NoError(t, l.Locked(t.Context(), func(dir *txn.Dir) error { return l.Record(dir, l.state(), []state.Evidence{e}) }))
	l.set(2, completed)
	l.redo()
	assert.Empty(t, l.state().Step(2).Outcome)
	assert.Equal(t, ids(4), ready(l.state()))
}

// TestTheEndOfOneItemIsNotTheEndOfTheWorkflow, and what is ready is told once: the step of the items
// has been started, and is not to be started again.
func TestTheEndOfOneItemIsNotTheEndOfTheWorkflow(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Migrate", "each": {"lines": "list"}, "do": [
		{"id": 1, "subject": "Port {item}", "outcomes": {"ok": {}, "nothing": {"stop": true}}},
		{"id": 2, "subject": "Test {item}", "blockedBy": [1], "outcomes": ["fine", "odd"]},
		{"id": 3, "subject": "Tell of {item}", "when": {"2": "odd"}}]}, {"id": 2, "subject": "Report", "blockedBy": [1]}]}`)
	l.write("list", "a\nb")
	l.begin(1)
	assert.Contains(t, l.told(3, "nothing"), `The item "a" is over: #4 "Test a" and #5 "Tell of a" are not needed.`+"\n"+
		`The item "a" is done. #1 "Migrate" still waits for the item "b"`)
	assert.Empty(t, l.told(6, "ok"))
	assert.Equal(t, `Not needed: #8 "Tell of b".`+"\n"+
		`The item "b" is done. Every item is. Go on with #1 "Migrate" (its 2 items are done: complete it)`, l.told(7, "fine"))
}

// TestWhatIsReadyInThePartsOfACopyIsTold, and a step without items is not to be completed twice.
func TestWhatIsReadyInThePartsOfACopyIsTold(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Teams", "each": {"lines": "list"}, "do": [
		{"id": 1, "subject": "Agree with {item}", "do": [{"id": 1, "subject": "Meet {item}"}]}]},
		{"id": 2, "subject": "Others", "each": {"lines": "none"}}]}`)
	l.write("list", "red")
	l.write("none", "\n")
	told := l.begin(1)
	assert.Contains(t, told, `#3 "Agree with red" and #4 "Meet red". Ready: #4 "Meet red"`)
	v := l.Update(t.Context(), Update{Task: "2", Status: completed})
	require.True(t, v.Allowed())
	assert.EqualValues(t, `#2 "Others" has nothing to be done for: none has no lines.`, v.Told)
}
