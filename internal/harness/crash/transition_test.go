//go:build unix

package crash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// This file has the transitions of a workflow with outcomes whose crashes are tried, the
// client that makes them, and the events that may come next.

const (
	pending    = "pending"
	inProgress = "in_progress"
	completed  = "completed"
)

// flow is a home with a list that shows a workflow with outcomes, and a client that works on
// it.
type flow struct {
	home  string
	files vfs.FS                         // of fsmtx; nil is the operating system's
	wrote func(path string, data []byte) // is called when the client has written a task; may be nil

	name     string         // of the list; empty is list
	answer   string         // the reason of the last refusal, for messages
	unjudged map[int64]bool // steps whose updates were let through without a look at their gates
}

func openFlow(home string) *flow { return &flow{home: home, unjudged: map[int64]bool{}} }

func (w *flow) dir() string { return filepath.Join(w.home, "tasks", cmp.Or(w.name, "list")) }

func (w *flow) task(id int64) string {
	return filepath.Join(w.dir(), strconv.FormatInt(id, 10)+".json")
}

// call is the file that has the input of a call whose hook has not answered.
func (w *flow) call() string { return filepath.Join(w.home, "call") }

func (w *flow) frame() *gates.Frame {
	return &gates.Frame{Store: state.Store{List: tasks.List{Dir: w.dir(), Wait: 5 * time.Second, FS: w.files}, Session: "list"},
		Env: os.Environ()}
}

// served is the frame of the MCP server.
func (w *flow) served() *gates.Frame {
	f := w.frame()
	f.Apply = true
	return f
}

// judged is implement, test, review, settle, and what comes then. The review gives a value when
// it goes forward, which the last two steps name. Nobody comes to them.
const judged = `{"fsm": 2, "steps": [
 {"id": 1, "subject": "Implement"},
 {"id": 2, "subject": "Test", "blockedBy": [1], "check": {"run": "test -e code", "timeout": 20}, "outcomes": {"failed": {"back": 1, "max": 3}}},
 {"id": 3, "subject": "Review", "blockedBy": [2], "set": {"version": "[0-9]+"},
  "outcomes": {"approved": {}, "changes": {"back": 1, "max": 2, "then": "disputed"}, "disputed": {}}},
 {"id": 4, "subject": "Settle", "when": {"3": "disputed"}, "decides": "person", "outcomes": {"merge": {}, "drop": {"stop": true}}},
 {"id": 5, "subject": "Document", "when": {"3": "approved"}},
 {"id": 8, "subject": "Publish {version}", "blockedBy": [4, 5]},
 {"id": 9, "subject": "Announce {version}", "blockedBy": [8]}]}`

// lastStep is a step that is never reached: an update of it changes nothing.
const lastStep = 9

// last returns the number of that step, which a reload makes another one.
func (w *flow) last() int64 {
	s, err := state.Load(context.Background(), w.dir())
	if err != nil {
		return lastStep
	}
	for _, c := range s.Steps {
		if pathOf(s, c) == "9" {
			return c.ID
		}
	}
	return lastStep
}

// newFlow makes a home with the workflow, as a hydration does: the one in spec, or else judged.
func newFlow(t require.TestingT, base, spec string) *flow {
	home, err := os.MkdirTemp(base, "flow-")
	require.NoError(t, err)
	w := openFlow(home)
	project := filepath.Join(home, "project")
	require.NoError(t, os.Mkdir(project, 0o755))
	w.hydrate(t, project, cmp.Or(spec, judged))
	return w
}

// request is the input of a TaskUpdate of the agent.
type request struct {
	id              int64
	status, outcome string
}

func (r request) update() gates.Update {
	u := gates.Update{Task: strconv.FormatInt(r.id, 10), Status: r.status}
	if r.outcome != "" {
		u.Metadata = jsontext.Value(`{"outcome":"` + r.outcome + `","version":7}`)
	}
	return u
}

// update makes an update as the client does: the hook before it, the update itself, and the
// hook after it. It returns false if it is refused.
func (w *flow) update(id int64, status, outcome string) bool {
	r := request{id, status, outcome}
	text, _ := json.Marshal(r)
	_ = os.WriteFile(w.call(), text, 0o600)
	v := w.frame().Update(context.Background(), r.update())
	_ = os.Remove(w.call())
	if !v.Allowed() {
		return false
	}
	w.unjudged[id] = v.Trouble != ""
	if v.Turn != nil {
		r.status, r.outcome = pending, ""
	}
	w.write(r)
	w.frame().Seen(context.Background(), "", "")
	return true
}

// write changes a task's file as the client does.
func (w *flow) write(r request) {
	data, err := os.ReadFile(w.task(r.id))
	var members map[string]any
	if err != nil || json.Unmarshal(data, &members) != nil {
		panic(fmt.Sprint("the client cannot read its task: ", err, string(data)))
	}
	members["status"] = r.status
	metadata := members["metadata"].(map[string]any)
	if delete(metadata, "outcome"); r.outcome != "" {
		metadata["outcome"], metadata["version"] = r.outcome, 7
	}
	data, _ = json.Marshal(members, json.Deterministic(true), jsontext.WithIndent("  "))
	if err := os.WriteFile(w.task(r.id), data, 0o644); err != nil {
		panic(err)
	}
	if w.wrote != nil {
		w.wrote(w.task(r.id), data)
	}
}

// done makes updates that have to be let through.
func (w *flow) done(t require.TestingT, all ...request) {
	for _, r := range all {
		require.True(t, w.update(r.id, completed, r.outcome), "%+v", r)
	}
}

func (w *flow) code(t require.TestingT) {
	require.NoError(t, os.WriteFile(filepath.Join(w.home, "project/code"), []byte("x"), 0o644))
}

// prior brings a workflow to where a transition begins.
type prior func(t require.TestingT, w *flow)

// then completes further steps.
func (p prior) then(all ...request) prior {
	return func(t require.TestingT, w *flow) {
		p(t, w)
		w.done(t, all...)
	}
}

// done completes the first steps.
func done(all ...request) prior {
	return func(t require.TestingT, w *flow) { w.done(t, all...) }
}

// reviewed works up to the review, n times before which it was sent back.
func reviewed(n int) prior {
	return func(t require.TestingT, w *flow) {
		w.code(t)
		w.done(t, request{id: 1}, request{id: 2})
		for range n {
			w.done(t, request{id: 3, outcome: "changes"}, request{id: 1}, request{id: 2})
		}
		require.True(t, w.update(3, inProgress, ""))
	}
}

var disputed = reviewed(2).then(request{id: 3, outcome: "changes"})

// chosenBy is what a person has chosen for the dispute.
func chosenBy(outcome string) prior {
	return func(t require.TestingT, w *flow) { disputed(t, w); w.chooses(outcome) }
}

func (w *flow) chooses(outcome string) gates.Verdict {
	_, v := w.frame().Chosen(context.Background(), []gates.Choice{{Question: "How does #4 end?", Options: []string{"merge", "drop"},
		Chosen: outcome}}, state.ByQuestion, "")
	return v
}

var person = state.By{Who: state.ThePerson, How: state.AtTerminal}

// transition is what changes the state of a workflow.
type transition struct {
	name   string
	spec   string        // the workflow as an fsm.json; empty is that of the function workflow
	before prior         // what comes before it
	act    func(w *flow) // the transition itself
	half   func(w *flow) // leaves a state in between that may stand; nil if there is none
	atOnce bool          // it counts when it is on record, whatever the client does then
	isList bool          // it is a change of the list, which counts when its journal is durable, and no line of evidence
	acting bool          // a command has to run before it is known what an update leads to
}

// The transitions themselves.
func updates(id int64, status, outcome string) func(*flow) {
	return func(w *flow) { w.update(id, status, outcome) }
}

func serves(u gates.Update) func(*flow) {
	return func(w *flow) { w.served().Update(context.Background(), u) }
}

func reopens(id int64) func(*flow) {
	return func(w *flow) { _, _ = w.frame().Reopen(context.Background(), id, "it was wrong", person) }
}

func goesPast(p gates.Past) func(*flow) {
	p.Because = "late"
	return func(w *flow) { _, _ = w.frame().GoPast(context.Background(), p, person) }
}

var transitions = append([]transition{
	{name: "a loop", atOnce: true, before: reviewed(1), act: updates(3, completed, "changes")},
	{name: "a check that fails", atOnce: true, acting: true, before: done(request{id: 1}, request{id: 2}, request{id: 1}),
		act: updates(2, completed, "")},
	{name: "a spent loop", before: reviewed(2), act: updates(3, completed, "changes")},
	{name: "a branch", before: reviewed(1), act: updates(3, completed, "approved")},
	{name: "a person's answer", atOnce: true, before: disputed, act: func(w *flow) { w.chooses("merge") }},
	{name: "what a person chose", before: chosenBy("merge"), act: updates(4, completed, "")},
	{name: "a stop", before: chosenBy("drop"), act: updates(4, completed, "")},
	{name: "step reopen", atOnce: true, before: reviewed(1).then(request{id: 3, outcome: "approved"}), act: reopens(2)},
	{name: "step end", atOnce: true, before: reviewed(0),
		act: func(w *flow) { _, _ = w.frame().End(context.Background(), 2, "not wanted", person) }},
	{name: "step done", atOnce: true, before: reviewed(1),
		act: goesPast(gates.Past{Done: true, Step: 3, Outcome: "disputed", Values: map[string]string{"version": "8"}})},
	{name: "step skip with blockers", atOnce: true, before: done(request{id: 1}), act: goesPast(gates.Past{Step: 5, WithBlockers: true})},
	{name: "a loop by the server", atOnce: true, before: reviewed(1),
		act: serves(gates.Update{Task: "3", Status: completed, Outcome: "changes"})},
	{name: "a branch by the server", before: reviewed(1),
		act: serves(gates.Update{Task: "3", Status: completed, Outcome: "approved", Values: jsontext.Value(`{"version":"7"}`)})},
	{name: "a loop that a script asked for", atOnce: true, act: updates(lastStep, inProgress, ""),
		before: func(t require.TestingT, w *flow) { reviewed(1)(t, w); w.write(request{3, completed, "changes"}) }},
}, slices.Concat(expansions, nestings)...)

// next are the events that may come after a crash. None of them changes the state by itself.
var next = []struct {
	name    string
	happens func(w *flow) error
	gates   bool // it runs the gates of steps that were completed in another way
}{
	{"PreToolUse of a step", func(w *flow) error {
		v := w.frame().Update(context.Background(), request{w.last(), inProgress, ""}.update())
		if v.Allowed() {
			return fmt.Errorf("it is let through: %+v", v)
		}
		w.answer = v.Reason
		return nil
	}, true},
	{"PreToolUse of another task", func(w *flow) error {
		w.frame().Update(context.Background(), gates.Update{Task: "77", Status: completed})
		return nil
	}, false},
	{"PostToolUse of TaskUpdate", func(w *flow) error { w.frame().Seen(context.Background(), "", ""); return nil }, false},
	{"PostToolUse of AskUserQuestion", func(w *flow) error {
		w.frame().Chosen(context.Background(), []gates.Choice{{Options: []string{"tea", "coffee"}, Chosen: "tea"}}, state.ByQuestion, "")
		return nil
	}, false},
	{"TaskCompleted", func(w *flow) error {
		w.frame().Completed(context.Background(), request{w.last(), completed, ""}.update())
		return nil
	}, true},
	{"SessionStart", func(w *flow) error { _, err := w.frame().Resume(context.Background(), ""); return err }, false},
	{"Stop", func(w *flow) error {
		_, _, err := w.frame().Stop(context.Background(), gates.Stopping{Mode: gates.Remind})
		return err
	}, false},
	{"a call of the server", func(w *flow) error {
		w.served().Update(context.Background(), request{w.last(), inProgress, ""}.update())
		return nil
	}, true},
	{"a refused command", func(w *flow) error {
		_, err := w.frame().GoPast(context.Background(), gates.Past{Step: w.last(), Because: "no"}, person)
		if err == nil {
			return fmt.Errorf("step skip of a step that is blocked was let through")
		}
		return nil
	}, false},
	{"recover", func(w *flow) error {
		if r := tasklist.Recover(context.Background(), w.dir(), 5*time.Second, tasklist.RecoverOptions{}); r.State == tasklist.Refused ||
			r.State == tasklist.Damaged {
			return fmt.Errorf("%s", r)
		}
		return nil
	}, false},
}

// stateOf describes the state of the workflow: how each step ended, its round and its
// counters.
func (w *flow) stateOf() (string, *state.State, error) {
	s, err := state.Load(context.Background(), w.dir())
	if err != nil {
		return "", nil, err
	}
	for _, trouble := range s.Troubles {
		if !errors.Is(trouble, state.ErrMemory) { // that file is not synced, and no step is open or done by it
			return "", nil, trouble
		}
	}
	var b strings.Builder
	for _, c := range s.Steps {
		if s.Copied(c) {
			b.WriteString(copyMark)
		}
		fmt.Fprintf(&b, "%s %s, round %d", pathOf(s, c), c.Outcome, c.Round)
		if items, ok := s.Expansion(c); ok {
			fmt.Fprintf(&b, ", for %q", items)
		}
		for _, o := range s.Choosable(c) {
			if o.Back != 0 {
				fmt.Fprintf(&b, ", %s %d", o.Name, o.Used)
			}
		}
		if c.Local == 4 {
			fmt.Fprintf(&b, ", undecided %t", s.Undecided(c))
		}
		fmt.Fprintf(&b, ", %v;\n", c.Values)
	}
	return b.String(), s, nil
}

// shows returns what the list says otherwise than the state of the workflow, except of the
// steps in but.
func (w *flow) shows(s *state.State, but map[int64]bool) string {
	if files, _ := filepath.Glob(filepath.Join(w.dir(), "[0-9]*.json")); len(files) != len(s.Steps) {
		return fmt.Sprintf("the list has %d tasks, and the workflows have %d steps", len(files), len(s.Steps))
	}
	for _, c := range s.Steps {
		data, err := os.ReadFile(w.task(c.ID))
		var task struct {
			Subject   string   `json:"subject"`
			Status    string   `json:"status"`
			BlockedBy []string `json:"blockedBy"`
		}
		if err == nil {
			err = json.Unmarshal(data, &task)
		}
		subject := c.Subject + c.Rounds()
		if c.NotNeeded {
			subject = c.Subject + " (not needed"
		}
		switch {
		case err != nil:
			return fmt.Sprintf("#%d: %v", c.ID, err)
		case but[c.ID], c.Status == completed && len(s.OpenUnder(c)) > 0: // it was completed in another way, and is judged when that is done
		case (task.Status == completed) != (c.Outcome != ""):
			return fmt.Sprintf("#%d is %s in the list and ended as %q", c.ID, task.Status, c.Outcome)
		case task.Status == inProgress && unstarted(s, c.ID):
			return fmt.Sprintf("#%d is %s in the list, and nobody has started it since it was opened again", c.ID, task.Status)
		case task.Subject != subject && !(c.NotNeeded && strings.HasPrefix(task.Subject, subject)):
			return fmt.Sprintf("#%d is %q in the list, not %q", c.ID, task.Subject, subject)
		case !sameNumbers(task.BlockedBy, s.Waits(c)):
			return fmt.Sprintf("#%d waits for %v in the list, not for %v", c.ID, task.BlockedBy, s.Waits(c))
		}
	}
	return ""
}

// unstarted reports whether a step was opened again, and nobody has started it since. Once the
// list was seen to show that it is open, whoever writes that it is in progress has started it.
func unstarted(s *state.State, id int64) bool {
	for _, e := range slices.Backward(s.Evidence) {
		switch {
		case slices.Contains(e.Reopens, id):
			return true
		case e.Verdict == state.Shown, e.Step == id && e.To == inProgress && e.Verdict == state.Allow:
			return false
		}
	}
	return false
}

// bytesBelow returns every file below the tasks, with its content.
func (w *flow) bytesBelow() map[string]string {
	all := map[string]string{}
	_ = filepath.WalkDir(filepath.Join(w.home, "tasks"), func(path string, e os.DirEntry, err error) error {
		if err == nil {
			data, _ := os.ReadFile(path)
			all[path] = string(data)
		}
		return nil
	})
	return all
}

// looks fails unless looking at the list writes nothing.
func (w *flow) looks() error {
	before := w.bytesBelow()
	for range 2 {
		if _, _, err := w.stateOf(); err != nil {
			return err
		}
	}
	if _, err := w.frame().TurnEnd(context.Background()); err != nil {
		return err
	}
	if _, err := w.frame().AllTroubles(context.Background()); err != nil {
		return err
	}
	if !maps.Equal(before, w.bytesBelow()) {
		return fmt.Errorf("looking at the list has changed it")
	}
	return nil
}

// goesOn lets one event happen after a crash, and returns what is wrong then: the workflow is
// in none of the states in want, or the list does not show its state. What it is before the
// event, as whoever only looks sees it, is what it is afterwards, unless the event runs the
// gates of a step that was completed in another way.
func (w *flow) goesOn(event int, want []string, unjudged map[int64]bool) error {
	if err := w.looks(); err != nil {
		return err
	}
	seen, _, err := w.stateOf()
	if err != nil {
		return err
	}
	on := slices.IndexFunc(want, func(now string) bool { return now == seen })
	if on < 0 { // the tasks of copies may not have come yet, or not be gone
		on = slices.IndexFunc(want, func(now string) bool { return withoutCopies(now) == withoutCopies(seen) })
	}
	interrupted, err := txn.Inspect(context.Background(), w.dir())
	if err != nil {
		return err
	}
	// Whoever only looks sees the tasks of an interrupted change when it has been recovered.
	isInterrupted := interrupted.Outcome != txn.Clean
	if on < 0 && !isInterrupted {
		return fmt.Errorf("it is half done:\n%s\nnot one of\n%s", seen, strings.Join(want, "\n"))
	}
	late := on >= 0 && want[on] != seen
	if err := next[event].happens(w); err != nil {
		return err
	}
	if next[event].gates {
		unjudged = nil
	}
	now, s, err := w.stateOf()
	switch {
	case err != nil:
		return err
	case !slices.Contains(want, now):
		return fmt.Errorf("it is half done after %s:\n%s\nnot one of\n%s", next[event].name, now, strings.Join(want, "\n"))
	case late && now != want[on]:
		return fmt.Errorf("%s left the state\n%s\nwhich is on record to be\n%s", next[event].name, now, want[on])
	case now != seen && len(want) < 2 && !late && !isInterrupted:
		return fmt.Errorf("%s changed the state:\n%s\nto\n%s", next[event].name, seen, now)
	}
	if problem := w.shows(s, unjudged); problem != "" {
		return fmt.Errorf("after %s: %s\n%s", next[event].name, problem, w.answer)
	}
	return nil
}
