//go:build unix

package crash

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
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
	list.Record = func(p *fsmspec.Plan) (tasks.Record, error) {
		hydration := workflow.Planned(parsed, p)
		hydration.Command, hydration.Spec, hydration.Session, hydration.Dir = "release", w.spec(), "list", project
		text, err := hydration.Encode()
		return tasks.Record{Text: text}, err
	}
	_, err = list.Replace(context.Background(), tasks.Label{Command: "release"}, func(snap fsmspec.Snapshot) (*fsmspec.Plan, error) {
		return parsed.Plan("release", snap, fsmspec.Policy{})
	})
	require.NoError(t, err)
}

// spec is the path of the fsm.json of the workflow release.
func (w *flow) spec() string { return filepath.Join(w.home, "skills/release/fsm.json") }

func (w *flow) lines(t require.TestingT, text string) {
	require.NoError(t, os.WriteFile(filepath.Join(w.home, "project/items"), []byte(text), 0o644))
}

// listed works up to the step for lines.
func listed(lines string) prior {
	return func(t require.TestingT, w *flow) {
		w.lines(t, lines)
		w.done(t, request{id: 1})
	}
}

// expanded works up to the step for lines, and starts it.
func expanded(t require.TestingT, w *flow) {
	listed("a\nb\n")(t, w)
	require.True(t, w.update(2, inProgress, ""))
}

// looked works up to the step that leads back.
func looked(t require.TestingT, w *flow) {
	expanded(t, w)
	w.parts(t, 2)
	w.done(t, request{id: 2})
	w.parts(t, 3)
}

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
	{name: "an expansion", spec: items, atOnce: true, before: listed("a\nb\n"), act: updates(2, inProgress, "")},
	{name: "an expansion at the completion", spec: items, atOnce: true, acting: true, before: listed("a\nb\n"),
		act: updates(2, completed, "")},
	{name: "an expansion by the server", spec: items, atOnce: true, before: listed("a\nb\n"),
		act: serves(gates.Update{Task: "2", Status: inProgress})},
	{name: "nothing to do", spec: items, acting: true, before: listed("\n"), act: updates(2, completed, ""), half: updates(2, inProgress, "")},
	{name: "an expansion by a command", spec: items, atOnce: true, acting: true,
		before: prior(looked).then(request{id: 3, outcome: "fine"}), act: updates(4, inProgress, "")},
	{name: "a loop in a copy", spec: items, atOnce: true, before: expanded,
		act: func(w *flow) { w.update(w.at("2[a].1"), completed, "again") }},
	{name: "the last part of a copy", spec: items, act: func(w *flow) { w.update(w.at("2[a].2.1"), completed, "") },
		before: func(t require.TestingT, w *flow) {
			expanded(t, w)
			w.done(t, request{id: w.at("2[a].1"), outcome: "fine"})
		}},
	{name: "a loop around copies and parts", spec: items, atOnce: true, before: looked, act: updates(3, completed, "again")},
	{name: "the second expansion", spec: items, atOnce: true, act: updates(2, inProgress, ""),
		before: func(t require.TestingT, w *flow) {
			prior(looked).then(request{id: 3, outcome: "again"})(t, w)
			w.lines(t, "b\nc\n")
		}},
	{name: "step reopen before copies", spec: items, atOnce: true, before: expanded, act: reopens(1)},
	{name: "step skip of a step with copies", spec: items, atOnce: true, before: expanded, act: goesPast(gates.Past{Step: 2})},
}

// notes is a workflow that comes under a step of another one.
const notes = `{"fsm": 2, "steps": [
 {"id": 1, "subject": "Collect", "do": [{"id": 1, "subject": "Read"}]},
 {"id": 2, "subject": "Draft", "blockedBy": [1], "outcomes": {"again": {"back": 1, "max": 2}, "fine": {}}}]}`

// calls is the hook of a call of a skill.
func (w *flow) calls(skill string) error {
	_, err := hydrate.Run(context.Background(), hydrate.Request{Event: "PostToolUse", Session: filepath.Base(w.dir()), Command: skill,
		Cwd: filepath.Join(w.home, "project")}, w.env, hydrate.Options{LockTimeout: 5 * time.Second, FS: w.files})
	return err
}

func (w *flow) env(name string) (string, bool) {
	value, ok := map[string]string{"HOME": w.home, "CLAUDE_CONFIG_DIR": w.home}[name]
	return value, ok
}

// short is a workflow whose fsm.json becomes another one while it is open: other steps of the same work. Nobody comes to its last step.
const short = `[{"id": 1, "subject": "Write"}, {"id": 2, "subject": "Test", "blockedBy": [1]},
{"id": 9, "subject": "Announce", "blockedBy": [2]}]`

// changed has done the first step, and the fsm.json is another one.
func changed(t require.TestingT, w *flow) {
	w.done(t, request{id: 1})
	require.NoError(t, os.MkdirAll(filepath.Dir(w.spec()), 0o755))
	text := strings.Replace(short, `"Test", "blockedBy": [1]}`, `"Test", "blockedBy": [1], "check": "true"}, {"id": 3, "subject": "Look"}`, 1)
	require.NoError(t, os.WriteFile(w.spec(), []byte(text), 0o644))
}

// reloads takes up the fsm.json as it is now.
func reloads(w *flow) {
	s, err := state.LoadNow(context.Background(), w.dir())
	if err != nil {
		return
	}
	r, err := hydrate.PrepareReload(s, w.dir(), "")
	if err == nil {
		o := hydrate.Options{LockTimeout: time.Hour, FS: w.files} // each step is looked at long
		_, _ = r.Apply(context.Background(), w.env, o, "it was wrong", person)
	}
}

// undo takes the last change of the list back.
func (w *flow) undo() error {
	history, err := txn.ReadHistory(w.dir())
	if err != nil {
		return err
	}
	_, err = w.frame().List.Undo(context.Background(), history[len(history)-1].ID, false)
	return err
}

// atReview works up to the review. The skill is there, too.
func atReview(t require.TestingT, w *flow) {
	skill := filepath.Join(w.home, "skills/notes")
	require.NoError(t, os.MkdirAll(skill, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte("---\nname: notes\n---\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(skill, "fsm.json"), []byte(notes), 0o644))
	reviewed(1)(t, w)
}

// nested has called it there.
func nested(t require.TestingT, w *flow) {
	atReview(t, w)
	require.NoError(t, w.calls("notes"))
}

// nestings are the transitions of a workflow under a step of another one.
var nestings = []transition{
	{name: "a skill within a step", atOnce: true, isList: true, before: atReview, act: func(w *flow) { _ = w.calls("notes") }},
	{name: "step reload", spec: short, atOnce: true, isList: true, before: changed, act: reloads},
	{name: "undo of a skill within a step", atOnce: true, isList: true, before: nested, act: func(w *flow) { _ = w.undo() }},
	{name: "a loop around a skill within a step", atOnce: true, act: updates(3, completed, "changes"),
		before: func(t require.TestingT, w *flow) { nested(t, w); w.parts(t, 3) }},
}

// TestASkillReplacesNothingThatCannotBeRead: work on the workflow in the list has begun, and a skill
// that is called meanwhile comes under it or fails. It never takes its place, whichever call fails.
func TestASkillReplacesNothingThatCannotBeRead(t *testing.T) {
	x := nestings[0].prepare(t)
	tried := 0
	for about, w := range x.onFaults(syscall.EIO, 1, x.act) {
		tried++
		state, _, err := w.stateOf()
		require.NoError(t, err, about)
		require.Contains(t, x.want, state, about)
	}
	require.Greater(t, tried, 50)
}
