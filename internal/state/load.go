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

	"github.com/go-json-experiment/json"

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
	SnapshotFile = "steps.snapshot" // see snapshot
	LatePrefix   = "late."          // of a file with evidence that was written without the lock
	PendingFile  = "pending.json"
	GrantsFile   = "grants.json"
	StopFile     = "stop.json"
	MovingFile   = "moving.json" // see Moving
	HeardFile    = "heard.json"
	ToldFile     = "told.json"
)

// Source reads the state directory of a list: under its lock, as *txn.Dir does, or without,
// as *txn.Reader does.
type Source interface {
	History() ([]txn.Entry, error)
	ReadState(name string) ([]byte, error)
	ReadStateFrom(name string, offset int64) ([]byte, error)
	StateNames(prefix string) ([]string, error)
}

// Load reads the state of the steps of the list in dir. It takes no lock and creates
// nothing. A list without workflows has no steps. What cannot be read is in State.Troubles.
//
// Errors: that the list itself cannot be read.
func Load(ctx context.Context, dir string) (*State, error) {
	return loadState(ctx, dir, true)
}

// LoadNow is Load without the evidence on which nothing depends any more: what it costs does
// not grow with the session.
func LoadNow(ctx context.Context, dir string, opts ...txn.Option) (*State, error) {
	return loadState(ctx, dir, false, opts...)
}

func loadState(ctx context.Context, dir string, whole bool, opts ...txn.Option) (s *State, err error) {
	for range maxLoads {
		var stale bool
		if s, stale, err = loadOnce(ctx, dir, whole, opts...); err != nil || !stale {
			break
		}
	}
	return s, err
}

// maxLoads is how often a state is read again because the list was changed meanwhile.
const maxLoads = 5

// loadOnce also reports whether steps seem to be missing because a change of the list was committed
// after its record had been read.
func loadOnce(ctx context.Context, dir string, whole bool, opts ...txn.Option) (s *State, stale bool, err error) {
	src, r := OpenRecord(dir, opts...)
	defer src.Close()
	recorded := slices.Clone(r.Steps)
	if err := r.AddUnread(dir); err != nil {
		return nil, false, err
	}
	if len(r.Steps) == 0 {
		return &State{Troubles: r.Troubles(), Changed: r.changed, Departed: r.Departed}, false, nil
	}
	s, err = r.Steps.State(ctx, dir, src.Source(), whole)
	if err != nil {
		return nil, false, err
	}
	s.Troubles, s.Changed, s.Departed = append(r.Troubles(), s.Troubles...), r.changed, r.Departed
	if m := s.Moving; m.IsOpen() && m.IsElsewhere() {
		s.Steps = slices.DeleteFunc(s.Steps, func(c *Current) bool { return slices.Contains(m.Steps, c.ID) })
		s.Fold()
		s.Departed = Departed{}
		for _, id := range m.Steps {
			s.Departed[message.Itoa(id)] = m.Words()
		}
	}
	if len(s.Missing()) > 0 {
		stale = src.Reader != nil && !recorded.same(readRecord(src).Steps)
	}
	return s, stale, nil
}

func (all RecordedSteps) same(others RecordedSteps) bool {
	return slices.EqualFunc(all, others, func(a, b RecordedStep) bool { return a.ID == b.ID })
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

// Close closes the directory, if it is open.
func (u unlocked) Close() {
	if u.Reader != nil {
		u.Reader.Close()
	}
}

// OpenRecord opens the state directory of the list in dir, and reads what hydrations have
// recorded in it.
func OpenRecord(dir string, opts ...txn.Option) (unlocked, *OnRecord) {
	r, err := txn.OpenReader(dir, opts...)
	if errors.Is(err, fs.ErrNotExist) {
		return unlocked{}, &OnRecord{}
	}
	if err != nil {
		return unlocked{}, &OnRecord{Broken: []broken{{err: err}}}
	}
	return unlocked{r}, readRecord(r)
}

// OnRecord is what hydrations have recorded about the tasks of a list.
type OnRecord struct {
	Steps  RecordedSteps
	known  map[string]RecordedStep // every step that is on record, in the list or not, by its number
	Broken []broken
	Unread bool // some of the steps are known from the list only

	changed []changed

	Departed Departed
	left     map[string]string                         // the ids of the continuations that took them out
	records  map[*workflow.Workflow]*workflow.Workflow // in which each workflow is on record
	replaced map[*workflow.Workflow]bool               // whose tasks a later change has deleted
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

// LiveSteps returns the steps that hydrations have put into the list in dir and that no
// later hydration has replaced. Steps whose record cannot be read are among them; they are
// known from the list only.
func LiveSteps(dir string) (RecordedSteps, error) {
	src, r := OpenRecord(dir)
	defer src.Close()
	return r.Steps, r.AddUnread(dir)
}

func readRecord(src Source) *OnRecord {
	history, err := src.History()
	if err != nil {
		return &OnRecord{Broken: []broken{{err: err}}}
	}
	return recordOf(history)
}

// recordOf follows a history from its beginning: a transaction removes the files that it
// deleted and adds those that it created or restored. So an undo that kept a task leaves
// that step in force.
func recordOf(history []txn.Entry) *OnRecord {
	r := &OnRecord{known: map[string]RecordedStep{}, records: map[*workflow.Workflow]*workflow.Workflow{}}
	inList := map[string]bool{}
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
			replaced[r.known[tasks.Form.ID(f.Name)].Workflow] = true
		}
		for _, f := range e.Created {
			inList[tasks.Form.ID(f.Name)] = true
			delete(replaced, r.known[tasks.Form.ID(f.Name)].Workflow) // an undo has brought it back
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
			for _, u := range one.All() {
				r.records[u] = one
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
		r.changed = slices.DeleteFunc(r.changed, func(c changed) bool { return undone[c.id] != "" })
	}
	undoneCalls := map[string]bool{}
	for _, e := range history {
		if undone[e.ID] != "" {
			undoneCalls[jsonx.StringMember([]byte(e.Label), "invocation")] = true
		}
	}
	r.Steps, r.replaced = make(RecordedSteps, 0, len(inList)), replaced
	for id, step := range r.known {
		step.replaced, step.undoneCalls = replaced[step.Workflow] || r.records[step.Workflow].Undone, undoneCalls
		if inList[id] {
			r.Steps = append(r.Steps, step)
		}
		step.replaced = false
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

// AddUnread adds the tasks in dir whose tag says that they are steps and whose record cannot
// be read. Their order is known from the list, their gates are not.
func (r *OnRecord) AddUnread(dir string) error {
	if len(r.Broken) == 0 || r.Unread {
		return nil
	}
	all, err := TaggedTasks(dir)
	if err != nil {
		return err
	}
	ids := map[string]bool{}
	for _, s := range r.Steps {
		ids[message.Itoa(s.ID)] = true
	}
	all = slices.DeleteFunc(all, func(t Tagged) bool { return ids[t.ID] || r.lost(t.ID) == nil })
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
		w.Steps = append(w.Steps, workflow.Step{ID: step.ID, Local: step.Local, Status: step.Status}) // in any order: the list may show a cycle
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

// afterRecovery returns the steps that the list has, if src is a list that was opened after these
// steps were read, and whose opening has completed or undone an interrupted change.
func (all RecordedSteps) afterRecovery(src Source) RecordedSteps {
	dir, ok := src.(*txn.Dir)
	if !ok || dir.Recovered().Outcome == txn.Clean {
		return all
	}
	if r := readRecord(dir); len(r.Broken) == 0 {
		return r.Steps
	}
	return all
}

// State reads the tasks of the steps, and from src, unless that is nil, the state files.
// Unless it is whole, the evidence is that part of it on which decisions depend.
func (all RecordedSteps) State(ctx context.Context, dir string, src Source, whole bool) (*State, error) {
	s, err := all.withEarlier(ctx, dir, src, whole)
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

// withEarlier is State with the steps in whose place others have come.
func (all RecordedSteps) withEarlier(ctx context.Context, dir string, src Source, whole bool) (*State, error) {
	s := &State{Time: time.Now().UTC()}
	names := make([]string, 0, len(all))
	replaced := map[*workflow.Workflow]bool{}
	for _, r := range all.afterRecovery(src) {
		replaced[r.Workflow] = r.replaced
		s.Steps = append(s.Steps, &Current{Step: *r.Step, Workflow: r.Workflow, Unread: r.Unread, undoneCalls: r.undoneCalls})
		names = append(names, tasks.Form.Name(message.Itoa(r.ID)))
	}
	if err := tasks.Form.Each(dir, names, func(i int, data []byte) { s.Steps[i].parse(data) }); err != nil {
		return nil, err
	}
	if err := s.readRest(ctx, dir); err != nil {
		return nil, err
	}
	s.dropReplaced(replaced)
	if src != nil {
		s.readEvidence(dir, src, whole)
		s.readPending(src)
	}
	s.move()
	s.Fold()
	if src != nil && s.lacksCopies() { // another call may have expanded a step since the record was read
		if r := readRecord(src); len(r.Broken) == 0 && !r.Steps.same(all) {
			return r.Steps.withEarlier(ctx, dir, src, whole)
		}
	}
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
	c.File, c.Status, c.Description = t, t.Status, cmp.Or(c.Step.Description, t.Description)
	return true
}

// readPending reads the records of updates that are being decided.
//
// The file is replaced in place, so a reader without the lock may find a part of it, and
// reads it again.
func (s *State) readPending(src Source) {
	if s.noPending {
		return
	}
	for wait := time.Millisecond; ; wait *= 2 {
		data, err := src.ReadState(PendingFile)
		if err != nil {
			s.Troubles = append(s.Troubles, err)
			return
		}
		if s.Pending, s.Dead, err = ParsePending(data); err == nil || wait > longestWrite {
			return
		}
		time.Sleep(wait)
	}
}

// ParsePending returns the records of updates whose processes are alive, and of those whose
// processes have died. No data is no record.
func ParsePending(data []byte) (alive, dead []Pending, err error) {
	var all []Pending
	if data == nil {
		return nil, nil, nil
	}
	if err := json.Unmarshal(data, &all, jsonx.Tolerant); err != nil {
		return nil, nil, err
	}
	for _, p := range all {
		if p.alive() {
			alive = append(alive, p)
		} else {
			dead = append(dead, p)
		}
	}
	return alive, dead, nil
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
