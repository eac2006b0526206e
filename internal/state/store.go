package state

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/txn"
)

// Store reads and writes what is on record of one list, and makes its tasks show it. Nothing else does.
type Store struct {
	List    tasks.List // Wait limits the wait for the locks
	Session string     // the id of the session, for messages

	// ListName returns the name by which a person names the list in a command; nil is its whole name.
	ListName func() string

	Known *Known // what was read of the list by now; nil is nothing

	// Unreleased is called with the error when a lock cannot be released. The lock expires
	// after ten seconds. It may be nil.
	Unreleased func(error)

	// Forged reports whether the event comes from the agent's shell, and not from the client: then the
	// shell has chosen the environment of checks, and the person sees no answer. It may be nil.
	Forged func() bool

	// Log takes each decision once it is on record, some while the list is locked. It may be nil.
	Log decisions.Log
}

// Name returns the name by which a person names the list in a command.
func (st *Store) Name() string {
	if st.ListName != nil {
		return st.ListName()
	}
	return filepath.Base(st.List.Dir)
}

// Change is what a decision changes in a list.
type Change struct {
	Lines  []Evidence       // to be recorded, oldest first
	Status map[int64]string // of tasks whose status is set here, because no client does that
	First  bool             // another change of the same call follows, and tells what differs in plans then
}

// Applied is what has come of a change that is on record.
type Applied struct {
	Told     string // what the agent has to know: which tasks have come
	PutRight string // what the person has to know: what was put right
	NotYet   error  // why the tasks for the lines of a step are not in the list yet; the next event tries again
	Unset    error  // why the status of a task is not set
}

// Apply records lines, and then makes the list show what follows from them: it never shows what is not on record. dir is the
// list, which is locked; s is its state, and becomes the one after the change.
//
// Errors: that the lines could not be recorded, and so nothing was changed.
func (st *Store) Apply(ctx context.Context, dir *txn.Dir, s *State, x Change) (a Applied, err error) {
	for id := range x.Status {
		if err := safefile.InUse(filepath.Join(dir.Path(), tasks.Form.Name(message.Itoa(id)))); err != nil { // before it is on record
			return a, err
		}
	}
	if err := st.Write(dir, s, x.Lines); err != nil {
		return a, err
	}
	s.add(x.Lines)
	following := st.following(s, x.Lines)
	defer func() { st.logDecisions(s, x.Lines, following) }()
	a.Told, a.NotYet = st.reshape(ctx, dir, s)
	for id, status := range x.Status {
		if a.Unset = st.setStatus(ctx, dir, id, status); a.Unset != nil {
			failed := failedBy(x.Lines, id, a.Unset)
			_ = st.Write(dir, s, failed) // without it the record has that the update was let through
			s.add(failed)
			x.Lines = append(x.Lines, failed...)
			return a, nil
		}
		if c := s.Step(id); c != nil {
			c.Status = status
		}
	}
	s.Fold()
	a.PutRight = st.putRight(ctx, dir, s, x.First)
	return a, nil
}

// failedBy returns the line that says why the update of a step which was let through has not come about. An outcome that leads elsewhere
// counts as it is on record, and the next event shows it.
func failedBy(lines []Evidence, id int64, err error) []Evidence {
	i := slices.IndexFunc(lines, func(e Evidence) bool { return e.Step == id && e.Verdict == Allow })
	if i < 0 || lines[i].Outcome != "" && lines[i].Outcome != machine.Done {
		return nil
	}
	e := lines[i]
	e.By.Who = Fsmtx
	return []Evidence{{Time: e.Time, Step: id, From: e.From, To: e.To, Round: e.Round, Verdict: Deny, By: e.By, Agent: e.Agent,
		Why: "the task file could not be changed: " + err.Error()}}
}

// add folds lines that are not part of the state yet.
func (s *State) add(lines []Evidence) {
	s.Evidence = s.Evidence[:len(s.Evidence):len(s.Evidence)]
	for _, e := range lines {
		if !slices.ContainsFunc(s.Evidence, func(o Evidence) bool {
			return o.Step == e.Step && o.Verdict == e.Verdict && o.Time.Equal(e.Time) && o.To == e.To
		}) {
			s.Evidence = append(s.Evidence, e)
		}
	}
	s.Fold()
}

// Record writes lines, and passes them on to the log.
func (st *Store) Record(dir *txn.Dir, s *State, lines []Evidence) error {
	err := st.Write(dir, s, lines)
	if err == nil {
		st.LogDecisions(s, lines)
	}
	return err
}

// Write adds lines to the evidence, after those that were written without the lock. One decision of a person is on record as a whole.
func (st *Store) Write(dir *txn.Dir, s *State, lines []Evidence) error {
	if err := st.mergeLate(dir, s); err != nil {
		return err
	}
	known, err := st.linesIn(dir, false)
	overrides := len(slices.DeleteFunc(slices.Clone(lines), func(e Evidence) bool { return !e.IsOverride() }))
	stay := st.archived(dir, known.data)
	if overrides <= 1 && (err != nil || len(stay) == len(known.data)) {
		return st.append(dir, lines...)
	}
	text, textErr := linesOf(lines)
	if err = cmp.Or(err, textErr); err != nil {
		return err
	}
	data := append(endOf(stay), text...)
	if err := dir.WriteState(EvidenceFile, data); err != nil {
		return err
	}
	st.wrote(dir, lines, data)
	return nil
}

// WriteLate records lines without the lock, in a file of their own. The next call that has
// the lock adds them to the evidence and removes the file, so none is written to it later.
//
// Errors: *ElsewhereError, and that they cannot be written.
func (st *Store) WriteLate(lines []Evidence) error {
	if len(lines) == 0 {
		return nil
	}
	text, err := linesOf(lines)
	if err != nil {
		return err
	}
	r, err := txn.OpenReader(st.List.Dir, txn.WithFS(st.List.Files()))
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.WriteUnlocked(lateName(NewCallID()), text); err != nil {
		return err
	}
	return st.isHere(r, lines) // a continuation reads after it has written its note: it has read the lines, or the note is here by now
}

// Note adds one line to the evidence, if need be without the lock.
//
// Errors: *ElsewhereError, and that it cannot be written.
func (st *Store) Note(ctx context.Context, s *State, e Evidence) error {
	dir, now, err := st.Open(ctx)
	if err == nil {
		defer st.Release(dir)
		if words := now.Departed.Of(message.Itoa(e.Step)); words != "" {
			return &ElsewhereError{words}
		}
		err = st.Write(dir, now, []Evidence{e})
	}
	if err != nil {
		err = st.WriteLate([]Evidence{e})
	}
	if err == nil {
		st.LogDecisions(s, []Evidence{e})
	}
	return err
}

// Open locks the list and reads its state. A workflow that is found to go on in another list is not among its steps.
func (st *Store) Open(ctx context.Context) (*txn.Dir, *State, error) {
	waiting, cancel := st.List.Waiting(ctx)
	defer cancel()
	dir, err := st.List.Open(waiting)
	if err != nil {
		return nil, nil, err
	}
	s, err := st.resolved(ctx, dir, false)
	if err != nil {
		st.Release(dir)
		return nil, nil, err
	}
	endOrphans(s.Dead)
	return dir, s, nil
}

// Locked calls do while it holds the lock of the list.
func (st *Store) Locked(ctx context.Context, do func(*txn.Dir) error) error {
	waiting, cancel := st.List.Waiting(ctx)
	defer cancel()
	dir, err := st.List.Open(waiting)
	if err != nil {
		return err
	}
	defer st.Release(dir)
	return do(dir)
}

// Release releases the locks of the list.
func (st *Store) Release(dir *txn.Dir) {
	if err := dir.Close(); err != nil && st.Unreleased != nil {
		st.Unreleased(err)
	}
}

// IsForged reports what Forged does, false if that is nil.
func (st *Store) IsForged() bool { return st.Forged != nil && st.Forged() }

// setStatus changes only the status in a task's file.
func (st *Store) setStatus(ctx context.Context, dir *txn.Dir, id int64, status string) error {
	waiting, cancel := st.List.Waiting(context.WithoutCancel(ctx))
	defer cancel()
	return rewriteTasks(waiting, dir, []int64{id}, func(id int64, data []byte) ([]byte, error) {
		changed, err := tasks.Form.SetStatus(data, status)
		if err != nil {
			err = fmt.Errorf("%s: %w", filepath.Join(dir.Path(), tasks.Form.Name(message.Itoa(id))), err)
		}
		return changed, err
	})
}

// NewCallID returns a name that no other call has. It is no secret, and getting the first bytes
// from crypto/rand takes as long as reading a record.
func NewCallID() string {
	return strconv.FormatUint(rand.Uint64(), 36) + strconv.FormatUint(rand.Uint64(), 36)
}
