package gates

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestAnyWorkflowAnyUpdates checks the promises of this package for any workflow and any
// sequence of updates by the agent, changes by other programs and overrides by a person:
//
//   - No step is done before its blockers unless an override is recorded or the workflow
//     was hydrated so. (Not detected: another program carries out an allowed update after
//     a blocker was reopened.)
//   - No call changes a task of the user.
//   - The agent is never stuck: each denial names the step that a person can go past, and
//     going past it works.
func TestAnyWorkflowAnyUpdates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newRandom(t)
		for range rapid.IntRange(0, 12).Draw(t, "operations") {
			w.operate()
			w.checkPromises()
		}
		w.finish()
	})
}

// random is a list with a workflow of random shape.
type random struct {
	*list
	t       *rapid.T
	steps   []string
	dropped map[int64]bool // completions that were allowed and not carried out
	manual  string
	hinted  bool // a refusal has said what a person can do
}

func newRandom(t *rapid.T) *random {
	w := &random{t: t, dropped: map[int64]bool{}}
	n := rapid.IntRange(1, 5).Draw(t, "steps")
	for id := int64(1); id <= int64(n); id++ {
		s := map[string]any{"status": rapid.SampledFrom([]string{pending, pending, pending, inProgress, completed}).Draw(t, "status")}
		var after []int64
		for other := int64(1); other <= int64(n); other++ {
			// Most workflows have an order; some have cycles.
			if other < id && rapid.Bool().Draw(t, "after") || rapid.IntRange(0, 20).Draw(t, "cycle") == 0 {
				after = append(after, other)
			}
		}
		s["blockedBy"] = after
		switch rapid.IntRange(0, 5).Draw(t, "gate") {
		case 0:
			s["produces"] = []string{"out"}
		case 1:
			s["approval"] = "Yes?"
		case 2:
			s["ready"] = []string{"out"}
		case 3:
			s["produces"], s["approval"] = []string{"out"}, "Yes?"
		}
		w.steps = append(w.steps, q(s))
	}
	w.list = hydrated(t, w.steps...)
	w.manual = w.text(99)
	return w
}

func (w *random) operate() {
	t, ctx := w.t, w.t.Context()
	id := rapid.Int64Range(1, int64(len(w.steps))).Draw(t, "id")
	status := rapid.SampledFrom([]string{pending, inProgress, completed, completed}).Draw(t, "to")
	switch rapid.IntRange(0, 9).Draw(t, "operation") {
	case 0:
		if status != completed || !w.dropped[id] {
			w.changes(id, status)
		}
	case 1:
		w.toggles("out", "x")
	case 2:
		_, err := w.GoPast(ctx, Past{Step: id, Done: rapid.Bool().Draw(t, "done"), Because: "so"}, state.By{})
		require.True(t, err == nil || errors.Is(err, errEnded) || errors.Is(err, errGone) || errors.Is(err, errNoStep) ||
			errors.Is(err, errBlocked), "%v", err)
	case 3:
		require.Equal(t, Verdict{}, w.ask(99, rapid.SampledFrom([]string{completed, workflow.Deleted}).Draw(t, "mine")))
	case 4:
		require.Equal(t, state.Deny, w.ask(id, workflow.Deleted).Decision)
		if rapid.IntRange(0, 3).Draw(t, "gone") == 0 {
			require.NoError(t, os.RemoveAll(w.path(id))) // another program
		}
	default:
		w.asks(id, status, rapid.Bool().Draw(t, "carried out"))
	}
}

func (w *random) checkPromises() {
	s := w.state()
	for _, c := range s.Steps {
		if c.Gone() || !c.Done() || c.Step.Status == fsmspec.Completed || w.excused(s, c) {
			continue
		}
		require.Empty(w.t, s.OpenBlockers(c), "#%d is done before its blockers", c.ID)
	}
	require.Equal(w.t, w.manual, w.text(99))
}

// excused reports whether a person went past the step, or one of its blockers was reopened.
func (w *random) excused(s *state.State, c *state.Current) bool {
	return slices.ContainsFunc(s.Evidence, func(e state.Evidence) bool {
		past := e.Step == c.ID && e.IsOverride()
		return past || slices.Contains(c.BlockedBy, e.Step) && e.Verdict != state.Deny && e.From == completed && e.To != completed
	}) || slices.ContainsFunc(c.BlockedBy, func(id int64) bool { return s.Step(id).Done() }) // reopened by another program
}

var goPast = regexp.MustCompile(`fsmtx step skip (\d+) `)

// finish completes the remaining steps, like an agent that asks a person when it is told to.
func (w *random) finish() {
	for range 12 * len(w.steps) {
		s := w.state()
		i := slices.IndexFunc(s.Steps, func(c *state.Current) bool { return !c.Done() })
		if i < 0 {
			return
		}
		v := w.asks(s.Steps[i].ID, completed, true)
		w.checkPromises()
		if v.Decision != state.Deny {
			continue
		}
		hint := goPast.FindStringSubmatch(v.Reason)
		if hint == nil {
			continue // it was said before, and is said again to who asks a third time
		}
		id, err := strconv.ParseInt(hint[1], 10, 64)
		require.NoError(w.t, err)
		w.skip(id)
		w.checkPromises()
	}
	require.Fail(w.t, "stuck", fmt.Sprint(w.state().Evidence))
}

// flows generates the steps of valid workflows with outcomes, checks, thens and a person who decides: references go to earlier steps.
var flows = rapid.Custom(func(t *rapid.T) (all []string) {
	chance := func(n int) bool { return rapid.IntRange(1, n).Draw(t, "chance") == 1 }
	person := false
	before := []string{} // the outcomes of the step before it
	for id := range rapid.Int64Range(1, 7).Draw(t, "steps") {
		s, after := map[string]any{}, []int64{}
		if id > 0 {
			after = rapid.SliceOfNDistinct(rapid.Int64Range(1, id), 0, 2, rapid.ID[int64]).Draw(t, "blockedBy")
		}
		names := []string{"a", "b", "c"}
		checked := chance(3)
		if checked {
			s["check"] = "test -e passes"
			names = append(names, "failed", "failed")
		}
		ends := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 4, rapid.ID[string]).Draw(t, "outcomes")
		var outcomes []string
		for _, name := range ends {
			text := ""
			switch rapid.IntRange(0, 3).Draw(t, "effect") {
			case 0, 1:
				if chance(2) || name == "failed" {
					text = fmt.Sprintf(`"back": %d, "max": %d`, rapid.Int64Range(1, id+1).Draw(t, "back"), rapid.IntRange(1, 2).Draw(t, "max"))
					if chance(2) {
						text += fmt.Sprintf(`, "then": %q`, rapid.SampledFrom(ends).Draw(t, "then"))
					}
				}
			case 2:
				text = fmt.Sprintf(`"stop": %t`, chance(4))
			}
			outcomes = append(outcomes, fmt.Sprintf("%q: {%s}", name, text))
		}
		if len(ends) > 0 {
			s["outcomes"] = jsontext.Value("{" + strings.Join(outcomes, ", ") + "}")
		}
		if !person && !checked && len(ends) > 1 && chance(4) {
			s["decides"], person = "person", true
		}
		if len(before) > 1 && chance(2) {
			s["when"] = map[string]string{fmt.Sprint(id): before[0]}
		}
		s["blockedBy"], before = after, ends
		all = append(all, q(s))
	}
	return all
}).Filter(isFlow)

// isFlow reports whether the steps are a valid workflow, and one has outcomes.
func isFlow(all []string) bool {
	spec, err := parse(all...)
	return err == nil && spec.Version() == fsmspec.WithOutcomes
}

// TestTheListFollowsTheMachine: whatever an agent asks for, an update is refused if the machine cannot end the step so, and no other is;
// what is on record is what the machine says of those that were allowed; and after each update the list shows it.
func TestTheListFollowsTheMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it makes many lists")
	}
	rapid.Check(t, func(r *rapid.T) {
		all := flows.Draw(r, "steps")
		l := hydrated(r, all...)
		model := l.state().Steps[0].Workflow.Machine.Start()
		standing := map[int64]bool{} // steps that were let through and not completed, which may stand in the way of another outcome
		for range rapid.IntRange(1, 12).Draw(r, "updates") {
			id := rapid.Int64Range(1, int64(len(all))).Draw(r, "step")
			if rapid.IntRange(0, 3).Draw(r, "start") == 0 {
				l.do(id, inProgress)
			} else {
				done := model.Outcome(id) != ""
				lost := !done && rapid.IntRange(0, 5).Draw(r, "lost") == 0
				word := rapid.SampledFrom([]string{"", "", "a", "b", "c", "failed", "done"}).Draw(r, "outcome")
				passes := rapid.Bool().Draw(r, "passes")
				ends := endsAs(l.state().Step(id), model, word, passes)
				v := l.asks(id, word, passes, lost)
				if !standing[id] {
					require.Equal(r, done || ends != "", v.Allowed(), "step %d, which ends as %q: %s", id, ends, v.Reason)
				} else if e, known := l.state().Last(id); known {
					ends = e.Outcome
				}
				if standing[id] = standing[id] || lost; v.Allowed() && !done && (!lost || v.Turn != nil) {
					after, tr, err := model.Conclude(id, ends)
					require.NoError(r, err)
					require.Equal(r, v.Turn != nil, state.IsBack(tr))
					model = after
				}
			}
			l.agrees(model)
		}
	})
}

// endsAs returns how a step ends that an agent completes with a word, or without one: empty if that is refused.
func endsAs(step *state.Current, model machine.State, word string, passes bool) string {
	known := step.ForMachine()
	choices := known.Choices()
	if word == "" && step.Decides == fsmspec.ByAgent {
		if word = machine.Done; len(choices) == 1 {
			word = choices[0]
		}
	}
	if !slices.Contains(model.Ready(), step.ID) || !slices.Contains(choices, word) {
		return ""
	}
	if o := step.OutcomeNamed(word); (o == nil || o.Back == 0) && step.Check != nil && !passes {
		if word = machine.Failed; step.OutcomeNamed(word) == nil {
			return ""
		}
	}
	if _, _, err := model.Conclude(step.ID, word); err != nil {
		return ""
	}
	return word
}

// agrees fails unless the state and the list are what the machine says.
func (l *list) agrees(model machine.State) {
	s := l.state()
	require.Equal(l.t, model.Ready(), ready(s))
	for _, c := range s.Steps {
		require.Equal(l.t, []any{model.Outcome(c.ID), model.Round(c.ID)}, []any{c.Outcome, c.Round}, "step %d", c.ID)
		status, subject := l.file(c.ID, "status"), l.file(c.ID, "subject")
		require.Equal(l.t, c.Outcome != "", status == completed, "step %d is %s in the list and ended as %q", c.ID, status, c.Outcome)
		require.Equal(l.t, c.ShownSubject(), subject)
		require.Equal(l.t, model.NotNeeded(c.ID), strings.Contains(subject, "not needed"))
	}
}

// treeSpec draws an fsm.json of steps that consist of others or are done for lines, in each other
// and in loops, with conditions, checks, files, values, and persons and commands that decide.
func treeSpec(t *rapid.T, depth int) string {
	var all, ends []string // ends has the outcomes in which the step before can end
	for id := range rapid.IntRange(1, 3).Draw(t, "steps") {
		var step string
		step, ends = treeStep(t, depth, id, ends)
		all = append(all, "{"+step+"}")
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func treeStep(t *rapid.T, depth, id int, before []string) (step string, ends []string) {
	one := func(n int) bool { return rapid.IntRange(1, n).Draw(t, "one in") == 1 }
	step = fmt.Sprintf(`"id": %[1]d, "subject": "S%[1]d"`, id+1)
	if one(4) {
		step = fmt.Sprintf(`"id": %[1]d, "subject": "S%[1]d {v} {round}"`, id+1)
	}
	switch {
	case len(before) > 0 && one(2):
		step += fmt.Sprintf(`, "when": {"%d": %q}`, id, rapid.SampledFrom(append(before, "skipped")).Draw(t, "when"))
	case id > 0 && !one(3):
		step += fmt.Sprintf(`, "blockedBy": [%d]`, rapid.IntRange(1, id).Draw(t, "blocker"))
	}
	kind := rapid.IntRange(0, 4).Draw(t, "kind")
	if kind == 1 && depth > 0 || kind == 2 && depth > 0 {
		step += `, "do": ` + treeSpec(t, depth-1)
	}
	if kind == 2 || kind == 3 {
		step += fmt.Sprintf(`, "each": {"lines": "lines%d", "inTurn": %t}`, rapid.IntRange(0, 2).Draw(t, "lines"), rapid.Bool().Draw(t, "inTurn"))
	}
	var outcomes []string
	add := func(name, effects string) {
		outcomes = append(outcomes, fmt.Sprintf(`%q: {%s}`, name, effects))
		if effects == "" {
			ends = append(ends, name)
		}
	}
	back := func(name, then string) {
		effects := fmt.Sprintf(`"back": %d, "max": 2`, rapid.IntRange(1, id+1).Draw(t, "back"))
		if one(2) {
			effects += fmt.Sprintf(`, "then": %q`, then)
			add(then, "")
		}
		add(name, effects)
	}
	if one(6) {
		step += `, "check": "test -e passes"`
		if one(2) {
			back("failed", "unfit")
		}
	}
	if one(3) {
		back("back", "enough")
	}
	if one(3) {
		add("ok", "")
		add("gated", `"produces": ["out-{v}"]`)
	}
	if one(7) {
		add("over", `"stop": true`)
	}
	if len(outcomes) > 0 {
		step += `, "outcomes": {` + strings.Join(outcomes, ", ") + `}`
	}
	for _, more := range []string{`"produces": ["out-{v}"]`, `"set": {"v": "^[ab]$"}`, `"only": ["Bash(git push *)"]`, `"decides": "person"`,
		`"decides": {"run": "cat word"}`} {
		if one(6) && !strings.Contains(step, more[:9]) {
			step += ", " + more
		}
	}
	if kind == 2 || kind == 3 {
		ends = nil // its copies have them
	}
	return step, ends
}

// trees generates valid files that have copies or parts.
var trees = rapid.Custom(func(t *rapid.T) string {
	return `{"fsm": 2, "vars": {"v": "a"}, "steps": ` + treeSpec(t, 2) + `}`
}).Filter(func(file string) bool {
	_, err := fsmspec.Parse([]byte(file))
	return err == nil && (strings.Contains(file, `"do"`) || strings.Contains(file, `"each"`))
})

// TestTheListFollowsTheTree: whatever an agent and a person do on steps with parts and copies, the
// list shows the state, nothing is done before what is under it, something can always be done,
// and undo takes the copies first.
func TestTheListFollowsTheTree(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it makes many lists")
	}
	rapid.Check(t, func(r *rapid.T) {
		l := ofSpec(r, trees.Draw(r, "file"), "lines0", "", "lines1", "a\n", "lines2", "b\nc\n")
		l.List.Keep = 1 // the history keeps what a live workflow needs
		l.showsTheTree()
		for range rapid.IntRange(1, 25).Draw(r, "updates") {
			l.anything(r)
			l.showsTheTree()
		}
		l.undoesAll()
	})
}

// anything is an update of the agent, a word of a person, or a change of the project.
func (l *list) anything(r *rapid.T) {
	s := l.state()
	all := s.Steps
	if ready := s.Ready(); len(ready) > 0 && rapid.IntRange(0, 3).Draw(r, "in order") > 0 {
		all = ready
	}
	c := all[rapid.IntRange(0, len(all)-1).Draw(r, "step")]
	outcome := ""
	if len(c.Outcomes) > 0 && rapid.IntRange(0, 4).Draw(r, "says") > 0 {
		outcome = rapid.SampledFrom(c.Outcomes).Draw(r, "outcome").Name
	}
	value := map[string]string{}
	if len(c.Set) > 0 {
		value["v"] = rapid.SampledFrom([]string{"a", "b"}).Draw(r, "value")
	}
	p := Past{Step: c.ID, Because: "x", WithBlockers: rapid.Bool().Draw(r, "with blockers")}
	switch rapid.IntRange(0, 17).Draw(r, "what") {
	case 0:
		_, _ = l.GoPast(r.Context(), p, state.By{})
	case 1:
		_, _ = l.Reopen(r.Context(), c.ID, "x", state.By{})
	case 2:
		p.Done, p.Outcome, p.Values = true, outcome, value
		_, _ = l.GoPast(r.Context(), p, state.By{})
	case 3:
		l.toggles(rapid.SampledFrom([]string{"passes", "out-a", "out-b"}).Draw(r, "file"), "x")
	case 4:
		l.toggles("word", outcome)
	case 5:
		_, _ = l.Chosen(r.Context(), []Choice{choice(c.ID, outcome)}, state.ByQuestion, "")
	case 6, 7, 8:
		l.asksFor(c, Update{Status: inProgress})
	default:
		text, err := json.Marshal(value)
		require.NoError(r, err)
		l.asksFor(c, Update{Status: completed, Outcome: outcome, Values: text})
	}
}

// toggles removes a file of the project, or writes it.
func (l *list) toggles(name, text string) {
	if os.Remove(filepath.Join(l.project, name)) != nil {
		l.write(name, text+"\n")
	}
}

// asksFor makes an update as the client does.
func (l *list) asksFor(c *state.Current, u Update) {
	u.Task = message.Itoa(c.ID)
	v, status := l.Update(l.t.Context(), u), u.Status
	switch {
	case !v.Allowed() || c.Gone():
		return
	case v.Turn != nil:
		status = pending
	}
	if _, err := os.Stat(l.path(c.ID)); err == nil {
		l.set(c.ID, status)
	}
	l.seen()
}

// showsTheTree fails unless the list has the tasks of the state, and shows it.
func (l *list) showsTheTree() {
	s := l.state()
	require.Empty(l.t, s.Troubles)
	files, err := filepath.Glob(filepath.Join(l.List.Dir, "[0-9]*.json"))
	require.NoError(l.t, err)
	require.Len(l.t, files, len(s.Steps))
	for _, c := range s.Steps {
		require.Equal(l.t, c.Outcome != "", l.file(c.ID, "status") == completed, "%s ended as %q in the list\n%s", c.Name(), c.Outcome, l.all())
		require.Equal(l.t, c.ShownSubject(), l.file(c.ID, "subject"))
		var waits []string
		for _, id := range s.Waits(c) {
			if b := s.Step(id); b != nil && !b.Gone() {
				waits = append(waits, message.Itoa(id))
			}
		}
		require.ElementsMatch(l.t, waits, tasks.Form.Decode([]byte(l.text(c.ID))).BlockedBy, "%s\n%s", c.Name(), l.all())
		require.False(l.t, c.Outcome != "" && !c.NotNeeded && len(s.OpenUnder(c)) > 0, "%s is done before what is under it", c.Name())
		if items, ok := s.Expansion(c); ok && !c.Done() {
			copies := slices.DeleteFunc(s.Under(c), func(w *workflow.Workflow) bool { return w.Item == "" || w.Round != c.Round })
			require.Len(l.t, copies, len(items))
		}
	}
	require.True(l.t, s.Count().Open == 0 || len(s.Ready()) > 0, "nothing is ready:\n%s", l.all())
}

// undoesAll undoes the hydration, before it what came under its steps.
func (l *list) undoesAll() {
	labels, err := l.List.Labels(l.t.Context())
	require.NoError(l.t, err)
	for _, label := range slices.Backward(labels) {
		if _, err := l.List.Undo(l.t.Context(), label.ID, false); err != nil {
			continue // what the history does not keep
		}
		_, err := l.Redo(l.t.Context())
		require.NoError(l.t, err)
	}
	s := l.state()
	for _, w := range s.Workflows() {
		require.True(l.t, w.Item == "" || s.Parent(w) != nil, "a copy is left without its step:\n%s", l.all())
	}
}

// asks completes a step as a client does whose hooks these are, unless it is lost: then another hook has refused the call. A
// person chooses what can be chosen.
func (l *list) asks(id int64, outcome string, passes, lost bool) Verdict {
	file := filepath.Join(l.project, "passes")
	if _ = os.Remove(file); passes {
		l.write("passes", "x")
	}
	c := l.state().Step(id)
	if c.Decides == fsmspec.ByPerson && !c.Done() {
		if !slices.Contains(c.Choices(), outcome) {
			outcome = ""
		} else {
			_, _ = l.Chosen(l.t.Context(), []Choice{choice(id, outcome)}, state.ByQuestion, "")
		}
	}
	u := Update{Task: message.Itoa(id), Status: completed}
	if outcome != "" {
		u.Metadata = []byte(`{"outcome":"` + outcome + `"}`)
	}
	v := l.Update(l.t.Context(), u)
	require.Empty(l.t, v.Trouble)
	if lost && v.Turn == nil {
		return v
	}
	return l.carries(id, v)
}

// changes the status of a task as another program does, unless the task is gone.
func (w *random) changes(id int64, status string) {
	if _, err := os.Stat(w.path(id)); err == nil {
		w.set(id, status)
	}
}

// asks requests an update and, with carryOut, carries out what is allowed or what a person is
// asked for.
func (w *random) asks(id int64, status string, carryOut bool) Verdict {
	v := w.ask(id, status)
	require.True(w.t, v.Trouble == "" || len(w.state().Missing()) > 0, v.Trouble)
	switch {
	case v.Decision == state.Deny:
		hinted := strings.Contains(v.Reason, " in a terminal outside the client: fsmtx step skip ") ||
			strings.Contains(v.Reason, "fsmtx step reopen ")
		require.True(w.t, hinted || w.hinted, v.Reason)
		require.True(w.t, hinted || !strings.Contains(v.Reason, "only a person"), v.Reason)
		w.hinted = true
	case carryOut:
		if status == completed { // the client sends TaskCompleted, after a yes if it asked
			require.True(w.t, w.Completed(w.t.Context(), Update{Task: message.Itoa(id), Status: completed}).Allowed())
		}
		w.changes(id, status)
		w.dropped[id] = false
	case status == completed:
		w.dropped[id] = true
	}
	return v
}
