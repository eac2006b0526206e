package gates

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// list is a task list with a workflow, and its project.
type list struct {
	*Frame
	t       testing.TB
	project string
}

// tb is the part of testing.TB that rapid's tests have too.
type tb interface {
	require.TestingT
	Helper()
}

// hydrated returns a list that holds these steps, numbered from 1, and the manual task 99.
func hydrated(t testing.TB, all ...workflow.Step) *list {
	t.Helper()
	root := t.TempDir()
	l := &list{t: t, project: filepath.Join(root, "project")}
	require.NoError(t, os.Mkdir(l.project, 0o755))
	l.Frame = newFrame(root)
	hydrate(t, l.List.Dir, l.project, all)
	l.put(99, `{"id":"99","subject":"mine","description":"","status":"pending","blocks":[],"blockedBy":[]}`)
	return l
}

// newFrame returns the frame of a list below root.
func newFrame(root string) *Frame {
	return &Frame{
		Store:     state.Store{List: tasks.List{Dir: filepath.Join(root, "tasks", "s1"), Wait: 5 * time.Second}, Session: "s1"},
		Env:       os.Environ(),
		Questions: "AskUserQuestion",
	}
}

// hydrate puts the steps into a list as a hydration does.
func hydrate(t tb, dir, project string, all []workflow.Step) {
	t.Helper()
	whole := slices.ContainsFunc(all, func(s workflow.Step) bool { return len(s.Set) > 0 || s.Within > 0 })
	w := workflow.Workflow{Values: whole, Args: "the args", Vars: map[string]string{"goal": "a goal"}, Command: "release",
		Spec: "/skills/release/fsm.json", Session: "s1", Dir: project}
	change := txn.Change{Label: `{"command":"release"}`}
	before := map[int64][]int64{}
	for i, s := range all {
		before[cmp.Or(s.ID, int64(i)+1)] = s.BlockedBy
	}
	circular := machine.Circular(before)
	for i, s := range all {
		if s.ID == 0 {
			s.ID = int64(i) + 1
		}
		s.Local = int64(i) + 1
		if s.Subject == "" {
			s.Subject = fmt.Sprintf("Step %d", s.ID)
		}
		if s.Status == "" {
			s.Status = workflow.Pending
		}
		change.Creates = append(change.Creates, txn.File{Name: fileName(s.ID), Data: taskText(s), Mode: 0o644})
		s.Circular = circular[s.ID]
		s.BlockedBy = slices.DeleteFunc(slices.Clone(s.BlockedBy), func(id int64) bool { return slices.Contains(s.Circular, id) })
		w.Steps = append(w.Steps, s)
	}
	var err error
	change.Record, err = w.Encode()
	require.NoError(t, err)
	commit(t, dir, change)
}

func commit(t tb, dir string, change txn.Change) {
	t.Helper()
	d, err := tasks.List{Dir: dir}.Open(context.Background())
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, d.Commit(context.Background(), change))
}

func taskText(s workflow.Step) []byte {
	var blockers []string
	for _, id := range s.BlockedBy {
		blockers = append(blockers, message.Itoa(id))
	}
	text, err := json.Marshal(map[string]any{
		"id": message.Itoa(s.ID), "subject": s.Subject, "description": "How to do " + message.Itoa(s.ID) + ".", "status": s.Status,
		"blocks": []string{}, "blockedBy": append([]string{}, blockers...), "metadata": map[string]string{"fsm": "release"},
	})
	if err != nil {
		panic(err)
	}
	return text
}

// put writes the file of a task as another program does.
func (l *list) put(id int64, text string) {
	l.t.Helper()
	require.NoError(l.t, os.WriteFile(filepath.Join(l.List.Dir, fileName(id)), []byte(text), 0o644))
}

// set changes the status of a task as the client does.
func (l *list) set(id int64, status string) {
	l.t.Helper()
	writeStatus(l.t, filepath.Join(l.List.Dir, fileName(id)), status)
}

func writeStatus(t tb, path, status string) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	data, err = withStatus(data, status)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data, 0o644))
}

// ask requests an update, as the hook does.
func (l *list) ask(id int64, status string) Verdict {
	return l.Update(l.t.Context(), Update{Task: message.Itoa(id), Status: status})
}

// do requests an update and, if it is allowed, changes the status as the client does.
func (l *list) do(id int64, status string) Verdict {
	l.t.Helper()
	v := l.ask(id, status)
	if v.Allowed() {
		l.set(id, status)
	}
	return v
}

// allows fails the test unless the update is allowed.
func (l *list) allows(id int64, status string) {
	l.t.Helper()
	v := l.do(id, status)
	require.True(l.t, v.Allowed(), "%+v", v)
	require.Empty(l.t, v.Trouble)
}

// denies fails the test unless the update is denied, and returns the reason.
func (l *list) denies(id int64, status string) string {
	l.t.Helper()
	v := l.do(id, status)
	require.Equal(l.t, state.Deny, v.Decision, "%+v", v)
	require.Equal(l.t, id, v.Step)
	return v.Reason
}

func (l *list) state() *state.State {
	l.t.Helper()
	s, err := state.Load(l.t.Context(), l.List.Dir)
	require.NoError(l.t, err)
	return s
}

// write writes a file of the project.
func (l *list) write(name, text string) {
	l.t.Helper()
	path := filepath.Join(l.project, name)
	require.NoError(l.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(l.t, os.WriteFile(path, []byte(text), 0o644))
}

// The tests read and write the files of the list themselves, in the client's form.
func fileName(id int64) string { return tasks.Form.Name(message.Itoa(id)) }

func withStatus(data []byte, status string) ([]byte, error) {
	return tasks.Form.SetStatus(data, status)
}
