package show

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Hydration is one change of a list: a hydration, or the undo of one.
type Hydration struct {
	Number  int64         `json:"number"` // identifies it for people; 0 if it has none
	ID      string        `json:"id"`
	Time    time.Time     `json:"time"`
	Skill   string        `json:"skill"`
	Spec    string        `json:"spec"`   // path of the fsm.json
	SHA256  string        `json:"sha256"` // of the fsm.json; empty if unknown
	Session string        `json:"session"`
	Created []ChangedTask `json:"created"` // of an undo: the restored tasks
	Deleted []ChangedTask `json:"deleted"`
	State   ChangeState   `json:"state"`
	By      int64         `json:"by,omitzero"`     // the number of the hydration that replaced or undid it
	Undoes  int64         `json:"undoes,omitzero"` // the number of the hydration that it undid
	// number of the step for whose lines it created tasks, or took them out; 0 for the call of a skill
	Step   int64 `json:"step,omitzero"`
	Parent int64 `json:"parent,omitzero"` // number of the step that its workflow came under; 0 if it came under none

	Lost []string `json:"lost,omitempty"` // the unfinished workflows that it replaced, with how much of them was done

	Reloaded *workflow.Reloaded `json:"reloaded,omitempty"` // nil unless a person has put its fsm.json in the place of another one

	From *workflow.From `json:"from,omitempty"` // where its workflow was before; nil if it began with the hydration
	To   string         `json:"to,omitzero"`    // the list in which its workflow goes on

	doneStep string     // the name of the step Parent, if that is done
	where    state.Went // how its workflow is in To
	spent    bool       // it was undone after its workflow had gone on elsewhere, which that left there
	by       string     // who decided; see tasks.Label
	project  string     // directory of the project; empty if unknown
	went     string     // the list to which it has taken its workflow, which may have come back since; empty if it has not
	record   workflow.Workflow
}

// ChangeState is the present state of a hydration.
type ChangeState string

const (
	inList   ChangeState = "in the list" // at least one of its tasks is in the list
	replaced ChangeState = "replaced"    // a later hydration has deleted its tasks
	undone   ChangeState = "undone"
	undoing  ChangeState = "undoing" // it is the undo of another hydration
	gone     ChangeState = "gone"    // other programs have deleted its tasks
	cleared  ChangeState = "cleared" // all were done, so the client has removed them
	empty    ChangeState = "empty"   // it created no task
	moved    ChangeState = "moved"   // its workflow goes on in another list
)

// ChangedTask is a task that a hydration created or deleted.
type ChangedTask struct {
	ID      string     `json:"id"`
	Subject string     `json:"subject"`
	State   state.Word `json:"state"` // now, or when the task was deleted; empty if unknown
	Gone    bool       `json:"gone"`  // the task is not in the list
}

// Count counts the created tasks.
func (h Hydration) Count() (n state.Count) {
	for _, t := range h.Created {
		n.Add(t.State)
	}
	return n
}

// isBack reports whether it has created tasks again that were gone; see state.Store.BringBack.
func (h Hydration) isBack() bool { return h.Step != 0 && len(h.Created) > 0 && h.record.Version == 0 }

// ReadHistory returns the hydrations of the list in dir that the history keeps, oldest first. It
// skips entries that this version of the program cannot read. It takes no lock and
// creates nothing. Its errors are those of txn.ReadHistory.
func ReadHistory(dir string) ([]Hydration, error) {
	all, _, err := readHistories(storeOf(dir), false)
	return all, err
}

func storeOf(dir string) *state.Store {
	return &state.Store{List: tasks.List{Dir: dir}, Known: new(state.Known)}
}

// readHistories is ReadHistory, and also returns for each hydration that cannot be read why, and what to do. In brief, of the tasks
// only those of the last hydration have a subject and a status: those of the others are not read.
func readHistories(st *state.Store, brief bool) (all []Hydration, unread []error, err error) {
	dir := st.List.Dir
	entries, err := st.History()
	if err != nil {
		return nil, nil, unreadable(dir, err)
	}
	for _, e := range entries {
		if e.Err != nil {
			unread = append(unread, damaged(e))
		}
	}
	entries = slices.DeleteFunc(slices.Clone(entries), func(e txn.Entry) bool { return e.Err != nil })
	now, err := st.Now(context.Background())
	if err != nil {
		now = new(state.State) // what the files say is shown
	}
	r := &reader{dir: dir, entries: entries, undone: tasks.Undone(entries), now: now, files: map[string]ChangedTask{}}
	all = make([]Hydration, len(entries))
	for i := range entries {
		r.brief = brief && i < len(entries)-1
		all[i] = r.hydration(i)
	}
	setStates(now, all, runsOf(st, brief))
	cameBack(all, entries)
	return all, unread, nil
}

// runsOf returns what finds a step of the workflows that are not in the list any more, by its number. In brief it finds none.
func runsOf(st *state.Store, brief bool) func(id int64) (*state.State, *state.Current) {
	read := sync.OnceValue(func() []*state.State {
		all, _ := st.Runs(context.Background()) // what the files say is shown
		undone, _ := st.EveryRun(context.Background())
		return append(all, undone...) // a part that was undone does not change how its workflow is told
	})
	return func(id int64) (*state.State, *state.Current) {
		if brief {
			return nil, nil
		}
		for _, s := range read() {
			if c := s.Step(id); c != nil {
				return s, c
			}
		}
		return nil, nil
	}
}

// setStates gives the tasks the states that are on record, which the list shows after the next event at the latest, or of a task that
// a change has deleted, which it had then; and marks the hydrations whose tasks are gone because all were done: the client removes a
// finished list (fact 8).
func setStates(s *state.State, all []Hydration, run func(id int64) (*state.State, *state.Current)) {
	step := func(t ChangedTask) (*state.State, *state.Current) {
		id, _ := strconv.ParseInt(t.ID, 10, 64)
		if c := s.Step(id); c != nil {
			return s, c
		}
		return run(id)
	}
	open := func(t ChangedTask) bool {
		of, c := step(t)
		return c == nil || of.IsMissing(c)
	}
	set := func(t *ChangedTask) {
		if of, c := step(*t); c != nil {
			t.Subject, t.State = c.Subject, of.Word(c)
		}
	}
	for i, h := range all {
		if c := s.Step(h.Parent); c != nil && h.Undoes == 0 && s.Word(c) == state.IsDone {
			all[i].doneStep = c.Name()
		}
		if h.State == gone && !slices.ContainsFunc(h.Created, open) {
			all[i].State = cleared
		}
		for j := range h.Created {
			set(&h.Created[j])
		}
		for j := range h.Deleted {
			set(&h.Deleted[j])
		}
	}
}

// cameBack makes the calls whose workflows went on elsewhere, and are in the list again, those that are continued by another number.
func cameBack(all []Hydration, entries []txn.Entry) {
	with := map[string]int64{} // the call by which a workflow came that went on by this continuation
	for _, h := range all {
		for _, f := range h.record.Before {
			with[f.ID] = h.Number
		}
	}
	for i, h := range all {
		if h.State != moved {
			continue
		}
		for j, e := range entries {
			l, ok := tasks.Continuation(e.Label)
			out := func(t ChangedTask) bool { return hasFile(e.Deleted, tasks.Form.Name(t.ID)) }
			if ok && l.To != "" && with[l.With] != 0 && (i == j || slices.ContainsFunc(h.Created, out)) {
				all[i].By, all[i].To = with[l.With], ""
			}
		}
	}
}

// Within returns those of the hydrations, as ReadHistory returns them, whose workflows are in the
// list and came under steps of the given one, or of one of these: the newest first.
func (h Hydration) Within(all []Hydration) (inner []Hydration) {
	steps := map[string]bool{}
	for _, t := range h.Created {
		steps[t.ID] = true
	}
	for _, x := range all {
		if x.Number > h.Number && x.State == inList && steps[strconv.FormatInt(x.Parent, 10)] {
			for _, t := range x.Created {
				steps[t.ID] = true
			}
			inner = append(inner, x)
		}
	}
	slices.Reverse(inner)
	return inner
}

type reader struct {
	dir     string
	entries []txn.Entry
	undone  map[string]string // see tasks.Undone
	now     *state.State
	brief   bool                   // tasks are looked for and not read
	files   map[string]ChangedTask // those that were read, by their paths
}

func (r *reader) hydration(i int) Hydration {
	e := r.entries[i]
	h := Hydration{Number: e.Number, ID: e.ID, Time: e.Time, Created: []ChangedTask{}, Deleted: []ChangedTask{}}
	var label tasks.Label
	_ = json.Unmarshal([]byte(e.Label), &label, jsonx.Tolerant) // missing fields stay empty
	h.Skill, h.Spec, h.Session, h.Step, h.To, h.went = label.Command, label.Spec, label.Session, label.Step, label.To, label.To
	w, err := workflow.ParseWorkflow(e.Record)
	if err == nil {
		h.SHA256, h.Parent, h.project, h.Lost, h.From, h.record = w.SHA256, w.Parent, w.Dir, w.Lost, w.From(), w
		h.Reloaded = w.Reloaded
	}
	h.by = cmp.Or(label.By, w.BegunBy, decisions.ByCall(strings.HasPrefix(label.Invocation, "prompt:")))
	for _, f := range e.Created {
		t := r.task(i, f.Name)
		if t.Subject == "" {
			t.Subject = stepSubject(w, t.ID)
		}
		h.Created = append(h.Created, t)
	}
	for _, f := range e.Deleted {
		t, err := r.read(e.Backups, f.Name)
		if errors.Is(err, fs.ErrNotExist) { // it was restored since, and perhaps deleted again
			t = r.task(i, f.Name)
		}
		_, err = os.Lstat(filepath.Join(r.dir, f.Name))
		t.Gone = errors.Is(err, fs.ErrNotExist)
		h.Deleted = append(h.Deleted, t)
	}
	h.State, h.By = r.state(i, h)
	if i := slices.IndexFunc(r.entries, func(e txn.Entry) bool { return h.State == replaced && e.Number == h.By }); i >= 0 {
		if l, ok := tasks.Continuation(r.entries[i].Label); ok {
			h.State, h.By, h.To = moved, 0, l.To
		}
	}
	if to := r.left(i, h); h.State == undone && to != "" {
		h.State, h.By, h.To, h.spent = moved, 0, to, true
	}
	if label.Undo != "" {
		h.Undoes = r.number(label.Undo)
	}
	h.To, h.where = r.follow(h, label.Steps)
	return h
}

// follow returns in which list the workflow of a call is by now that went on in h.To, from which it may have gone on.
func (r *reader) follow(h Hydration, steps []int64) (to string, where state.Went) {
	for _, t := range h.Created {
		steps = append(steps, tasks.Form.Number(tasks.Form.Name(t.ID)))
	}
	if h.To != "" && len(steps) > 0 {
		if went := state.WentOn(r.dir, "", steps[0]); went.Words != "" && went.List != r.dir {
			return went.List, went
		}
	}
	return h.To, where
}

// left returns the list in which the workflow of entry i went on before the entry was undone, so that only what it had replaced came back;
// empty if it had not left.
func (r *reader) left(i int, h Hydration) (to string) {
	for _, e := range r.entries[i+1:] {
		switch l, ok := tasks.Continuation(e.Label); {
		case !deletes(e, r.own(i, h)):
		case ok && l.To != "":
			to = l.To
		default:
			return ""
		}
	}
	return to
}

// number returns the number of the entry with the id, 0 if there is none.
func (r *reader) number(id string) int64 {
	for _, e := range r.entries {
		if e.ID == id {
			return e.Number
		}
	}
	return 0
}

// state returns the state of entry i, and the number of the hydration that replaced or
// undid it.
func (r *reader) state(i int, h Hydration) (_ ChangeState, by int64) {
	if by := r.undone[h.ID]; by != "" {
		return undone, r.number(by)
	}
	if tasks.Undoes(r.entries[i].Label) != "" {
		return undoing, 0
	}
	if h.To != "" {
		return moved, 0
	}
	if len(h.Created) == 0 {
		return empty, 0
	}
	if slices.ContainsFunc(h.Created, func(t ChangedTask) bool { return !t.Gone }) {
		return inList, 0
	}
	own := r.own(i, h)
	for _, later := range r.entries[i+1:] {
		if r.undone[later.ID] == "" && deletes(later, own) {
			return replaced, later.Number
		}
	}
	return gone, 0
}

// own returns the tasks that entry i created for the steps of its workflow: of one that came from another list, what is under these steps
// may be replaced while the workflow goes on.
func (r *reader) own(i int, h Hydration) []txn.EntryFile {
	return slices.DeleteFunc(slices.Clone(r.entries[i].Created), func(f txn.EntryFile) bool {
		return h.From != nil && !slices.ContainsFunc(h.record.Steps, func(s workflow.Step) bool {
			return s.ID == tasks.Form.Number(f.Name)
		})
	})
}

// deletes reports whether a change has taken one of the tasks out of the list, also by a continuation when its file was gone.
func deletes(e txn.Entry, files []txn.EntryFile) bool {
	l, _ := tasks.Continuation(e.Label)
	return slices.ContainsFunc(files, func(f txn.EntryFile) bool {
		return hasFile(e.Deleted, f.Name) || l.To != "" && slices.Contains(l.Steps, tasks.Form.Number(f.Name))
	})
}

func hasFile(files []txn.EntryFile, name string) bool {
	return slices.ContainsFunc(files, func(f txn.EntryFile) bool { return f.Name == name })
}

// task returns a task that entry i created: from the list or, if it is gone, from the
// first backup that a later entry which deleted it has.
func (r *reader) task(i int, name string) ChangedTask {
	t, err := r.read(r.dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		t.Gone = true
		for _, later := range r.entries[i+1:] {
			if !hasFile(later.Deleted, name) {
				continue
			}
			if kept, err := r.read(later.Backups, name); err == nil {
				t.Subject, t.State = kept.Subject, kept.State
				break
			}
		}
	}
	return t
}

// read reads the task in a file of the list, which is in dir. A file that is not a task has only
// an id.
func (r *reader) read(dir, name string) (ChangedTask, error) {
	t := ChangedTask{ID: tasks.Form.ID(name)}
	if file := r.now.Task(t.ID); file != nil && dir == r.dir {
		t.Subject, t.State = file.Subject, wordOf(file.Status)
		return t, nil
	}
	path := filepath.Join(dir, name)
	if _, err := os.Lstat(path); err != nil || r.brief {
		return t, err
	}
	if known, ok := r.files[path]; ok {
		return known, nil
	}
	data, err := safefile.ReadFile(path, vfs.MaxFileBytes, 0)
	if err != nil {
		return t, err
	}
	if file := tasks.Form.Decode(data); file != nil {
		t.Subject, t.State = file.Subject, wordOf(file.Status)
	}
	r.files[path] = t
	return t, nil
}

// wordOf returns the state of a task of which only the file is known.
func wordOf(status string) state.Word {
	switch status {
	case workflow.Completed:
		return state.IsDone
	case workflow.InProgress:
		return state.InProgress
	}
	return state.Open
}

func stepSubject(w workflow.Workflow, id string) string {
	for _, s := range w.Steps {
		if strconv.FormatInt(s.ID, 10) == id {
			return s.Subject
		}
	}
	return ""
}
