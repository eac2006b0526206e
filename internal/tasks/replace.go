package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/startup"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Planner decides which tasks of snap to delete and which to create. It may be called
// several times, because the client may change the list before all locks are held.
type Planner func(snap fsmspec.Snapshot) (*fsmspec.Plan, error)

// Label is what the history of a list records of a replacement.
type Label struct {
	Invocation string `json:"invocation,omitzero"` // identifies the call of the skill; empty if unknown
	New        bool   `json:"-"`                   // no earlier replacement has the invocation
	Command    string `json:"command"`
	Spec       string `json:"spec"` // path of the fsm.json
	Session    string `json:"session"`
	By         string `json:"by,omitzero"`      // who decided and how, as in "person terminal /dev/pts/7"; empty if Invocation tells
	Undo       string `json:"undo,omitzero"`    // id of the change that this one undid
	Step       int64  `json:"step,omitzero"`    // number of the step whose copies the change created or deleted; 0 for a hydration
	Reloads    bool   `json:"reloads,omitzero"` // it is the workflow that it replaced, with a changed fsm.json
	Under      int64  `json:"under,omitzero"`   // number of the step under which the tasks came; 0 if they came under none

	// Of a workflow that goes on in another list: see Continuation.
	With  string  `json:"with,omitzero"`   // id of the continuation
	To    string  `json:"to,omitzero"`     // the other list, of the change that takes the workflow out
	Steps []int64 `json:"steps,omitempty"` // numbers in this list of the steps that come or go, those without a task among them

	Tells bool  `json:"tells,omitzero"` // whether its record says what the person is told of it
	From  int64 `json:"from,omitzero"`  // number of the oldest change that is needed after this one: see commit

	ID string `json:"-"` // id of the change itself; set by Labels
}

// Outcome is what Replace did.
type Outcome struct {
	Duplicate bool // an earlier replacement had the same invocation; nothing was done
	Deleted   []fsmspec.Deletion
	Created   []fsmspec.Creation
	Restored  []string   // ids of tasks that an earlier replacement had deleted
	Recovered txn.Report // recovery of an interrupted transaction, if there was one

	// Unreleased is why locks could not be released, nil if they were. The next
	// hydration releases the client's locks that are left; the client may have to wait
	// until then.
	Unreleased error
}

// Replace carries out the plan for the list: all of it or nothing. If ctx is cancelled,
// Replace stops waiting or staging, or rolls back a transaction that is being applied.
//
// The plan is made under the list's lock and the locks of the files that it deletes. The
// client takes no lock to delete a task (fact 13, client 2.1.197), which makes the plan
// outdated; then Replace plans again.
//
// Errors: those of the planner and of l.Record, errTimeout, *BusyError, that a lock was lost, and
// those of txn.Open and txn.Dir.Commit except txn.ErrChanged.
func (l List) Replace(ctx context.Context, label Label, plan Planner) (o Outcome, err error) {
	waiting, cancel := l.Waiting(ctx)
	defer cancel()
	dir, err := txn.Open(waiting, l.Dir, append(l.options(), txn.WithHistory(cmp.Or(l.Keep, txn.DefaultHistory)))...)
	if err != nil {
		return o, err
	}
	defer func() { o.Unreleased = dir.Close() }()
	o.Recovered = dir.Recovered()
	return o, l.replaceIn(ctx, waiting, dir, label, plan, &o)
}

// ReplaceIn is Replace for a list whose state directory the caller has opened: see Open. It
// leaves that open, without the client's locks, and does not shorten the history. Its errors
// are those of Replace.
func (l List) ReplaceIn(ctx context.Context, dir *txn.Dir, label Label, plan Planner) error {
	waiting, cancel := l.Waiting(ctx)
	defer cancel()
	return l.replaceIn(ctx, waiting, dir, label, plan, new(Outcome))
}

func (l List) replaceIn(ctx, waiting context.Context, dir *txn.Dir, label Label, plan Planner, o *Outcome) (err error) {
	if o.Duplicate, err = label.isIn(dir); err != nil || o.Duplicate {
		return err
	}
	r := &replacement{dir.Files(), dir, label, plan, l.Record}
	for {
		p, err := r.lockAndPlan(waiting)
		if err != nil {
			return err
		}
		err = r.commit(ctx, p)
		if err == nil {
			o.Deleted, o.Created = p.Deletions(), p.Creations()
			return nil
		}
		if !errors.Is(err, txn.ErrChanged) || errors.Is(err, txn.ErrRecoveryRequired) {
			return err
		}
		if waiting.Err() != nil { // report the timeout, not the changed task
			return fmt.Errorf("%w; the last try: %v", context.Cause(waiting), err)
		}
	}
}

// Idle reports whether the plan for the list is empty. It takes no lock and creates
// nothing. It returns false if the unlocked read is not conclusive: when a file may be
// half written, or when the read may have raced with a replacement. Then the caller
// has to call Replace.
func (l List) Idle(ctx context.Context, plan Planner) (bool, error) {
	snap, torn, err := l.Read(ctx)
	if err != nil || len(torn) > 0 {
		return false, err
	}
	p, err := plan(snap)
	return err == nil && p.Empty() && !l.mayBeReplaced(), nil
}

// mayBeReplaced reports whether a replacement may have been under way while the list
// was read. Reading a directory is not atomic: a reader can miss the new tasks, created
// after it read the names, and the old ones, deleted before it read their files. Every
// replacement creates the state directory before it changes the list.
func (l List) mayBeReplaced() bool {
	if _, err := l.Files().Lstat(l.Dir); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	s, err := txn.StateDir(l.Dir)
	if err != nil {
		return true
	}
	_, err = l.Files().Lstat(s)
	return !errors.Is(err, fs.ErrNotExist)
}

// replacement holds the state of one call of Replace.
type replacement struct {
	files  vfs.FS
	dir    *txn.Dir
	label  Label
	plan   Planner
	record func(*fsmspec.Plan) (Record, error)
}

// fewTasks is the length of a list up to which one processor takes less time than several.
const fewTasks = 50

// lockAndPlan takes the list's lock, reads the list, plans, takes the locks of the
// files to be deleted, and reads those again. It starts over, with the locks held,
// if the locks were released in between or one of the files has changed.
func (r *replacement) lockAndPlan(ctx context.Context) (*fsmspec.Plan, error) {
	if _, err := r.dir.Lock(ctx); err != nil {
		return nil, err
	}
	for {
		snap, err := r.snapshot(ctx)
		if err != nil {
			return nil, err
		}
		plan, err := r.plan(snap)
		if err != nil {
			return nil, err
		}
		if len(snap.Tasks)+len(plan.Creations()) > fewTasks {
			startup.ManyProcessors()
		}
		kept, err := r.dir.Lock(ctx, r.names(plan.Deletions())...)
		if err != nil {
			return nil, err
		}
		if !kept {
			continue
		}
		if same, err := r.unchanged(ctx, snap, plan); same || err != nil {
			return plan, err
		}
	}
}

// snapshot reads the list under its lock. The client may be writing a file that is not
// JSON (fact 16, client 2.1.197), so such a file is read again under its own lock. By
// then the client may be writing another one, hence the loop.
func (r *replacement) snapshot(ctx context.Context) (fsmspec.Snapshot, error) {
	var locked []string
	for {
		snap, torn, err := Form.Read(ctx, r.files, r.dir.Path())
		torn = slices.DeleteFunc(torn, func(name string) bool { return slices.Contains(locked, name) })
		if err != nil || len(torn) == 0 {
			history, _ := r.dir.History() // whoever needs it reports that it cannot be read
			snap.HighWater = max(snap.HighWater, lastCreated(history))
			return snap, err
		}
		if _, err := r.dir.Lock(ctx, torn...); err != nil {
			return snap, err
		}
		locked = append(locked, torn...)
	}
}

// unchanged reports whether the files to be deleted are still those that the plan
// was made from.
func (r *replacement) unchanged(ctx context.Context, snap fsmspec.Snapshot, plan *fsmspec.Plan) (bool, error) {
	deleted := r.names(plan.Deletions())
	if len(deleted) == 0 {
		return true, nil
	}
	now, err := Form.ReadNamed(ctx, r.files, r.dir.Path(), deleted)
	if err != nil || len(now) != len(deleted) {
		return false, err
	}
	for _, task := range now {
		if !slices.Contains(snap.Tasks, task) {
			return false, nil
		}
	}
	return true, nil
}

// commit carries out the plan as one transaction. An empty plan needs none.
func (r *replacement) commit(ctx context.Context, plan *fsmspec.Plan) error {
	if plan.Empty() {
		return nil
	}
	change, label := txn.Change{Deletes: r.names(plan.Deletions())}, r.label
	if r.record != nil {
		record, err := r.record(plan)
		if err != nil {
			return err
		}
		change.Record, label.Under, label.Tells = record.Text, record.Under, record.Tells
	}
	mark, _ := plan.HighWater()
	for _, c := range plan.Creations() {
		change.Creates, mark = append(change.Creates, Form.File(c)), max(mark, c.ID)
	}
	startup.ManyProcessors()      // the files are synced at the same time
	change.Mark = Form.Mark(mark) // if this process dies, the client must not give a number that is in use here
	return commit(ctx, r.dir, label, change)
}

// names returns the names of the files of tasks.
func (r *replacement) names(deletions []fsmspec.Deletion) []string {
	list := make([]string, len(deletions))
	for i, d := range deletions {
		list[i] = Form.Name(d.ID)
	}
	return list
}

func (l Label) text() string {
	text, err := json.Marshal(l, jsontext.AllowInvalidUTF8(true)) // paths need not be UTF-8
	if err != nil {
		return ""
	}
	return string(text)
}

// Labels returns the labels in the history of the list, oldest first. It skips entries
// of other programs, whose label has another form. If no transaction ever touched the
// list, Labels locks and creates nothing.
//
// Errors: errTimeout, and those of txn.Open and txn.Dir.History.
func (l List) Labels(ctx context.Context) ([]Label, error) {
	if !hasStateDir(l.Dir) {
		return nil, nil
	}
	ctx, cancel := l.Waiting(ctx)
	defer cancel()
	dir, err := txn.Open(ctx, l.Dir, l.options()...)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	history, err := dir.History()
	var labels []Label
	for _, e := range history {
		var label Label
		if json.Unmarshal([]byte(e.Label), &label) == nil {
			label.ID = e.ID
			labels = append(labels, label)
		}
	}
	return labels, err
}

// isIn reports whether the history of dir has a replacement with the same
// invocation: the hook may be registered both by a plugin and in the settings.
func (l Label) isIn(dir *txn.Dir) (bool, error) {
	if l.Invocation == "" || l.New {
		return false, nil
	}
	history, err := dir.History()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(history, func(e txn.Entry) bool {
		var earlier Label
		return json.Unmarshal([]byte(e.Label), &earlier) == nil && earlier.Invocation == l.Invocation
	}), nil
}
