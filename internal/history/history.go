// Package history tells what was done to a task list: which workflows were put into it,
// what that replaced, what became of their tasks, and what was undone.
package history

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/claude/tasks"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/steps"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Hydration is one change of a list: of a skill's workflow, or the undoing of one.
type Hydration struct {
	Number  int64     `json:"number"` // by which people name it; 0 if it has none
	ID      string    `json:"id"`
	Time    time.Time `json:"time"`
	Skill   string    `json:"skill"`
	Spec    string    `json:"spec"`   // path of the fsm.json
	SHA256  string    `json:"sha256"` // of the fsm.json; empty if unknown
	Session string    `json:"session"`
	Created []Task    `json:"created"` // for an undoing: what came back
	Deleted []Task    `json:"deleted"`
	State   State     `json:"state"`
	By      int64     `json:"by,omitzero"`     // the number of the hydration that replaced or undid it
	Undoes  int64     `json:"undoes,omitzero"` // the number of the hydration that it took back
}

// State is what became of a hydration.
type State string

const (
	InList   State = "in the list" // at least one of its tasks is
	Replaced State = "replaced"
	Undone   State = "undone"
	Undoing  State = "undoing"
	Gone     State = "gone" // its tasks were deleted by other programs
	Empty    State = "empty"
)

// Task is a task that a hydration created or deleted.
type Task struct {
	ID      string `json:"id"`
	Subject string `json:"subject"`
	Status  string `json:"status"` // now, or when it was deleted; empty if unknown
	Gone    bool   `json:"gone"`   // not in the list
}

// Done returns how many of the created tasks are, or were, completed.
func (h Hydration) Done() int {
	n := 0
	for _, t := range h.Created {
		if t.Status == "completed" {
			n++
		}
	}
	return n
}

// Read returns the hydrations of the list in dir that are still kept, oldest first,
// without those of another version of this program. It takes no lock and creates nothing.
// Its errors are those of txn.ReadHistory.
func Read(dir string) ([]Hydration, error) {
	entries, err := txn.ReadHistory(dir)
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e txn.Entry) bool { return e.Err != nil })
	r := &reader{dir: dir, entries: entries, undone: tasks.Undone(entries)}
	all := make([]Hydration, len(entries))
	for i := range entries {
		all[i] = r.hydration(i)
	}
	return all, nil
}

type reader struct {
	dir     string
	entries []txn.Entry
	undone  map[string]string
}

func (r *reader) hydration(i int) Hydration {
	e := r.entries[i]
	h := Hydration{Number: e.Number, ID: e.ID, Time: e.Time, Created: []Task{}, Deleted: []Task{}}
	var label tasks.Label
	_ = json.Unmarshal([]byte(e.Label), &label, jsonx.Tolerant) // what is missing stays empty
	h.Skill, h.Spec, h.Session = label.Command, label.Spec, label.Session
	w, err := steps.ParseWorkflow(e.Record)
	if err == nil {
		h.SHA256 = w.SHA256
	}
	for _, f := range e.Created {
		t := r.task(i, f.Name)
		if t.Subject == "" {
			t.Subject = subjectOf(w, t.ID)
		}
		h.Created = append(h.Created, t)
	}
	for _, f := range e.Deleted {
		t, _ := readTask(filepath.Join(e.Backups, f.Name))
		t.ID = strings.TrimSuffix(f.Name, ".json")
		_, err := os.Lstat(filepath.Join(r.dir, f.Name))
		t.Gone = errors.Is(err, fs.ErrNotExist)
		h.Deleted = append(h.Deleted, t)
	}
	h.State, h.By = r.state(i, h)
	if label.Undo != "" {
		h.Undoes = r.number(label.Undo)
	}
	return h
}

func (r *reader) number(id string) int64 {
	for _, e := range r.entries {
		if e.ID == id {
			return e.Number
		}
	}
	return 0
}

func (r *reader) state(i int, h Hydration) (State, int64) {
	if by := r.undone[h.ID]; by != "" {
		return Undone, r.number(by)
	}
	if tasks.Undoes(r.entries[i].Label) != "" {
		return Undoing, 0
	}
	if len(h.Created) == 0 {
		return Empty, 0
	}
	if slices.ContainsFunc(h.Created, func(t Task) bool { return !t.Gone }) {
		return InList, 0
	}
	for _, later := range r.entries[i+1:] {
		if r.undone[later.ID] == "" && deletes(later, r.entries[i].Created) {
			return Replaced, later.Number
		}
	}
	return Gone, 0
}

func deletes(e txn.Entry, files []txn.EntryFile) bool {
	return slices.ContainsFunc(files, func(f txn.EntryFile) bool { return hasFile(e.Deleted, f.Name) })
}

func hasFile(files []txn.EntryFile, name string) bool {
	return slices.ContainsFunc(files, func(f txn.EntryFile) bool { return f.Name == name })
}

// task returns a task that entry i created: as it is in the list, or as the first later
// entry that deleted it has kept it.
func (r *reader) task(i int, name string) Task {
	t, err := readTask(filepath.Join(r.dir, name))
	if err != nil {
		t.Gone = true
		for _, later := range r.entries[i+1:] {
			if hasFile(later.Deleted, name) {
				kept, _ := readTask(filepath.Join(later.Backups, name))
				t.Subject, t.Status = kept.Subject, kept.Status
				break
			}
		}
	}
	t.ID = strings.TrimSuffix(name, ".json")
	return t
}

func readTask(path string) (t Task, err error) {
	data, err := safefile.ReadFile(path, vfs.MaxFileBytes, 0)
	if err != nil {
		return t, err
	}
	var file struct {
		Subject string `json:"subject"`
		Status  string `json:"status"`
	}
	err = json.Unmarshal(data, &file, jsonx.Tolerant)
	return Task{Subject: file.Subject, Status: file.Status}, err
}

func subjectOf(w steps.Workflow, id string) string {
	for _, s := range w.Steps {
		if strconv.FormatInt(s.ID, 10) == id {
			return s.Subject
		}
	}
	return ""
}
