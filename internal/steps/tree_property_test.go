package steps

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/tasks"
)

// treeSpec draws an fsm.json of steps that consist of others or are done for lines, in each other
// and in loops.
func treeSpec(t *rapid.T, depth int) string {
	var all []string
	for id := range rapid.IntRange(1, 3).Draw(t, "steps") {
		step := fmt.Sprintf(`"id": %d, "subject": "S%d"`, id+1, id+1)
		if id > 0 && rapid.IntRange(0, 2).Draw(t, "after") > 0 {
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
		switch {
		case kind == 3:
		case rapid.IntRange(0, 2).Draw(t, "loop") == 0:
			step += fmt.Sprintf(`, "outcomes": {"back": {"back": %d, "max": 2}, "ok": {}}`, rapid.IntRange(1, id+1).Draw(t, "back"))
		case rapid.IntRange(0, 4).Draw(t, "stop") == 0:
			step += `, "outcomes": {"over": {"stop": true}, "ok": {}}`
		}
		all = append(all, "{"+step+"}")
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// trees generates valid files that have copies or parts.
var trees = rapid.Custom(func(t *rapid.T) string { return `{"fsm": 2, "steps": ` + treeSpec(t, 2) + `}` }).Filter(func(file string) bool {
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

// anything is an update of the agent or a word of a person.
func (l *list) anything(r *rapid.T) {
	s := l.state()
	all := s.Steps
	if ready := s.Ready(); len(ready) > 0 && rapid.IntRange(0, 3).Draw(r, "in order") > 0 {
		all = ready
	}
	c := rapid.SampledFrom(all).Draw(r, "step")
	switch rapid.IntRange(0, 12).Draw(r, "what") {
	case 0:
		_, _ = l.GoPast(l.t.Context(), Past{Step: c.ID, Because: "x", WithBlockers: rapid.Bool().Draw(r, "with blockers")}, By{})
	case 1:
		_, _ = l.Reopen(l.t.Context(), c.ID, "x", By{})
	case 2, 3, 4:
		l.asksFor(c, inProgress, "")
	default:
		outcome := ""
		if len(c.Outcomes) > 0 {
			outcome = rapid.SampledFrom(c.Outcomes).Draw(r, "outcome").Name
		}
		l.asksFor(c, completed, outcome)
	}
}

// asksFor makes an update as the client does.
func (l *list) asksFor(c *Current, status, outcome string) {
	u := Update{Task: itoa(c.ID), Status: status, Outcome: outcome}
	v := l.Update(l.t.Context(), u)
	switch {
	case !v.Allowed() || c.Gone():
		return
	case v.Turn != nil:
		status = pending
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
		require.Equal(r, c.Outcome != "", jsonx.StringMember(data, "status") == completed, "%s ended as %q in the list\n%s", c.Name(),
			c.Outcome, l.all())
		require.Equal(r, c.shownSubject(), jsonx.StringMember(data, "subject"))
		waits := c.blockers(s)
		require.ElementsMatch(r, waits, parseTask(tasks.Form(""), data).BlockedBy, "%s\n%s", c.Name(), l.all())
		require.False(r, c.Outcome != "" && !c.NotNeeded && len(s.OpenUnder(c)) > 0, "%s is done before what is under it", c.Name())
		if items, ok := s.Expansion(c); ok && !c.Done() {
			require.Len(r, s.copies(c), len(items))
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
	s, err := Load(l.t.Context(), l.List.Dir)
	require.NoError(r, err)
	for _, w := range s.Workflows() {
		require.True(r, w.Item == "" || s.Parent(w) != nil, "a copy is left without its step:\n%s", l.all())
	}
}
