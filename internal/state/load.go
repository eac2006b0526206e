package state

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

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Names of the state files of a list.
const (
	EvidenceFile = "steps.jsonl"
	LatePrefix   = "late."        // of a file with evidence that was written without the lock
	SessionFile  = "session.json" // see Memory
	MovingFile   = "moving.json"  // see Moving
)

// Source reads the state directory of a list: under its lock, as *txn.Dir does, or without,
// as *txn.Reader does.
type Source interface {
	History() ([]txn.Entry, error)
	HistoryFrom(from func(last txn.Entry) int64) ([]txn.Entry, error)
	ReadState(name string) ([]byte, error)
	ReadStateFrom(name string, offset int64) ([]byte, error)
	StateNames(prefix string) ([]string, error)
}

// Load reads the state of the steps of the list in dir. It takes no lock and creates
// nothing. A list without workflows has no steps. What cannot be read is in State.Troubles.
//
// Errors: that the list itself cannot be read.
func Load(ctx context.Context, dir string) (*State, error) {
	return (&Store{List: tasks.List{Dir: dir}}).Whole(ctx)
}

// LoadNow is Load without the evidence on which nothing depends any more: what it costs does
// not grow with the session.
func LoadNow(ctx context.Context, dir string) (*State, error) {
	return (&Store{List: tasks.List{Dir: dir}}).Now(ctx)
}

// Now is LoadNow for the list. What is known of it is not read again.
func (st *Store) Now(ctx context.Context) (*State, error) { return st.load(ctx, false) }

// Whole is Load for the list. What is known of it is not read again.
func (st *Store) Whole(ctx context.Context) (*State, error) { return st.load(ctx, true) }

func (st *Store) load(ctx context.Context, whole bool) (s *State, err error) {
	for range maxLoads {
		var stale bool
		if s, stale, err = st.loadOnce(ctx, whole); err != nil || !stale {
			break
		}
	}
	return s, err
}

// maxLoads is how often a state is read again because the list was changed meanwhile.
const maxLoads = 5

// loadOnce also reports whether steps seem to be missing because a change of the list was committed
// after its record had been read.
func (st *Store) loadOnce(ctx context.Context, whole bool) (s *State, stale bool, err error) {
	src, r := st.look(false)
	defer src.Close()
	if err := r.addUnread(st.List.Dir); err != nil {
		return nil, false, err
	}
	if len(r.Steps) == 0 {
		return &State{Troubles: r.Troubles(), Changed: r.changed, Departed: r.Departed}, false, nil
	}
	s, err = st.stateOf(ctx, st.List.Dir, r.Steps, src.Source(), whole)
	if err != nil {
		return nil, false, err
	}
	s.Troubles, s.Changed, s.Departed = append(r.Troubles(), s.Troubles...), r.changed, r.Departed
	if m := s.Moving; m.IsOpen() && m.IsElsewhere() {
		s.Steps = slices.DeleteFunc(s.Steps, func(c *Current) bool { return slices.Contains(m.Steps, c.ID) })
		s.Fold()
		s.Departed = Departed{list: st.List.Dir, First: map[string]string{}}
		for _, id := range m.Steps {
			s.Departed.First[message.Itoa(id)] = m.Words()
		}
	}
	if (len(s.Missing()) > 0 || s.lacksCopies()) && src.Reader != nil {
		now := st.recorded(src, false)
		stale = now != r && len(now.Broken) == 0
	}
	return s, stale, nil
}

// unlocked is the state directory of a list, open without its lock, or nothing if that
// cannot be opened.
type unlocked struct{ *txn.Reader }

// Source returns what can be read, nil if the directory could not be opened.
func (u unlocked) Source() Source {
	if u.Reader == nil {
		return nil
	}
	return u.Reader
}

// Close does nothing if the directory could not be opened.
func (u unlocked) Close() {
	if u.Reader != nil {
		u.Reader.Close()
	}
}

// look opens the state directory of the list without its lock, and returns what hydrations have recorded in it; see recorded. The caller
// closes it.
func (st *Store) look(whole bool) (src unlocked, r *OnRecord) {
	var err error
	src.Reader, err = txn.OpenReader(st.List.Dir, txn.WithFS(st.List.Files()))
	switch {
	case err == nil:
		r = st.recorded(src, whole)
	case st.known().record != nil: // it was there a moment ago
		r = st.Known.record
	case errors.Is(err, fs.ErrNotExist):
		r = &OnRecord{}
	default:
		r = &OnRecord{Broken: []broken{{err: err}}}
	}
	return src, r
}

// OnRecord returns what hydrations have recorded. The steps are those that they have put into the list and that no later hydration has
// replaced; also those whose record cannot be read, which are known from the list only.
//
// Errors: that the list cannot be read.
func (st *Store) OnRecord() (*OnRecord, error) { return st.onRecord(false) }

// EverOnRecord is OnRecord with the workflows that are not in the list any more, as far as the history has them.
func (st *Store) EverOnRecord() (*OnRecord, error) { return st.onRecord(true) }

func (st *Store) onRecord(whole bool) (*OnRecord, error) {
	src, r := st.look(whole)
	src.Close()
	return r, r.addUnread(st.List.Dir)
}

// OnRecord is what hydrations have recorded about the tasks of a list.
type OnRecord struct {
	Steps     RecordedSteps
	Workflows []*workflow.Workflow    // the oldest first, also some that are not in the list any more; see EverOnRecord
	known     map[string]RecordedStep // every step of these, in the list or not, by its number
	Broken    []broken
	Unread    bool // some of the steps are known from the list only

	changed []changed

	Departed Departed
	left     map[string]string                         // the ids of the continuations that took them out
	records  map[*workflow.Workflow]*workflow.Workflow // in which each workflow is on record
	replaced map[*workflow.Workflow]bool               // whose tasks a later change has deleted
	out      map[*workflow.Workflow]time.Time          // when that, or an undo, was
}

// broken is a part of the record that cannot be read.
type broken struct {
	err   error
	tasks map[string]bool // ids of the tasks that it is about; nil if that is unknown
}

// RecordedSteps are the steps of the workflows in a list, sorted by number.
type RecordedSteps []RecordedStep

// RecordedStep is a step as hydrations have recorded it.
type RecordedStep struct {
	*workflow.Step // as it is on record; change only a copy
	Workflow       *workflow.Workflow
	Unread         bool            // its record cannot be read: it is known from the list only
	replaced       bool            // a later change has deleted the tasks of its workflow, or an undo would have
	out            time.Time       // when its workflow was taken out of the list; zero if it was not
	kept           string          // the directory that has its task as it was when the last change deleted it; empty if it is in the list
	undoneCalls    map[string]bool // the calls of skills that were undone; see Evidence.Use
}

// Find returns the step whose task has this number, or nil.
func (all RecordedSteps) Find(task string) *RecordedStep {
	for i := range all {
		if message.Itoa(all[i].ID) == task {
			return &all[i]
		}
	}
	return nil
}

// recordOf follows a history from its beginning: a transaction removes the files that it
// deleted and adds those that it created or restored. So an undo that kept a task leaves
// that step in force.
func recordOf(history []txn.Entry) *OnRecord {
	r := &OnRecord{known: map[string]RecordedStep{}, records: map[*workflow.Workflow]*workflow.Workflow{},
		out: map[*workflow.Workflow]time.Time{}}
	inList, kept := map[string]bool{}, map[string]string{}
	replaced, undone := map[*workflow.Workflow]bool{}, tasks.Undone(history)
	for _, e := range history {
		if errors.Is(e.Err, txn.ErrJournalVersion) {
			e.Err = fmt.Errorf("%w: %w", workflow.ErrVersion, e.Err)
		}
		if e.Err != nil {
			r.Broken = append(r.Broken, broken{err: e.Err})
			continue
		}
		for _, f := range e.Deleted {
			delete(inList, tasks.Form.ID(f.Name))
			kept[tasks.Form.ID(f.Name)] = e.Backups
			w := r.known[tasks.Form.ID(f.Name)].Workflow
			replaced[w], r.out[w] = true, e.Time
		}
		for _, f := range e.Created {
			inList[tasks.Form.ID(f.Name)] = true
			delete(kept, tasks.Form.ID(f.Name))
			w := r.known[tasks.Form.ID(f.Name)].Workflow
			delete(replaced, w) // an undo has brought it back
			delete(r.out, w)
		}
		r.follow(e.Label, inList)
		if e.Record == "" {
			continue
		}
		w, err := workflow.ParseWorkflow(e.Record)
		if err != nil {
			r.Broken = append(r.Broken, broken{err, tasksIn(e.Created)})
			continue
		}
		r.returns(&w)
		for _, one := range w.Records() {
			if one.Began = one.Since; one.Began.IsZero() {
				one.Began = e.Time
			}
			one.Undone = undone[e.ID] != ""
			r.Workflows = append(r.Workflows, one)
			for _, u := range one.All() {
				r.records[u] = one
				if !u.Over.IsZero() {
					replaced[u], r.out[u] = true, u.Over
				}
				for i := range u.Steps {
					r.known[message.Itoa(u.Steps[i].ID)] = RecordedStep{Step: &u.Steps[i], Workflow: u}
				}
			}
		}
		if w.Changed != "" || len(w.Lost) > 0 {
			r.changed = append(r.changed, changed{w.Command, w.Lost, w.Changed, e.Number, e.ID})
		}
	}
	if len(r.changed) > 0 {
		r.changed = slices.DeleteFunc(r.changed, func(c changed) bool { return undone[c.ID] != "" })
	}
	undoneCalls := map[string]bool{}
	for _, e := range history {
		if id := jsonx.StringMember([]byte(e.Label), "invocation"); undone[e.ID] != "" && id != "" { // "" is not known
			undoneCalls[id] = true
		}
	}
	r.Steps, r.replaced = make(RecordedSteps, 0, len(inList)), replaced
	for id, step := range r.known {
		step.replaced = r.isReplaced(step.Workflow) || r.records[step.Workflow].Undone
		step.undoneCalls = undoneCalls
		if inList[id] {
			r.Steps = append(r.Steps, step)
		}
		step.replaced, step.kept, step.out = false, kept[id], r.out[step.Workflow]
		r.known[id] = step
	}
	r.sort()
	return r
}

func (r *OnRecord) sort() {
	slices.SortFunc(r.Steps, func(a, b RecordedStep) int { return cmp.Compare(a.ID, b.ID) })
}

func tasksIn(files []txn.EntryFile) map[string]bool {
	ids := map[string]bool{}
	for _, f := range files {
		ids[tasks.Form.ID(f.Name)] = true
	}
	return ids
}

// lost returns why the record of a task is not known, or nil if none was made.
func (r *OnRecord) lost(task string) error {
	for _, b := range r.Broken {
		if b.tasks == nil || b.tasks[task] {
			return b.err
		}
	}
	return nil
}

// addUnread adds the tasks in dir whose tag says that they are steps and whose record cannot
// be read. Their order is known from the list, their gates are not.
func (r *OnRecord) addUnread(dir string) error {
	if len(r.Broken) == 0 || r.Unread {
		return nil
	}
	ids := map[string]bool{}
	for _, s := range r.Steps {
		ids[message.Itoa(s.ID)] = true
	}
	all, err := taggedTasks(dir, func(task string) bool { return ids[task] || r.lost(task) == nil })
	if err != nil {
		if i := slices.IndexFunc(r.Broken, func(b broken) bool { return errors.Is(b.err, safefile.ErrOfOther) }); i >= 0 {
			return r.Broken[i].err // the cause of both, with what mends it
		}
		return err
	}
	for _, t := range all {
		ids[t.ID] = true
	}
	workflows := map[string]*workflow.Workflow{}
	for _, t := range all {
		w := workflows[t.Tag]
		if w == nil {
			w = &workflow.Workflow{Version: workflow.Version, Command: t.Tag}
			workflows[t.Tag] = w
		}
		step := t.step(ids)
		w.Steps = append(w.Steps, workflow.Step{ID: step.ID, Local: step.Local, Status: step.Status}) // the list may show a cycle
		r.Steps, r.Unread = append(r.Steps, RecordedStep{Step: &step, Workflow: w, Unread: true}), true
	}
	for _, w := range workflows {
		if err := w.Prove(); err != nil {
			return err
		}
	}
	r.sort()
	return nil
}

// Troubles returns why steps are known from the list only.
func (r *OnRecord) Troubles() (all []error) {
	if !r.Unread {
		return nil
	}
	for _, b := range r.Broken {
		all = append(all, fmt.Errorf("the record of a workflow cannot be read, so only the order of its steps is enforced: %w", b.err))
	}
	return all
}

// stateIn is the state of the list that is locked.
func (st *Store) stateIn(ctx context.Context, dir *txn.Dir, whole bool) (*State, error) {
	r := st.recorded(dir, false)
	if err := r.addUnread(dir.Path()); err != nil {
		return nil, err
	}
	s, err := st.stateOf(ctx, dir.Path(), r.Steps, dir, whole)
	if err == nil {
		s.Departed = r.Departed
	}
	return s, err
}

// stateOf reads the tasks of steps, and from src, unless that is nil, the state files.
// Unless it is whole, the evidence is that part of it on which decisions depend.
func (st *Store) stateOf(ctx context.Context, dir string, steps RecordedSteps, src Source, whole bool) (*State, error) {
	s, err := st.withEarlier(ctx, dir, steps, src, whole)
	if err != nil {
		return nil, err
	}
	left := slices.DeleteFunc(slices.Clone(s.Steps), func(c *Current) bool { return c.Gone() && s.IsEarlier(c) })
	if len(left) < len(s.Steps) {
		s.Steps = left
		s.Fold()
	}
	return s, nil
}

// withEarlier is stateOf with the steps in whose place others have come.
func (st *Store) withEarlier(ctx context.Context, dir string, steps RecordedSteps, src Source, whole bool) (*State, error) {
	s := &State{Time: Now().UTC(), store: st}
	replaced := map[*workflow.Workflow]bool{}
	for _, r := range steps {
		replaced[r.Workflow] = r.replaced
		if !r.out.IsZero() {
			if s.out == nil {
				s.out = map[*workflow.Workflow]time.Time{}
			}
			s.out[r.Workflow] = r.out
		}
		s.Steps = append(s.Steps, &Current{Step: *r.Step, Workflow: r.Workflow, Unread: r.Unread, undoneCalls: r.undoneCalls})
	}
	if err := st.known().readTasks(dir, s.Steps); err != nil {
		return nil, err
	}
	if err := s.readRest(ctx, dir); err != nil {
		return nil, err
	}
	s.readKept(steps)
	s.dropReplaced(replaced)
	if src != nil {
		st.readEvidence(s, src, whole)
		s.readPending(st, src)
	}
	s.move()
	s.Fold()
	s.dropOver()
	if r, ok := src.(*txn.Reader); ok {
		s.Interrupted = r.IsInterrupted()
	}
	s.addMissing()
	return s, nil
}

// dropReplaced drops the steps of workflows whose tasks a later change has deleted, if nothing of them
// is left. Their other tasks were gone before, so that no change recorded their deletion.
func (s *State) dropReplaced(replaced map[*workflow.Workflow]bool) {
	for _, c := range s.Steps {
		if !c.Gone() {
			delete(replaced, c.Workflow)
		}
	}
	s.Steps = slices.DeleteFunc(s.Steps, func(c *Current) bool { return replaced[c.Workflow] })
}

// dropOver drops workflows of which the list has no task any more, with what was under their steps, if a later
// one has come in their place and they were done: the client removes the tasks of a list once all are completed. A skill
// that is called again begins anew, whatever was done before.
func (s *State) dropOver() {
	outer := slices.DeleteFunc(s.Workflows(), func(w *workflow.Workflow) bool { return w.Parent != 0 }) // in the order in which they came
	if len(outer) < 2 {
		return
	}
	over := map[*workflow.Workflow]bool{}
	for _, w := range outer[:len(outer)-1] {
		over[w] = true
	}
	for _, c := range s.Steps {
		w := s.Root(c.Workflow)
		again := func(o *workflow.Workflow) bool { return o.Command == w.Command }
		if !c.Gone() || s.IsMissing(c) && !slices.ContainsFunc(outer[slices.Index(outer, w)+1:], again) {
			delete(over, w)
		}
	}
	if len(over) > 0 {
		s.Steps = slices.DeleteFunc(s.Steps, func(c *Current) bool { return over[s.Root(c.Workflow)] })
		s.Fold()
	}
}

// readRest reads the tasks that have no status yet, with backoff while the files of some do not
// contain a task: the client does not write atomically (fact 16, client 2.1.197). It waits for all
// of them together, because a power cut can empty many files.
func (s *State) readRest(ctx context.Context, dir string) error {
	var rest []*Current
	for _, c := range s.Steps {
		if c.Status == "" {
			rest = append(rest, c)
		}
	}
	for wait := time.Millisecond; len(rest) > 0; wait *= 2 {
		rest = slices.DeleteFunc(rest, func(c *Current) bool {
			known, err := c.read(dir, wait > longestWrite)
			if err != nil {
				s.Troubles = append(s.Troubles, err)
			}
			return known
		})
		if len(rest) > 0 {
			time.Sleep(wait)
		}
		if err := safefile.Ended(ctx, "reading the tasks in "+dir); err != nil {
			return err
		}
	}
	return nil
}

// read reads the task's file, and reports whether that is all there is to know. Only at the last
// look a file that is not a task counts as a pending one, because the client hides it; so does one
// that cannot be read, whose error is returned.
func (c *Current) read(dir string, last bool) (known bool, err error) {
	data, err := vfs.OS{}.ReadFile(filepath.Join(dir, tasks.Form.Name(message.Itoa(c.ID))))
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && c.parse(data):
		return true, nil
	case last || errors.Is(err, vfs.ErrNotRegular) || errors.Is(err, vfs.ErrFileTooLarge):
		c.Status, c.File = workflow.Pending, nil
		return true, err
	}
	return false, nil
}

// readKept reads the tasks that a change of the list has deleted as they were then. A task that another program has deleted stays gone.
func (s *State) readKept(steps RecordedSteps) {
	for i, r := range steps {
		if c := s.Steps[i]; c.Gone() && r.kept != "" {
			if _, err := c.read(r.kept, true); err != nil {
				s.Troubles = append(s.Troubles, err)
			}
		}
	}
}

// longestWrite is roughly how long the client takes to write a file, at most.
const longestWrite = 30 * time.Millisecond

// parseTask returns nil unless data is a task.
func parseTask(data []byte) *tasks.Task {
	t := tasks.Form.Decode(data)
	if t == nil || !slices.Contains([]string{workflow.Pending, workflow.InProgress, workflow.Completed}, t.Status) {
		return nil
	}
	return t
}

// parse sets the status and the description from the text of a task, and reports whether it
// is one.
func (c *Current) parse(data []byte) bool {
	t := parseTask(data)
	if t == nil {
		return false
	}
	c.show(t)
	return true
}

// show sets the status and the description to those of the task.
func (c *Current) show(t *tasks.Task) {
	c.File, c.Status, c.Description = t, t.Status, cmp.Or(c.Step.Description, t.Description)
}

// readPending reads which updates are being decided.
func (s *State) readPending(st *Store, src Source) {
	m, err := st.MemoryIn(src)
	if err != nil {
		s.Troubles = append(s.Troubles, err)
	}
	s.Pending, s.Dead = byProcess(m.Pending)
}

// Workflows returns the workflows in the list, in the order of their first steps.
func (s *State) Workflows() (all []*workflow.Workflow) {
	for _, c := range s.Steps {
		if !slices.Contains(all, c.Workflow) {
			all = append(all, c.Workflow)
		}
	}
	return all
}

// Commands returns the names of the workflows.
func (s *State) Commands() string {
	var list []string
	for _, w := range s.Workflows() {
		if !slices.Contains(list, w.Command) {
			list = append(list, w.Command)
		}
	}
	return message.Clip(message.Words(strings.Join(list, ", ")), message.MaxSubject)
}
