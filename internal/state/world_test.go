package state

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

type Step = workflow.Step

const (
	pending    = workflow.Pending
	inProgress = workflow.InProgress
	completed  = workflow.Completed
)

func ids(all ...int64) []int64 { return all }

// stepLine is a step of a State, as short as the tables need it.
type stepLine struct {
	id       int64
	status   string
	passed   bool
	after    []int64
	check    bool
	approval string
}

// stateOf returns a state with these steps.
func stateOf(lines ...stepLine) *State {
	w := &workflow.Workflow{Command: "release", Dir: "/project"}
	s := &State{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	for _, l := range lines {
		c := &Current{Workflow: w, Status: l.status, Step: Step{ID: l.id, Subject: string(rune('A' + l.id - 1)),
			BlockedBy: l.after, Approval: l.approval}}
		if l.check {
			c.Check = &fsmspec.Check{Run: "make", Timeout: 10 * time.Minute}
		}
		if l.passed {
			c.Outcome = machine.Done
		}
		s.Steps = append(s.Steps, c)
	}
	return proved(s)
}

// proved gives the workflows of the state machines, with their steps in any order.
func proved(s *State) *State {
	s.Flows = map[*workflow.Workflow]machine.State{}
	for _, w := range s.Workflows() {
		var all []machine.Step
		for _, c := range s.Steps {
			if c.Workflow == w {
				all = append(all, machine.Step{ID: c.ID})
			}
		}
		if w.Machine == nil {
			w.Machine, _ = machine.New(all)
		}
		s.Flows[w] = w.Machine.Start()
	}
	return s
}

// ago adds a decision about a step that was made that long ago.
func ago(s *State, d time.Duration, step int64, to string, v Decision) *State {
	s.Evidence = append(s.Evidence, Evidence{Time: s.Time.Add(-d), Step: step, From: pending, To: to, Verdict: v})
	return s
}

// list is a task list with a workflow.
type list struct {
	*Store
	t testing.TB
}

// hydrated returns a list that holds these steps, numbered from 1. Each is an entry of an fsm.json, which needs no id and no subject here.
func hydrated(t testing.TB, entries ...string) *list {
	t.Helper()
	l := &list{&Store{List: tasks.List{Dir: filepath.Join(t.TempDir(), "tasks", "s1"), Wait: 5 * time.Second}, Session: "s1"}, t}
	for i, text := range entries {
		text = fmt.Sprintf(`{"id": %[1]d, "subject": "Step %[1]d", `, i+1) + text[1:]
		entries[i] = strings.Replace(text, ", }", "}", 1)
	}
	spec, err := fsmspec.Parse([]byte(`{"fsm": 2, "steps": [` + strings.Join(entries, ", ") + `]}`))
	require.NoError(t, err)
	plan, err := spec.Plan("release", fsmspec.Snapshot{}, fsmspec.Policy{})
	require.NoError(t, err)
	w := workflow.Planned(spec, plan)
	w.Command, w.Spec, w.Session, w.Dir = "release", "/skills/release/fsm.json", "s1", t.TempDir()
	change := txn.Change{Label: `{"command":"release"}`}
	for _, c := range plan.Creations() {
		change.Creates = append(change.Creates, tasks.Form.File(c))
	}
	change.Record, err = w.Encode()
	require.NoError(t, err)
	require.NoError(t, l.Locked(t.Context(), func(dir *txn.Dir) error { return dir.Commit(t.Context(), change) }))
	return l
}

// put writes the file of a task as another program does.
func (l *list) put(id int64, text string) {
	l.t.Helper()
	require.NoError(l.t, os.WriteFile(filepath.Join(l.List.Dir, tasks.Form.Name(message.Itoa(id))), []byte(text), 0o644))
}

func (l *list) state() *State {
	l.t.Helper()
	s, err := Load(l.t.Context(), l.List.Dir)
	require.NoError(l.t, err)
	return s
}

// writes records lines, as a decision does.
func (l *list) writes(lines ...Evidence) {
	l.t.Helper()
	require.NoError(l.t, l.Locked(l.t.Context(), func(dir *txn.Dir) error {
		s, err := l.stateIn(l.t.Context(), dir, false)
		require.NoError(l.t, err)
		return l.Record(dir, s, lines)
	}))
}

func (l *list) evidenceFile() string {
	s, err := txn.StateDir(l.List.Dir)
	require.NoError(l.t, err)
	return filepath.Join(s, EvidenceFile)
}

// read reads the state, whole or as an update does.
func (l *list) read(whole bool) *State {
	l.t.Helper()
	l.Known = nil
	s, err := l.load(l.t.Context(), whole)
	require.NoError(l.t, err)
	return s
}
