package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// A workflow can go on in another list: it ends in the old one and begins in the new one, as it is. Two lists change, and no transaction
// has both, so one list has the last word: the workflow is there once the history of the new list has it. The lock of the old list is held
// from the first step to the last:
//
//   - S of the old list says, synced, that the workflow may go on in the new one, by a continuation with this id: [Moving].
//   - The new list gets copies of the evidence, which count only with the transaction that follows.
//   - It commits the transaction that creates the tasks, with the id in its label. From here the workflow is there.
//   - The old list commits the transaction that takes the tasks out. Nothing brings these back: another continuation does.
//
// If the process dies, the next one that has the lock of the old list asks the history of the new one, and completes what is
// missing: see resolve. It cannot be wrong, because a process that could still commit there would hold this lock.

// Moving is a note of a list that its workflow may be in another one.
type Moving struct {
	ID      string  `json:"id"` // of the continuation
	To      string  `json:"to"` // the directory of the other list
	Command string  `json:"command"`
	Spec    string  `json:"spec"`
	Session string  `json:"session"`       // of this list
	By      string  `json:"by"`            // who continues it; see tasks.Label
	Steps   []int64 `json:"steps"`         // numbers in this list
	Done    bool    `json:"done,omitzero"` // it is there, and its tasks are not here any more: only the session has to be told
}

// Words says where the workflow goes on.
func (m *Moving) Words() string { return wentOn(m.Command, m.To) }

// wentOn says in which list a workflow goes on.
func wentOn(command, to string) string {
	return called(command) + " goes on in the task list " + shortOf(to)
}

// called names the workflow of a skill.
func called(command string) string {
	return "the workflow of " + message.Clip(message.Words(command), message.MaxSubject)
}

// shortOf returns the name of a list, of one that is named by a session's id its beginning.
func shortOf(dir string) string {
	name := filepath.Base(dir)
	if len(name) == len("01234567-0123-0123-0123-0123456789ab") && strings.Count(name, "-") == 4 {
		name = name[:8]
	}
	return message.Words(name)
}

// IsOpen reports whether it is not decided where the workflow is.
func (m *Moving) IsOpen() bool { return m != nil && !m.Done }

// ErrMoving is in the error about a damaged note.
var ErrMoving = message.NewError("it is not known whether the workflow goes on in another list, so its steps are enforced here",
	"remove the file; if fsmtx status --all shows the workflow twice, end one of the two with fsmtx step end")

func readMoving(src Source, list string) (*Moving, error) {
	data, err := src.ReadState(MovingFile)
	if err != nil || len(data) == 0 {
		return nil, err
	}
	m := new(Moving)
	if err := json.Unmarshal(data, m, jsonx.Tolerant); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w; %w", filepath.Join(StateDir(list), MovingFile), jsonx.Explain(data, err), ErrMoving)
	}
	return m, nil
}

// write writes the note, durably.
func (m *Moving) write(dir *txn.Dir) error {
	text, err := json.Marshal(m, jsonx.Tolerant)
	if err != nil {
		return err
	}
	return dir.WriteState(MovingFile, text)
}

// IsElsewhere reports, without a lock, whether the workflow is in the other list by now.
func (m *Moving) IsElsewhere() bool {
	history, err := txn.ReadHistory(m.To)
	there, _ := tasks.Has(history, m.ID)
	return err == nil && there
}

// LeftBehind returns, without a lock, the note of a continuation that was interrupted once the workflow was in the other list: its
// tasks are still in this one. It is nil if there is none.
func (st *Store) LeftBehind() *Moving {
	src, err := txn.OpenReader(st.List.Dir, txn.WithFS(st.List.Files()))
	if err != nil {
		return nil // whatever reads the list reports that
	}
	defer src.Close()
	if m, err := readMoving(src, st.List.Dir); err == nil && m.IsOpen() && m.IsElsewhere() {
		return m
	}
	return nil
}

// isThere reports whether the workflow is in the other list. It takes the lock of that: what an interrupted change has done there is
// decided, and durable, only then.
func (m *Moving) isThere(ctx context.Context, here tasks.List) (there bool, err error) {
	other := &Store{List: tasks.List{Dir: m.To, Wait: here.Wait, FS: here.FS}}
	now, err := txn.StateDir(m.To)
	if err == nil {
		_, err = other.List.Files().Lstat(now)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = other.Locked(ctx, func(dir *txn.Dir) error {
			history, err := dir.History()
			if err == nil {
				there, err = tasks.Has(history, m.ID)
			}
			return err
		})
	}
	return there, err
}

// resolve makes the list, which is locked, have the workflow if and only if the other list does not, and returns which it is.
func (st *Store) resolve(ctx context.Context, dir *txn.Dir, m *Moving) (elsewhere bool, err error) {
	ctx = context.WithoutCancel(ctx)
	history, err := dir.History()
	if err != nil {
		return false, err
	}
	out, err := tasks.Has(history, m.ID) // once they are taken out, the other list need not be asked
	if elsewhere = out; err == nil && !out {
		if elsewhere, err = m.isThere(ctx, st.List); err != nil {
			return false, fmt.Errorf("%s, or stays here; that list cannot be asked: %w", m.Words(), err)
		}
	}
	if err == nil && elsewhere && !out {
		err = st.List.RemoveIn(ctx, dir, tasks.Label{Command: m.Command, Spec: m.Spec, Session: m.Session, With: m.ID, To: m.To,
			Steps: m.Steps, By: m.By})
	}
	switch {
	case err != nil: // the note stays, and the next one tries again
		return elsewhere, err
	case !elsewhere:
		return false, dir.RemoveState(MovingFile)
	}
	m.Done = true
	return true, m.write(dir)
}

// Settle decides where the workflow of the list is, if its note says that it may be elsewhere. Without a note it only looks for the file.
func (st *Store) Settle(ctx context.Context) error {
	note, err := txn.ReadState(st.List.Dir, MovingFile, txn.WithFS(st.List.Files()))
	if err != nil || note == nil {
		return nil // whatever reads the list next reports that S cannot be opened
	}
	dir, _, err := st.Open(ctx)
	if err == nil {
		st.Release(dir)
	}
	return err
}

// Resolve finds out where the workflow of the list is, if its note says that it may be elsewhere, and returns what to tell the
// session, once. Without a note, which is the usual case, it only looks for the file. It returns no error if S cannot be opened: whatever
// reads the list next reports that.
func (st *Store) Resolve(ctx context.Context) (told string, err error) {
	if note, err := txn.ReadState(st.List.Dir, MovingFile, txn.WithFS(st.List.Files())); err != nil || note == nil {
		return "", nil
	}
	err = st.Locked(ctx, func(dir *txn.Dir) error {
		m, err := readMoving(dir, st.List.Dir)
		if err != nil || m == nil {
			return err
		}
		if !m.Done {
			_, err = st.resolve(ctx, dir, m)
		}
		if m.Done && err == nil {
			went, words := st.recorded(dir, false).Departed, m.Words()
			isGone := func(id int64) bool { return went.First[message.Itoa(id)] == words }
			if i := slices.IndexFunc(m.Steps, isGone); i >= 0 { // it has not come back since
				told = went.Of(message.Itoa(m.Steps[i]))
			}
			err = dir.RemoveState(MovingFile)
		}
		return err
	})
	return told, err
}

// resolved is the state of a list that is locked, once it is decided where its workflow is.
func (st *Store) resolved(ctx context.Context, dir *txn.Dir, whole bool) (*State, error) {
	s, err := st.stateIn(ctx, dir, whole)
	if err != nil || !s.Moving.IsOpen() {
		return s, err
	}
	if _, err := st.resolve(ctx, dir, s.Moving); err != nil {
		return nil, err
	}
	return st.stateIn(ctx, dir, whole)
}

// follow makes the steps that are in the list those that a continuation brings or takes out, also those that have no task.
func (r *OnRecord) follow(label string, inList map[string]bool) {
	l, ok := tasks.Continuation(label)
	if !ok {
		return
	}
	if r.left == nil {
		r.Departed.First, r.left = map[string]string{}, map[string]string{}
	}
	for _, id := range l.Steps {
		if task := message.Itoa(id); l.To == "" {
			inList[task] = true
		} else {
			delete(inList, task)
			r.Departed.First[task], r.left[task] = wentOn(l.Command, l.To), l.With
		}
	}
}

// returns says of the steps of a workflow that has come back with other numbers where it is.
func (r *OnRecord) returns(w *workflow.Workflow) {
	for _, f := range w.Before {
		for task, with := range r.left {
			if with == f.ID {
				r.Departed.First[task] = fmt.Sprintf("the workflow of %s is in it again, from #%d on", message.Words(w.Command), w.Steps[0].ID)
			}
		}
	}
}

// hasLeft reports whether a workflow, or the one that it is in, goes on in another list, or has come back with other numbers. What was
// decided about it was copied.
func (r *OnRecord) hasLeft(w *workflow.Workflow) bool {
	return r.left[message.Itoa(r.rootOf(w).Steps[0].ID)] != ""
}

// Departed says where workflows are that were in the list, by the numbers of their steps there.
type Departed struct {
	list  string            // its directory
	First map[string]string // where each went from here
}

// Of returns where the workflow of a step is by now; empty if it has not left.
func (d Departed) Of(task string) string {
	words := d.First[task]
	if words == "" {
		return ""
	}
	return cmp.Or(WentOn(d.list, "", tasks.Form.Number(tasks.Form.Name(task))).Words, words)
}

// Last returns where the workflow is whose steps came last; empty if there is none.
func (d Departed) Last() string {
	last := int64(0)
	for task := range d.First {
		n, _ := strconv.ParseInt(task, 10, 64)
		last = max(last, n)
	}
	return d.Of(message.Itoa(last))
}

// ElsewhereError is returned for evidence of a workflow that goes on in another list, or is just being continued there.
type ElsewhereError struct{ Words string }

func (e *ElsewhereError) Error() string { return e.Words }

// isHere returns an *ElsewhereError if one of the lines is about a workflow that is not in the list any more, or may not be.
func (st *Store) isHere(src Source, lines []Evidence) error {
	m, _ := readMoving(src, "") // the next event says that it cannot be read
	r := st.recorded(src, false)
	for _, e := range lines {
		words := r.Departed.Of(message.Itoa(e.Step))
		if words == "" && m.IsOpen() && slices.Contains(m.Steps, e.Step) {
			words = m.Words() + ", or is being continued there: try again"
		}
		if words != "" {
			return &ElsewhereError{words}
		}
	}
	return nil
}

// Continuing is a workflow of another list that is to go on in this one.
type Continuing struct {
	From    *Store
	Root    int64  // the number of its first step there
	Session string // which goes on with it
	Client  string // see workflow.Workflow.Client
	// Place returns the directory in which its gates look from now on.
	Place  func(dir string) string
	Chosen bool // an agent has chosen it
	By     By
}

// OpenHereError is returned by Continue if a skill would be open twice in the list.
type OpenHereError struct {
	Step *Current // an open step of it that is there already
	List string
}

func (e *OpenHereError) Error() string {
	return fmt.Sprintf("the workflow of %s is open in this list, too: %s", message.Words(e.Step.Workflow.Command), message.Words(e.List))
}

// Clash returns an *OpenHereError if a skill of these steps of another list is open in this one, too, also under a step.
func (s *State) Clash(steps []*Current, list string) error {
	for _, c := range s.Steps {
		same := func(o *Current) bool { return !o.Done() && o.Workflow.Command == c.Workflow.Command }
		if !c.Done() && slices.ContainsFunc(steps, same) {
			return &OpenHereError{c, list}
		}
	}
	return nil
}

// Errors of Continue.
var (
	errNothingOpen = errors.New("has no open step")
	errChecking    = errors.New("a check of one of its steps is running")
)

// Continue makes a workflow go on in this list, and returns it as it is recorded here. It is then done with the other list, or that
// is completed by the next event that looks at it.
func (st *Store) Continue(ctx context.Context, x Continuing) (*workflow.Workflow, error) {
	if err := st.Settle(ctx); err != nil { // it may have to ask the list that is locked from here on
		return nil, err
	}
	waiting, cancel := x.From.List.Waiting(ctx)
	defer cancel()
	dir, err := x.From.List.Open(waiting)
	if err != nil {
		return nil, err
	}
	defer x.From.Release(dir)
	s, err := x.From.resolved(ctx, dir, true)
	if err != nil {
		return nil, err
	}
	moved, err := s.take(x.Root, x.From.recorded(dir, false))
	if err != nil {
		return nil, err
	}
	if _, err := dir.Lock(waiting, moved.files()...); err != nil { // the client changes nothing while it is copied
		return nil, err
	}
	root := moved.records[0]
	m := &Moving{ID: NewCallID(), To: st.List.Dir, Command: root.Command, Spec: root.Spec, Session: root.Session, Steps: moved.numbers(),
		By: x.By.Words()}
	if err := m.write(dir); err != nil {
		return nil, err
	}
	// What was written without the lock before the note is read now; who comes later finds the note.
	var w *workflow.Workflow
	if s, err = x.From.stateIn(ctx, dir, true); err == nil {
		moved, err = s.take(x.Root, x.From.recorded(dir, false))
	}
	if err == nil {
		w, err = st.receive(ctx, moved, m, x)
	}
	if elsewhere, unresolved := x.From.resolve(ctx, dir, m); elsewhere {
		return w, nil
	} else if err == nil {
		err = unresolved
	}
	return nil, err
}

// taken is what goes on elsewhere: a workflow and everything under its steps.
type taken struct {
	*State
	steps   []*Current
	records []*workflow.Workflow // as they are on record, the workflow itself first
	over    map[*workflow.Workflow]time.Time
}

// take returns what goes on elsewhere with the workflow whose first step this is.
func (s *State) take(root int64, r *OnRecord) (*taken, error) {
	first := s.Step(root)
	if first == nil {
		return nil, errors.New(cmp.Or(s.Departed.Of(message.Itoa(root)), fmt.Sprintf("#%d is not in the list any more", root)))
	}
	top := s.Root(first.Workflow)
	s.Revive(top)
	name := "the workflow of " + message.Clip(message.Words(top.Command), message.MaxSubject)
	recordOf := func(id int64) *workflow.Workflow { return r.records[r.known[message.Itoa(id)].Workflow] }
	t, open := &taken{State: s, over: r.out, records: []*workflow.Workflow{recordOf(top.Steps[0].ID)}}, false
	for _, c := range s.Steps {
		if s.Root(c.Workflow) != top {
			continue
		}
		record := recordOf(c.ID)
		switch {
		case c.Unread || record == nil:
			return nil, fmt.Errorf("%s cannot go on elsewhere: the record of %s cannot be read", name, c.Name())
		case slices.ContainsFunc(s.Pending, func(p Pending) bool { return p.Step == c.ID }):
			return nil, fmt.Errorf("%s cannot go on elsewhere now: %w", name, errChecking)
		}
		open = open || !c.Done()
		t.steps = append(t.steps, c)
		if !slices.Contains(t.records, record) {
			t.records = append(t.records, record)
		}
	}
	if !open {
		return nil, fmt.Errorf("%s %w", name, errNothingOpen)
	}
	// What a loop took out of the list was decided about, too.
	byNumber := func(a, b RecordedStep) int { return cmp.Compare(a.ID, b.ID) }
	all := r.rootOf(r.known[message.Itoa(top.Steps[0].ID)].Workflow)
	for _, x := range slices.SortedFunc(maps.Values(r.known), byNumber) {
		if record := r.records[x.Workflow]; !record.Undone && r.rootOf(x.Workflow) == all && !slices.Contains(t.records, record) {
			t.records = append(t.records, record)
		}
	}
	return t, nil
}

func (t *taken) numbers() (ids []int64) {
	for _, c := range t.steps {
		ids = append(ids, c.ID)
	}
	return ids
}

// files returns the names of the tasks.
func (t *taken) files() (names []string) {
	for _, c := range t.steps {
		if !c.Gone() {
			names = append(names, tasks.Form.Name(message.Itoa(c.ID)))
		}
	}
	return names
}

// recorded returns the numbers of the records, also of steps that are not in the list any more.
func (t *taken) recorded() (ids []int64) {
	for _, r := range t.records {
		for _, w := range r.All() {
			for _, s := range w.Steps {
				ids = append(ids, s.ID)
			}
		}
	}
	return ids
}

// receive creates in this list what is taken from another one.
func (st *Store) receive(ctx context.Context, t *taken, m *Moving, x Continuing) (w *workflow.Workflow, err error) {
	dir, s, err := st.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer st.Release(dir)
	if err := s.Clash(t.steps, st.List.Dir); err != nil {
		return nil, err
	}
	err = st.List.CreateIn(ctx, dir, func(base int64) ([]fsmspec.Creation, string, tasks.Label, int64, error) {
		all := t.recorded()
		by := base - (slices.Min(all) - 1)
		if w, err = t.record(by, m, x); err != nil {
			return nil, "", tasks.Label{}, 0, err
		}
		record, err := w.Encode()
		label := tasks.Label{Command: w.Command, Spec: w.Spec, Session: w.Session, With: m.ID, By: x.By.Words()}
		for _, id := range t.numbers() {
			label.Steps = append(label.Steps, id+by)
		}
		var created []fsmspec.Creation
		if err == nil {
			created, err = t.creations(by, w.Records())
		}
		if err == nil {
			err = st.copyEvidence(dir, t.lines(by, m.ID, w))
		}
		return created, record, label, slices.Max(all) + by, err
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// record returns the record of what is taken, with larger numbers.
func (t *taken) record(by int64, m *Moving, x Continuing) (*workflow.Workflow, error) {
	var all []workflow.Workflow
	for _, r := range t.records {
		c, err := r.Copy(by)
		if err != nil {
			return nil, err
		}
		c.Since, c.Before, c.Session, c.Agent, c.Lost, c.Changed = r.Began, nil, x.Session, "", nil, ""
		c.Over = t.over[r]
		c.Kept = nil // lines has what was decided about these
		if dir := x.Place(r.Dir); !IsRemoved(dir) && (dir != r.Dir || c.Inode == 0 || AwayText(r) != "") {
			c.Dir, c.Inode, c.Repo, c.Chosen = dir, Inode(dir), RepositoryOf(dir), x.Chosen
			c.Spec = planIn(dir, r)
		}
		all = append(all, c)
	}
	w, root := &all[0], t.records[0]
	w.Before = append(slices.Clone(root.Before), workflow.From{ID: m.ID, List: x.From.List.Dir, Session: root.Session, Dir: root.Dir,
		Time: Now().UTC(), Root: root.Steps[0].ID, Client: root.Client})
	w.Client, w.Parent, w.Round, w.After, w.Beside = x.Client, 0, 0, nil, all[1:]
	return w, nil
}

// planIn returns the file with the steps of a workflow whose directory is dir from now on: a plan that is there, too, else the same file.
func planIn(dir string, r *workflow.Workflow) string {
	rel, err := filepath.Rel(r.Dir, r.Spec)
	if len(r.Plan) == 0 || err != nil || !filepath.IsLocal(rel) {
		return r.Spec
	}
	if _, err := os.Stat(filepath.Join(dir, rel)); err != nil {
		return r.Spec
	}
	return filepath.Join(dir, rel)
}

// creations returns the tasks of what is taken, as the list has them, with larger numbers.
func (t *taken) creations(by int64, records []*workflow.Workflow) (all []fsmspec.Creation, err error) {
	descriptions := map[int64]string{}
	for _, r := range records {
		for _, u := range r.All() {
			for _, s := range u.Steps {
				descriptions[s.ID] = s.Description
			}
		}
	}
	for _, c := range t.steps {
		if c.Gone() {
			continue
		}
		n := fsmspec.Creation{ID: c.ID + by, Subject: c.ShownSubject(), Description: cmp.Or(descriptions[c.ID+by], c.Description)}
		file := c.File
		if file == nil {
			file = new(tasks.Task)
		}
		n.ActiveForm = file.ActiveForm
		for _, id := range c.blockers(t.State) {
			number, _ := strconv.ParseInt(id, 10, 64)
			n.BlockedBy = append(n.BlockedBy, number+by)
		}
		metadata, metadataErr := c.rightMetadata(file.Metadata)
		n.Metadata = string(metadata)
		if err := cmp.Or(metadataErr, n.Status.UnmarshalText([]byte(cmp.Or(c.shownStatus(), c.Status)))); err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// lines returns the evidence about what is taken, as the other list has it.
func (t *taken) lines(by int64, with string, w *workflow.Workflow) (all []Evidence) {
	recorded := t.recorded()
	more := func(ids []int64) (shifted []int64) {
		for _, id := range ids {
			shifted = append(shifted, id+by)
		}
		return shifted
	}
	for _, e := range slices.Concat(t.read, t.late) {
		switch {
		case slices.Contains(recorded, e.Step):
			e.Step += by
		case e.Verdict == Shown && (e.With == "" || e.With == t.records[0].With): // that is about all workflows of the list
			e.Step = t.steps[0].ID + by
		default:
			continue
		}
		e.Reopens, e.NotNeeded, e.With, e.Moved = more(e.Reopens), more(e.NotNeeded), with, nil
		if e.Changed != 0 {
			e.Changed += by
		}
		all = append(all, e)
	}
	return all
}

// copyEvidence adds lines of another list to the evidence, and syncs them.
func (st *Store) copyEvidence(dir *txn.Dir, all []Evidence) error {
	st.known().lines.file = nil
	for i, e := range all {
		line, err := e.line()
		if err == nil && i < len(all)-1 {
			err = dir.AppendStateLazily(EvidenceFile, line)
		} else if err == nil {
			err = dir.AppendState(EvidenceFile, line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
