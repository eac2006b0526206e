package steps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/claude/tasks"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/visible"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Names of the state files of a list.
const (
	evidenceFile = "steps.jsonl"
	pendingFile  = "pending.json"
	grantsFile   = "grants.json"
	stopFile     = "stop.json"
)

// Load reads the state of the steps of the list in dir. It takes no lock and creates
// nothing. A list without workflows has no steps.
//
// Errors: those of ParseWorkflow, of txn.ReadHistory and of txn.ReadState.
func Load(ctx context.Context, dir string) (*State, error) {
	live, err := liveSteps(dir)
	if err != nil || len(live) == 0 {
		return &State{}, err
	}
	s, err := live.state(ctx, dir, func(name string) ([]byte, error) { return txn.ReadState(dir, name) })
	if err != nil {
		return nil, err
	}
	return s, s.passUngated(0, nil) // the next update records these as seen
}

// steps are the steps of the workflows in a list, as hydrations recorded them.
type steps []recorded

type recorded struct {
	Step
	workflow *Workflow
}

func (all steps) find(task string) *recorded {
	for i := range all {
		if itoa(all[i].ID) == task {
			return &all[i]
		}
	}
	return nil
}

// liveSteps returns the steps that hydrations have put into the list in dir and that no
// later hydration has replaced, sorted by number.
func liveSteps(dir string) (steps, error) {
	history, err := txn.ReadHistory(dir)
	if err != nil {
		return nil, err
	}
	return stepsOf(history)
}

// stepsOf returns the live steps of a history. Transactions that were undone are ignored,
// and so are those that undid them. A transaction of another version of this program is
// an error unless a later one has put steps into the list: what it put there is unknown.
func stepsOf(history []txn.Entry) (steps, error) {
	var live steps
	undone, gone := tasks.Undone(history), map[string]bool{}
	for _, e := range slices.Backward(history) {
		if e.Err != nil && len(live) == 0 {
			return nil, fmt.Errorf("%w: %w", ErrVersion, e.Err)
		}
		if undone[e.ID] != "" || tasks.Undoes(e.Label) != "" {
			continue
		}
		if e.Record != "" {
			found, err := createdBy(e, gone)
			if err != nil {
				return nil, err
			}
			live = append(live, found...)
		}
		for _, f := range e.Deleted {
			gone[f.Name] = true
		}
	}
	slices.SortFunc(live, func(a, b recorded) int { return cmp.Compare(a.ID, b.ID) })
	return live, nil
}

// createdBy returns the steps that a hydration created and that are not gone.
func createdBy(e txn.Entry, gone map[string]bool) (found steps, err error) {
	w, err := ParseWorkflow(e.Record)
	if err != nil {
		return nil, err
	}
	for _, s := range w.Steps {
		name := fileName(s.ID)
		if !gone[name] && slices.ContainsFunc(e.Created, func(f txn.EntryFile) bool { return f.Name == name }) {
			found = append(found, recorded{s, &w})
		}
	}
	return found, nil
}

// fileName returns the name of a task's file.
func fileName(id int64) string { return itoa(id) + ".json" }

// state reads the tasks of the steps and, by read, the state files.
func (all steps) state(ctx context.Context, dir string, read func(name string) ([]byte, error)) (*State, error) {
	s := &State{Time: time.Now().UTC()}
	var names []string
	for _, r := range all {
		s.Steps = append(s.Steps, &Current{Step: r.Step, Workflow: r.workflow})
		names = append(names, fileName(r.ID))
	}
	if err := tasks.Each(dir, names, func(i int, data []byte) { s.Steps[i].parse(data) }); err != nil {
		return nil, err
	}
	for _, c := range s.Steps {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if c.Status != "" {
			continue
		}
		if err := c.read(dir); err != nil {
			return nil, err
		}
	}
	data, err := read(evidenceFile)
	if err != nil {
		return nil, err
	}
	s.Evidence, s.size = parseEvidence(data), len(data)
	s.setPassed()
	if data, err = read(pendingFile); err != nil {
		return nil, err
	}
	s.Pending, s.dead = parsePending(data)
	return s, nil
}

// read reads the task's file, with backoff while it does not contain a task: the client does
// not write atomically (fact 16, client 2.1.197). A file that still is not a task after
// that counts as a pending one: the client hides it, so nobody has completed it.
func (c *Current) read(dir string) error {
	path := filepath.Join(dir, fileName(c.ID))
	for wait := time.Millisecond; ; wait *= 2 {
		data, err := vfs.OS{}.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case errors.Is(err, vfs.ErrNotRegular), errors.Is(err, vfs.ErrFileTooLarge):
			c.Status = pending
			return nil
		case err != nil:
			return err
		case c.parse(data):
			return nil
		case wait > longestWrite:
			c.Status = pending
			return nil
		}
		time.Sleep(wait)
	}
}

// longestWrite is roughly how long the client takes to write a file, at most.
const longestWrite = 30 * time.Millisecond

// parse sets the status and the description from the text of a task, and reports whether it
// is one.
func (c *Current) parse(data []byte) bool {
	var task struct {
		Status      string `json:"status"`
		Description string `json:"description"`
	}
	if json.Unmarshal(data, &task, jsonx.Tolerant) != nil || !slices.Contains([]string{pending, inProgress, completed}, task.Status) {
		return false
	}
	c.Status, c.Description = task.Status, task.Description
	return true
}

// parsePending returns the records of updates whose processes are alive, and of those whose
// processes have died.
func parsePending(data []byte) (alive, dead []Pending) {
	var all []Pending
	if json.Unmarshal(data, &all, jsonx.Tolerant) != nil {
		return nil, nil
	}
	for _, p := range all {
		if p.alive() {
			alive = append(alive, p)
		} else {
			dead = append(dead, p)
		}
	}
	return alive, dead
}

// Workflows returns the workflows in the list, in the order of their first steps.
func (s *State) Workflows() (all []*Workflow) {
	for _, c := range s.Steps {
		if !slices.Contains(all, c.Workflow) {
			all = append(all, c.Workflow)
		}
	}
	return all
}

// commands returns the names of the workflows.
func (s *State) commands() string {
	var list []string
	for _, w := range s.Workflows() {
		list = append(list, w.Command)
	}
	return visible.Clip(visible.Words(strings.Join(list, ", ")), maxSubject)
}
