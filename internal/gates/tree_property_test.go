package gates

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

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
		step += fmt.Sprintf(`, "each": {"lines": "lines%d", "inTurn": %t}`, rapid.IntRange(0, 2).Draw(t, "lines"),
			rapid.Bool().Draw(t, "inTurn"))
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
	root := worlds.MemoryDir(t)
	rapid.Check(t, func(r *rapid.T) {
		file := trees.Draw(r, "file")
		dir, err := os.MkdirTemp(root, "list")
		require.NoError(r, err)
		defer os.RemoveAll(dir)
		l := &list{Frame: newFrame(dir), t: t, project: dir}
		l.List.Keep = 1 // the history keeps what a live workflow needs
		for n, lines := range []string{"", "a\n", "b\nc\n"} {
			require.NoError(r, os.WriteFile(filepath.Join(dir, fmt.Sprint("lines", n)), []byte(lines), 0o600))
		}
		hydrateSpec(r, l.List, dir, file)
		l.showsTheTree(r)
		for range rapid.IntRange(1, 25).Draw(r, "updates") {
			l.anything(r)
			l.showsTheTree(r)
		}
		l.undoesAll(r)
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
		_, _ = l.GoPast(l.t.Context(), p, state.By{})
	case 1:
		_, _ = l.Reopen(l.t.Context(), c.ID, "x", state.By{})
	case 2:
		p.Done, p.Outcome, p.Values = true, outcome, value
		_, _ = l.GoPast(l.t.Context(), p, state.By{})
	case 3:
		l.toggles(r, rapid.SampledFrom([]string{"passes", "out-a", "out-b"}).Draw(r, "file"), "x")
	case 4:
		l.toggles(r, "word", outcome)
	case 5:
		_, _ = l.Chosen(l.t.Context(), []Choice{choice(c.ID, outcome)}, state.ByQuestion, "")
	case 6, 7, 8:
		l.asksFor(c, Update{Status: workflow.InProgress})
	default:
		text, err := json.Marshal(value)
		require.NoError(r, err)
		l.asksFor(c, Update{Status: workflow.Completed, Outcome: outcome, Values: text})
	}
}

// toggles removes a file of the project, or writes it.
func (l *list) toggles(r *rapid.T, name, text string) {
	if path := filepath.Join(l.project, name); os.Remove(path) != nil {
		require.NoError(r, os.WriteFile(path, []byte(text+"\n"), 0o600))
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
		status = workflow.Pending
	}
	if _, err := os.Stat(filepath.Join(l.List.Dir, fileName(c.ID))); err == nil {
		l.set(c.ID, status)
	}
	l.seen()
}

// showsTheTree fails unless the list has the tasks of the state, and shows it.
func (l *list) showsTheTree(r *rapid.T) {
	s := l.state()
	require.Empty(r, s.Troubles)
	files, err := filepath.Glob(filepath.Join(l.List.Dir, "[0-9]*.json"))
	require.NoError(r, err)
	require.Len(r, files, len(s.Steps))
	for _, c := range s.Steps {
		data, err := os.ReadFile(filepath.Join(l.List.Dir, fileName(c.ID)))
		require.NoError(r, err)
		require.Equal(r, c.Outcome != "", jsonx.StringMember(data, "status") == workflow.Completed, "%s ended as %q in the list\n%s", c.Name(),
			c.Outcome, l.all())
		require.Equal(r, c.ShownSubject(), jsonx.StringMember(data, "subject"))
		var waits []string
		for _, id := range s.Waits(c) {
			if b := s.Step(id); b != nil && !b.Gone() {
				waits = append(waits, message.Itoa(id))
			}
		}
		require.ElementsMatch(r, waits, tasks.Form.Decode(data).BlockedBy, "%s\n%s", c.Name(), l.all())
		require.False(r, c.Outcome != "" && !c.NotNeeded && len(s.OpenUnder(c)) > 0, "%s is done before what is under it", c.Name())
		if items, ok := s.Expansion(c); ok && !c.Done() {
			copies := slices.DeleteFunc(s.Under(c), func(w *workflow.Workflow) bool { return w.Item == "" || w.Round != c.Round })
			require.Len(r, copies, len(items))
		}
	}
	require.True(r, s.DoneCount() == len(s.Steps) || len(s.Ready()) > 0, "nothing is ready:\n%s", l.all())
}

// undoesAll undoes the hydration, before it what came under its steps.
func (l *list) undoesAll(r *rapid.T) {
	labels, err := l.List.Labels(l.t.Context())
	require.NoError(r, err)
	for _, label := range slices.Backward(labels) {
		if _, err := l.List.Undo(l.t.Context(), label.ID, false); err != nil {
			continue // what the history does not keep
		}
		_, err := l.Redo(l.t.Context())
		require.NoError(r, err)
	}
	s, err := state.Load(l.t.Context(), l.List.Dir)
	require.NoError(r, err)
	for _, w := range s.Workflows() {
		require.True(r, w.Item == "" || s.Parent(w) != nil, "a copy is left without its step:\n%s", l.all())
	}
}
