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

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Names of the state files of a list.
const (
	evidenceFile = "steps.jsonl"
	snapshotFile = "steps.snapshot" // see snapshot
	latePrefix   = "late."          // of a file with evidence that was written without the lock
	pendingFile  = "pending.json"
	grantsFile   = "grants.json"
	stopFile     = "stop.json"
	heardFile    = "heard.json"
	toldFile     = "told.json"
)

// source reads the state directory of a list: under its lock, as *txn.Dir does, or without,
// as *txn.Reader does.
type source interface {
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
	src, r := openRecord(dir, opts...)
	defer src.close()
	recorded := slices.Clone(r.steps)
	if err := r.addUnread(dir); err != nil {
		return nil, false, err
	}
	if len(r.steps) == 0 {
		return &State{Troubles: r.troubles(), changed: r.changed}, false, nil
	}
	s, err = r.steps.state(ctx, dir, src.source(), whole)
	if err != nil {
		return nil, false, err
	}
	s.Troubles, s.changed = append(r.troubles(), s.Troubles...), r.changed
	if len(s.Missing()) > 0 {
		stale = src.Reader != nil && !recorded.same(readRecord(src).steps)
	}
	return s, stale, nil
}

func (all recordedSteps) same(others recordedSteps) bool {
	return slices.EqualFunc(all, others, func(a, b recordedStep) bool { return a.ID == b.ID })
}

// unlocked is the state directory of a list, open without its lock, or nothing if that
// cannot be opened.
type unlocked struct{ *txn.Reader }

func (u unlocked) source() source {
	if u.Reader == nil {
		return nil
	}
	return u.Reader
}

func (u unlocked) close() {
	if u.Reader != nil {
		u.Reader.Close()
	}
}

// openRecord opens the state directory of the list in dir, and reads what hydrations have
// recordedStep in it.
func openRecord(dir string, opts ...txn.Option) (unlocked, *onRecord) {
	r, err := txn.OpenReader(dir, opts...)
	if errors.Is(err, fs.ErrNotExist) {
		return unlocked{}, &onRecord{}
	}
	if err != nil {
		return unlocked{}, &onRecord{broken: []broken{{err: err}}}
	}
	return unlocked{r}, readRecord(r)
}

// onRecord is what hydrations have recorded about the tasks of a list.
type onRecord struct {
	steps  recordedSteps
	known  map[string]recordedStep // every step that is on record, in the list or not, by its number
	broken []broken
	unread bool // some of the steps are known from the list only

	changed []changed
}

// broken is a part of the record that cannot be read.
type broken struct {
	err   error
	tasks map[string]bool // ids of the tasks that it is about; nil if that is unknown
}

// recordedSteps are the steps of the workflows in a list, sorted by number.
type recordedSteps []recordedStep

type recordedStep struct {
	*Step    // as it is on record; whoever changes it makes a copy
	workflow *Workflow
	unread   bool // its record cannot be read: it is known from the list only
	replaced bool // a later change has deleted the tasks of its workflow
}

func (all recordedSteps) find(task string) *recordedStep {
	for i := range all {
		if itoa(all[i].ID) == task {
			return &all[i]
		}
	}
	return nil
}

// liveSteps returns the steps that hydrations have put into the list in dir and that no
// later hydration has replaced. Steps whose record cannot be read are among them; they are
// known from the list only.
func liveSteps(dir string) (recordedSteps, error) {
	src, r := openRecord(dir)
	defer src.close()
	return r.steps, r.addUnread(dir)
}

func readRecord(src source) *onRecord {
	history, err := src.History()
	if err != nil {
		return &onRecord{broken: []broken{{err: err}}}
	}
	return recordOf(history)
}

// recordOf follows a history from its beginning: a transaction removes the files that it
// deleted and adds those that it created or restored. So an undo that kept a task leaves
// that step in force.
func recordOf(history []txn.Entry) *onRecord {
	r := &onRecord{known: map[string]recordedStep{}}
	inList := map[string]bool{}
	replaced := map[*Workflow]bool{}
	for _, e := range history {
		if errors.Is(e.Err, txn.ErrJournalVersion) {
			e.Err = fmt.Errorf("%w: %w", errVersion, e.Err)
		}
		if e.Err != nil {
			r.broken = append(r.broken, broken{err: e.Err})
			continue
		}
		for _, f := range e.Deleted {
			delete(inList, tasks.Form.ID(f.Name))
			replaced[r.known[tasks.Form.ID(f.Name)].workflow] = true
		}
		for _, f := range e.Created {
			inList[tasks.Form.ID(f.Name)] = true
			delete(replaced, r.known[tasks.Form.ID(f.Name)].workflow) // an undo has brought it back
		}
		if e.Record == "" {
			continue
		}
		w, err := ParseWorkflow(e.Record)
		if err != nil {
			r.broken = append(r.broken, broken{err, tasksIn(e.Created)})
			continue
		}
		w.began = e.Time
		for _, u := range w.all() {
			for i := range u.Steps {
				r.known[itoa(u.Steps[i].ID)] = recordedStep{Step: &u.Steps[i], workflow: u}
			}
		}
		if text := both(w.replaced(), w.Changed); text != "" {
			r.changed = append(r.changed, changed{text, e.Number, e.ID})
		}
	}
	if len(r.changed) > 0 {
		undone := tasks.Undone(history)
		r.changed = slices.DeleteFunc(r.changed, func(c changed) bool { return undone[c.id] != "" })
	}
	r.steps = make(recordedSteps, 0, len(inList))
	for id := range inList {
		if step, ok := r.known[id]; ok {
			step.replaced = replaced[step.workflow]
			r.steps = append(r.steps, step)
		}
	}
	r.sort()
	return r
}

func (r *onRecord) sort() {
	slices.SortFunc(r.steps, func(a, b recordedStep) int { return cmp.Compare(a.ID, b.ID) })
}

func tasksIn(files []txn.EntryFile) map[string]bool {
	ids := map[string]bool{}
	for _, f := range files {
		ids[tasks.Form.ID(f.Name)] = true
	}
	return ids
}

// lost returns why the record of a task is not known, or nil if none was made.
func (r *onRecord) lost(task string) error {
	for _, b := range r.broken {
		if b.tasks == nil || b.tasks[task] {
			return b.err
		}
	}
	return nil
}

// addUnread adds the tasks in dir whose tag says that they are steps and whose record cannot
// be read. Their order is known from the list, their gates are not.
func (r *onRecord) addUnread(dir string) error {
	if len(r.broken) == 0 || r.unread {
		return nil
	}
	all, err := taggedTasks(dir)
	if err != nil {
		return err
	}
	ids := map[string]bool{}
	for _, s := range r.steps {
		ids[itoa(s.ID)] = true
	}
	all = slices.DeleteFunc(all, func(t tagged) bool { return ids[t.id] || r.lost(t.id) == nil })
	for _, t := range all {
		ids[t.id] = true
	}
	workflows := map[string]*Workflow{}
	for _, t := range all {
		w := workflows[t.tag]
		if w == nil {
			w = &Workflow{Version: Version, Command: t.tag}
			workflows[t.tag] = w
		}
		step := t.step(ids)
		w.Steps = append(w.Steps, Step{ID: step.ID, Local: step.Local, Status: step.Status}) // in any order: the list may show a cycle
		r.steps, r.unread = append(r.steps, recordedStep{&step, w, true, false}), true
	}
	for _, w := range workflows {
		if err := w.prove(); err != nil {
			return err
		}
	}
	r.sort()
	return nil
}

// troubles returns why steps are known from the list only.
func (r *onRecord) troubles() (all []error) {
	if !r.unread {
		return nil
	}
	for _, b := range r.broken {
		all = append(all, fmt.Errorf("the record of a workflow cannot be read, so only the order of its steps is enforced: %w", b.err))
	}
	return all
}

// afterRecovery returns the steps that the list has, if src is a list that was opened after these
// recordedSteps were read, and whose opening has completed or undone an interrupted change.
func (all recordedSteps) afterRecovery(src source) recordedSteps {
	dir, ok := src.(*txn.Dir)
	if !ok || dir.Recovered().Outcome == txn.Clean {
		return all
	}
	if r := readRecord(dir); len(r.broken) == 0 {
		return r.steps
	}
	return all
}

// state reads the tasks of the steps, and from src, unless that is nil, the state files.
// Unless it is whole, the evidence is that part of it on which decisions depend.
func (all recordedSteps) state(ctx context.Context, dir string, src source, whole bool) (*State, error) {
	s := &State{Time: time.Now().UTC()}
	names := make([]string, 0, len(all))
	replaced := map[*Workflow]bool{}
	for _, r := range all.afterRecovery(src) {
		replaced[r.workflow] = r.replaced
		s.Steps = append(s.Steps, &Current{Step: *r.Step, Workflow: r.workflow, Unread: r.unread})
		names = append(names, tasks.Form.Name(itoa(r.ID)))
	}
	if err := tasks.Form.Each(dir, names, func(i int, data []byte) { s.Steps[i].parse(data) }); err != nil {
		return nil, err
	}
	if err := s.readRest(ctx, dir); err != nil {
		return nil, err
	}
	s.dropReplaced(replaced)
	if src != nil {
		s.readEvidence(src, whole)
		s.readPending(src)
	}
	s.move()
	s.fold()
	if src != nil && s.lacksCopies() { // another call may have expanded a step since the record was read
		if r := readRecord(src); len(r.broken) == 0 && !r.steps.same(all) {
			return r.steps.state(ctx, dir, src, whole)
		}
	}
	s.dropOver()
	if r, ok := src.(*txn.Reader); ok {
		s.interrupted = r.IsInterrupted()
	}
	s.addMissing()
	return s, nil
}

// dropReplaced drops the steps of workflows whose tasks a later change has deleted, if nothing of them
// is left. Their other tasks were gone before, so that no change recorded their deletion.
func (s *State) dropReplaced(replaced map[*Workflow]bool) {
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
	outer := slices.DeleteFunc(s.Workflows(), func(w *Workflow) bool { return w.Parent != 0 }) // in the order in which they came
	if len(outer) < 2 {
		return
	}
	over := map[*Workflow]bool{}
	for _, w := range outer[:len(outer)-1] {
		over[w] = true
	}
	for _, c := range s.Steps {
		w := s.root(c.Workflow)
		again := func(o *Workflow) bool { return o.Command == w.Command }
		if !c.Gone() || s.IsMissing(c) && !slices.ContainsFunc(outer[slices.Index(outer, w)+1:], again) {
			delete(over, w)
		}
	}
	if len(over) > 0 {
		s.Steps = slices.DeleteFunc(s.Steps, func(c *Current) bool { return over[s.root(c.Workflow)] })
		s.fold()
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
	data, err := vfs.OS{}.ReadFile(filepath.Join(dir, tasks.Form.Name(itoa(c.ID))))
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && c.parse(data):
		return true, nil
	case last || errors.Is(err, vfs.ErrNotRegular) || errors.Is(err, vfs.ErrFileTooLarge):
		c.Status, c.file = pending, nil
		return true, err
	}
	return false, nil
}

// longestWrite is roughly how long the client takes to write a file, at most.
const longestWrite = 30 * time.Millisecond

// parseTask returns nil unless data is a task.
func parseTask(data []byte) *tasks.Task {
	t := tasks.Form.Decode(data)
	if t == nil || !slices.Contains([]string{pending, inProgress, completed}, t.Status) {
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
	c.file, c.Status, c.Description = t, t.Status, cmp.Or(c.Step.Description, t.Description)
	return true
}

// readPending reads the records of updates that are being decided.
//
// The file is replaced in place, so a reader without the lock may find a part of it, and
// reads it again.
func (s *State) readPending(src source) {
	if s.noPending {
		return
	}
	for wait := time.Millisecond; ; wait *= 2 {
		data, err := src.ReadState(pendingFile)
		if err != nil {
			s.Troubles = append(s.Troubles, err)
			return
		}
		if s.Pending, s.dead, err = parsePending(data); err == nil || wait > longestWrite {
			return
		}
		time.Sleep(wait)
	}
}

// parsePending returns the records of updates whose processes are alive, and of those whose
// processes have died. No data is no record.
func parsePending(data []byte) (alive, dead []Pending, err error) {
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
		if !slices.Contains(list, w.Command) {
			list = append(list, w.Command)
		}
	}
	return message.Clip(message.Words(strings.Join(list, ", ")), maxSubject)
}
