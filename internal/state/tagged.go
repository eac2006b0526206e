package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// ErrUnrecorded is the trouble of a list with tasks that are tagged as steps of a workflow
// and of which nothing is on record.
var ErrUnrecorded = errors.New("tasks are marked as steps of a workflow, but nothing about them is on record")

// Remedy is what to do about the troubles of a list.
const Remedy = "invoke the skill again: that replaces its steps, with a new record"

// WithRemedy returns what to do about a trouble, to be added to it; empty if the trouble says that.
func WithRemedy(trouble error) string {
	if errors.Is(trouble, safefile.ErrOfOther) {
		return ""
	}
	return "; " + cmp.Or(message.Hint(trouble), Remedy)
}

// Tagged is a task whose metadata has the tag of a workflow.
type Tagged struct {
	ID   string
	Tag  string
	File *tasks.Task
}

// tagOf returns the tag in a task's metadata. ok is false if it has none.
func tagOf(t *tasks.Task) (text string, ok bool) {
	value := jsonx.Member(t.Metadata, Tag)
	if value == nil {
		return "", false
	}
	_ = json.Unmarshal(value, &text, jsonx.Tolerant) // a tag that is not text has no name
	return text, true
}

// TaggedTask reads a task, and returns nil unless it has the tag. The error is that it cannot be read.
func TaggedTask(dir, id string) (*Tagged, error) {
	if n, err := strconv.ParseInt(id, 10, 64); err != nil || n < 1 || message.Itoa(n) != id {
		return nil, nil // TaskUpdate finds no other spelling (fact 55, client 2.1.329)
	}
	data, err := vfs.OS{}.ReadFile(filepath.Join(dir, tasks.Form.Name(id)))
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, vfs.ErrNotRegular) || errors.Is(err, vfs.ErrFileTooLarge):
		return nil, nil // no task of the client's
	case err != nil:
		return nil, err
	}
	file := parseTask(data)
	if file == nil {
		return nil, nil
	}
	name, ok := tagOf(file)
	if !ok {
		return nil, nil
	}
	return &Tagged{id, name, file}, nil
}

// TaggedTasks returns the tasks in dir that have the tag and are not steps of s.
func (s *State) TaggedTasks(dir string) ([]Tagged, error) {
	return taggedTasks(dir, func(task string) bool { return s.Find(task) != nil })
}

// taggedTasks returns the tasks in dir that have the tag, without those that are known.
func taggedTasks(dir string, known func(task string) bool) (all []Tagged, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !tasks.Form.IsTask(e.Name()) || known(tasks.Form.ID(e.Name())) {
			continue
		}
		if t, _ := TaggedTask(dir, tasks.Form.ID(e.Name())); t != nil { // that others are known is told anyway
			all = append(all, *t)
		}
	}
	return all, nil
}

// step returns the step as far as the list shows it. ids are the steps of the list: it is
// blocked by no other task.
func (t Tagged) step(ids map[string]bool) workflow.Step {
	n, _ := strconv.ParseInt(t.ID, 10, 64) // taggedTask has checked it
	s := workflow.Step{ID: n, Local: n, Subject: t.File.Subject}
	for _, id := range t.File.BlockedBy {
		if b, err := strconv.ParseInt(id, 10, 64); err == nil && ids[id] {
			s.BlockedBy = append(s.BlockedBy, b)
		}
	}
	return s
}

// AllTroubles returns why the steps of the list are not enforced, or not fully. It takes
// no lock and creates nothing.
//
// Errors: those of Load.
func (st *Store) AllTroubles(ctx context.Context) ([]error, error) {
	s, err := st.Whole(ctx)
	if err != nil {
		return nil, err
	}
	all, err := tasks.Tasks(ctx, st.List.Dir, s.Task)
	return s.AllTroubles(all), err
}

// AllTroubles returns the troubles of the state, and that some of the tasks of the list are tagged and not on record.
func (s *State) AllTroubles(all []tasks.Task) []error {
	var lost []string
	for _, t := range all {
		if _, tagged := tagOf(&t); tagged && s.Find(t.ID) == nil && s.Departed.First[t.ID] == "" {
			lost = append(lost, "#"+t.ID)
		}
	}
	troubles := slices.Clone(s.Troubles)
	if len(lost) > 0 {
		troubles = append(troubles, fmt.Errorf("%w: %s", ErrUnrecorded, message.Sentence(lost)))
	}
	return troubles
}

// Task returns the task of a step, nil if there is no such step, or its file has no task.
func (s *State) Task(id string) *tasks.Task {
	if c := s.Find(id); c != nil {
		return c.File
	}
	return nil
}

// StateDir returns the path of the state directory, for people.
func StateDir(list string) string {
	s, err := txn.StateDir(list)
	if err != nil {
		return "the state directory of " + list
	}
	return s
}

// Tag is the key of a task's metadata that marks a step, with the name of its workflow.
const Tag = fsmspec.Tag

// Hidden returns the key by which a task's metadata hides the task.
func Hidden() string { return tasks.Form.Hides() }

// Find returns the step with that number, or nil.
func (s *State) Find(id string) *Current {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil
	}
	return s.Step(n)
}

// Hides reports whether a change of the metadata hides the task from the list. null and
// false do not.
func Hides(metadata jsontext.Value) bool {
	value := jsonx.Member(metadata, Hidden())
	return value != nil && value.Kind() != 'n' && value.Kind() != 'f'
}
