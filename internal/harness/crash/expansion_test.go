package crash

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// items is a workflow with a step that is done for lines, parts in its copies, steps that
// consist of others, and a loop around all of that. Nobody comes to its last step.
const items = `{"fsm": 2, "steps": [
 {"id": 1, "subject": "List"},
 {"id": 2, "subject": "Migrate", "blockedBy": [1], "each": {"lines": "items"}, "do": [
   {"id": 1, "subject": "Change {item}", "outcomes": {"again": {"back": 1, "max": 1}, "fine": {}}},
   {"id": 2, "subject": "Test", "blockedBy": [1], "do": [{"id": 1, "subject": "Run"}]}]},
 {"id": 3, "subject": "Look", "blockedBy": [2], "do": [{"id": 1, "subject": "Read"}, {"id": 2, "subject": "Judge", "blockedBy": [1]}],
  "outcomes": {"again": {"back": 2, "max": 2}, "fine": {}}},
 {"id": 4, "subject": "Ask", "blockedBy": [3], "each": {"run": "printf 'x\\ny\\n'", "timeout": 20, "inTurn": true}},
 {"id": 8, "subject": "Publish", "blockedBy": [4], "do": [{"id": 1, "subject": "Tag"}]},
 {"id": 9, "subject": "Announce", "blockedBy": [8]}]}`

// hydrate puts the workflow of an fsm.json into the list.
func (w *flow) hydrate(t require.TestingT, project, spec string) {
	parsed, err := fsmspec.Parse([]byte(spec))
	require.NoError(t, err)
	list := w.frame().List
	list.Record = func(p *fsmspec.Plan) (string, error) {
		hydration := workflow.Planned(p.Levels(), 0)[0]
		hydration.Command, hydration.Spec, hydration.Session, hydration.Dir = "release", "/skills/release/fsm.json", "list", project
		return hydration.Encode()
	}
	_, err = list.Replace(context.Background(), tasks.Label{Command: "release"}, func(snap fsmspec.Snapshot) (*fsmspec.Plan, error) {
		return parsed.Plan("release", snap, fsmspec.Policy{})
	})
	require.NoError(t, err)
}

func (w *flow) lines(t require.TestingT, text string) {
	require.NoError(t, os.WriteFile(filepath.Join(w.home, "project/items"), []byte(text), 0o644))
}

// expanded works up to the step for lines, and starts it.
func (w *flow) expanded(t require.TestingT) {
	w.listed(t, "a\nb\n")
	require.True(t, w.update(2, inProgress, ""))
}

// listed works up to the step for lines.
func (w *flow) listed(t require.TestingT, lines string) {
	w.lines(t, lines)
	w.done(t, request{id: 1})
}

// looked works up to the step that leads back.
func (w *flow) looked(t require.TestingT) {
	w.expanded(t)
	w.copies(t)
	w.done(t, request{id: 2})
	w.parts(t, 3)
}

// copies completes what is under step 2.
func (w *flow) copies(t require.TestingT) { w.parts(t, 2) }

// parts completes what is under a step, the innermost first.
func (w *flow) parts(t require.TestingT, id int64) {
	for {
		s, err := state.Load(context.Background(), w.dir())
		require.NoError(t, err)
		open := slices.DeleteFunc(s.Ready(), func(c *state.Current) bool {
			return !slices.ContainsFunc(s.Above(c.Workflow), func(p *state.Current) bool { return p.ID == id })
		})
		if len(open) == 0 {
			return
		}
		r := request{id: open[0].ID}
		if len(open[0].Outcomes) > 0 {
			r.outcome = "fine"
		}
		w.done(t, r)
	}
}

// at returns the number of the step with that path; see pathOf.
func (w *flow) at(path string) int64 {
	s, err := state.Load(context.Background(), w.dir())
	if err != nil {
		panic(err)
	}
	i := slices.IndexFunc(s.Steps, func(c *state.Current) bool { return pathOf(s, c) == path })
	if i < 0 {
		panic("no step " + path)
	}
	return s.Steps[i].ID
}

// pathOf names a step in a way that does not depend on the numbers of copies, which may be others
// after a crash: 2[a].1 is step 1 of the copy for a of step 2.
func pathOf(s *state.State, c *state.Current) string {
	p := s.Parent(c.Workflow)
	if p == nil {
		return strconv.FormatInt(c.Local, 10)
	}
	item := ""
	if c.Workflow.Item != "" {
		item = "[" + c.Workflow.Item + "]"
	}
	return fmt.Sprintf("%s%s.%d", pathOf(s, p), item, c.Local)
}

// copyMark begins the lines of copies in the description of a state.
const copyMark = "  "

// withoutCopies returns the description of a state without the steps of copies.
func withoutCopies(now string) string {
	lines := strings.SplitAfter(now, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, copyMark) }), "")
}

func sameNumbers(names []string, ids []int64) bool {
	var want []string
	for _, id := range ids {
		want = append(want, strconv.FormatInt(id, 10))
	}
	got := slices.Sorted(slices.Values(names))
	slices.Sort(want)
	return slices.Equal(got, want)
}

// expansions are the transitions of the workflow items.
var expansions = []transition{
	{name: "an expansion", spec: items, atOnce: true,
		before: func(t require.TestingT, w *flow) { w.listed(t, "a\nb\n") },
		act:    func(w *flow) { w.update(2, inProgress, "") }},
	{name: "an expansion at the completion", spec: items, atOnce: true, acting: true,
		before: func(t require.TestingT, w *flow) { w.listed(t, "a\nb\n") },
		act:    func(w *flow) { w.update(2, completed, "") }},
	{name: "an expansion by the server", spec: items, atOnce: true,
		before: func(t require.TestingT, w *flow) { w.listed(t, "a\nb\n") },
		act: func(w *flow) {
			w.served().Update(context.Background(), gates.Update{Task: "2", Status: inProgress})
		}},
	{name: "nothing to do", spec: items, acting: true,
		before: func(t require.TestingT, w *flow) { w.listed(t, "\n") },
		act:    func(w *flow) { w.update(2, completed, "") },
		half:   func(w *flow) { w.update(2, inProgress, "") }},
	{name: "an expansion by a command", spec: items, atOnce: true, acting: true,
		before: func(t require.TestingT, w *flow) { w.looked(t); w.done(t, request{id: 3, outcome: "fine"}) },
		act:    func(w *flow) { w.update(4, inProgress, "") }},
	{name: "a loop in a copy", spec: items, atOnce: true,
		before: func(t require.TestingT, w *flow) { w.expanded(t) },
		act:    func(w *flow) { w.update(w.at("2[a].1"), completed, "again") }},
	{name: "the last part of a copy", spec: items,
		before: func(t require.TestingT, w *flow) {
			w.expanded(t)
			w.done(t, request{id: w.at("2[a].1"), outcome: "fine"})
		},
		act: func(w *flow) { w.update(w.at("2[a].2.1"), completed, "") }},
	{name: "a loop around copies and parts", spec: items, atOnce: true,
		before: func(t require.TestingT, w *flow) { w.looked(t) },
		act:    func(w *flow) { w.update(3, completed, "again") }},
	{name: "the second expansion", spec: items, atOnce: true,
		before: func(t require.TestingT, w *flow) {
			w.looked(t)
			w.done(t, request{id: 3, outcome: "again"})
			w.lines(t, "b\nc\n")
		},
		act: func(w *flow) { w.update(2, inProgress, "") }},
	{name: "step reopen before copies", spec: items, atOnce: true,
		before: func(t require.TestingT, w *flow) { w.expanded(t) },
		act:    func(w *flow) { _, _ = w.frame().Reopen(context.Background(), 1, "it was wrong", person) }},
	{name: "step skip of a step with copies", spec: items, atOnce: true,
		before: func(t require.TestingT, w *flow) { w.expanded(t) },
		act: func(w *flow) {
			_, _ = w.frame().GoPast(context.Background(), gates.Past{Step: 2, Because: "late"}, person)
		}},
}
