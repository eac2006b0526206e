package txn

import (
	"context"
	"errors"
	"io/fs"
	"time"
)

// Outcome is the result of a recovery.
type Outcome string

const (
	Clean      Outcome = "clean"       // there was no interrupted transaction
	RolledBack Outcome = "rolled back" // an interrupted transaction was undone
	Committed  Outcome = "committed"   // a transaction was interrupted after its commit; S was tidied
)

// Report is what a recovery found and did. Names are names in D.
type Report struct {
	Outcome   Outcome
	ID        string     // of the transaction, if there was one
	Time      time.Time  // when the transaction began, by the system clock
	Label     string     // of the transaction, as given in Change
	Restored  []string   // deleted files that the recovery restored
	Removed   []string   // created files that the recovery removed
	Conflicts []Conflict // files that another program has changed since

	// Unreleased is the error of releasing the Locker's locks; see Dir.Close. Only
	// Recover sets it.
	Unreleased error
}

// Conflict is a file of a transaction that another program changed before the transaction
// was rolled back.
type Conflict struct {
	Name    string
	MovedTo string // its path in the quarantine; empty if it was left in D
	Why     string // for people
}

func (c Conflict) String() string {
	text := c.Name + ": " + c.Why
	if c.MovedTo != "" {
		text += "; it is now " + c.MovedTo
	}
	return text
}

// Recover rolls back an interrupted transaction on dir and tidies its state
// directory, as Open does, and then releases its locks. With no state directory Recover
// returns Clean and creates nothing.
//
// Errors: those of Open.
func Recover(ctx context.Context, dir string, opts ...Option) (Report, error) {
	o := newOptions(opts)
	_, s, err := resolve(o.fs, dir)
	if err != nil {
		return Report{}, err
	}
	if _, err := o.fs.Lstat(s); errors.Is(err, fs.ErrNotExist) {
		return Report{Outcome: Clean}, nil
	}
	d, err := Open(ctx, dir, opts...)
	if err != nil {
		return Report{}, err
	}
	r := d.Recovered()
	r.Unreleased = d.Close()
	return r, nil
}

// recover rolls back the transaction of the journal, if there is one, and tidies S.
func (d *Dir) recover(ctx context.Context) (Report, error) {
	r := Report{Outcome: Clean}
	j, err := d.readJournal()
	if err != nil {
		return r, err
	}
	if j != nil {
		r, err = d.rollBack(ctx, j)
	} else if d.dirty || d.pending {
		// The last process may have removed or renamed the journal without syncing S. As long as
		// that is so, a power cut can bring the journal back, and with it the rollback of a
		// transaction of which somebody was told that it is committed.
		err = d.syncDir(d.s)
	}
	if err != nil {
		return r, err
	}
	d.dirty, d.pending = false, false
	if id := d.tidy(); id != "" && r.Outcome == Clean {
		r.Outcome, r.ID = Committed, id
		if e, err := d.entry(id); err == nil {
			r.Time, r.Label = e.Time, e.Label
		}
	}
	return r, nil
}

// rollBack undoes a transaction whose process has died, under the locks of its files.
func (d *Dir) rollBack(ctx context.Context, j *journal) (Report, error) {
	if _, err := d.lock(ctx, namesOf(j.entries())); err != nil {
		return Report{}, err
	}
	defer d.release()
	u := &rollback{Dir: d, j: j, unlinked: func(entry) bool { return true }, dead: true}
	err := u.run()
	return u.report, err
}
