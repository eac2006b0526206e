// Package recovery finishes what interrupted hydrations left over, one task list
// or all of them, and says what it did.
package recovery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/claude/tasks"
	"github.com/fsmtx/fsmtx/txn"
)

// State is what became of one list.
type State string

const (
	Clean      State = "clean"       // there was nothing to do
	RolledBack State = "rolled back" // an interrupted change was undone
	Committed  State = "committed"   // a finished change had not been tidied up after
	Conflict   State = "conflict"    // undone, and what someone else changed since was moved aside or left
	SetAside   State = "set aside"   // a journal that cannot be trusted was moved out of the way
	Refused    State = "refused"     // nothing was done
)

// Report is about one list. The names of its JSON form are documented and stay.
type Report struct {
	List      string   `json:"list"` // the list's directory
	State     State    `json:"state"`
	Restored  []string `json:"restored"`  // names of files put back
	Removed   []string `json:"removed"`   // names of files taken out
	Conflicts []Moved  `json:"conflicts"` // files that someone else changed since
	Aside     []string `json:"aside"`     // where an untrusted journal and its files are now
	Reason    string   `json:"reason"`    // why it was refused
	Hint      string   `json:"hint"`      // what to do about that
	DryRun    bool     `json:"dry_run"`   // nothing was done: this is what would be
}

// Moved is a file that stood in the way.
type Moved struct {
	Name    string `json:"name"`
	MovedTo string `json:"moved_to"` // empty if it was left where it was
	Why     string `json:"why"`
}

// Pending reports whether something is left to do about the list.
func (r Report) Pending() bool {
	return r.State == Refused || r.DryRun && r.State != Clean
}

// Options are the choices of whoever recovers.
type Options struct {
	DryRun bool // look, change nothing
	Force  bool // set a journal aside that cannot be trusted
}

// List recovers the task list in dir. It waits for locks no longer than wait.
func List(ctx context.Context, dir string, wait time.Duration, o Options) Report {
	list := tasks.List{Dir: dir, Wait: wait}
	ctx, cancel := list.Waiting(ctx)
	defer cancel()
	r := Report{List: dir, DryRun: o.DryRun, Restored: []string{}, Removed: []string{}, Conflicts: []Moved{}, Aside: []string{}}
	found, err := recoverOne(ctx, list, o.DryRun)
	_, untrusted := errors.AsType[*txn.JournalError](err)
	if untrusted && o.Force {
		return r.setAside(ctx, o.DryRun)
	}
	if err != nil {
		return r.refuse(err, untrusted)
	}
	return r.fill(found)
}

func recoverOne(ctx context.Context, list tasks.List, dryRun bool) (txn.Report, error) {
	if dryRun {
		return txn.Inspect(ctx, list.Dir)
	}
	return list.Recover(ctx)
}

func (r Report) fill(found txn.Report) Report {
	r.State = map[txn.Outcome]State{txn.Clean: Clean, txn.RolledBack: RolledBack, txn.Committed: Committed}[found.Outcome]
	r.Restored = append(r.Restored, found.Restored...)
	r.Removed = append(r.Removed, found.Removed...)
	for _, c := range found.Conflicts {
		r.State = Conflict
		r.Conflicts = append(r.Conflicts, Moved{c.Name, c.MovedTo, c.Why})
	}
	return r
}

func (r Report) setAside(ctx context.Context, dryRun bool) Report {
	r.State = SetAside
	if dryRun {
		return r
	}
	moved, err := txn.SetAside(ctx, r.List)
	r.Aside = append(r.Aside, moved...)
	if err != nil {
		return r.refuse(err, false)
	}
	return r
}

func (r Report) refuse(err error, untrusted bool) Report {
	r.State, r.Reason = Refused, err.Error()
	_, busy := errors.AsType[*tasks.BusyError](err)
	switch {
	case errors.Is(err, txn.ErrJournalVersion):
		r.Hint = "run the version of fsmtx that wrote the journal; or look at the list, then set the journal aside with: fsmtx recover --force"
	case untrusted:
		r.Hint = "nothing is done by such a journal; look at the list, then set the journal aside with: fsmtx recover --force"
	case busy, errors.Is(err, txn.ErrLocked):
		r.Hint = "try again when the other program has finished"
	case errors.Is(err, txn.ErrUntrustedDir):
		r.Hint = "fsmtx did not put that there: look at it, move it away, then run fsmtx recover again"
	default:
		r.Hint = "mend that, then run fsmtx recover again"
	}
	return r
}

// All recovers every list below root that a transaction ever touched, each with
// the same bound on its wait.
func All(ctx context.Context, root string, wait time.Duration, o Options) ([]Report, error) {
	dirs, err := tasks.WithStateDir(root)
	if err != nil {
		return nil, err
	}
	reports := []Report{}
	for _, dir := range dirs {
		if ctx.Err() != nil {
			return reports, context.Cause(ctx)
		}
		reports = append(reports, List(ctx, dir, wait, o))
	}
	return reports, nil
}

// Answer is what the hook of SessionStart answers after List, which returned r,
// or after err kept it from calling List.
func Answer(r Report, err error) event.Answer {
	switch {
	case err != nil:
		return event.Failure{Message: "could not look for an interrupted hydration: " + err.Error()}.Answer(event.SessionStart)
	case r.State == Clean, r.State == Committed:
		return event.GoOn(event.SessionStart, "")
	}
	return event.Notice(strings.TrimSpace(r.String() + "\n" + r.Hint))
}

// String says in words what became of the list, in a line or several.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", r.List, r.words())
	part := func(label string, names []string) {
		if len(names) > 0 {
			fmt.Fprintf(&b, "\n  %s: %s", label, strings.Join(names, ", "))
		}
	}
	part("restored", r.Restored)
	part("removed", r.Removed)
	part("moved", r.Aside)
	for _, c := range r.Conflicts {
		fmt.Fprintf(&b, "\n  conflict: %s: %s", c.Name, c.Why)
		if c.MovedTo != "" {
			fmt.Fprintf(&b, "; it is now %s", c.MovedTo)
		}
	}
	return b.String()
}

func (r Report) words() string {
	if r.State == Refused {
		return "refused: " + r.Reason
	}
	words := map[State]string{
		Clean:      "clean",
		RolledBack: "rolled back an interrupted change",
		Committed:  "tidied up after a committed change",
		Conflict:   "rolled back an interrupted change, with conflicts",
		SetAside:   "set an untrusted journal aside",
	}[r.State]
	if r.DryRun && r.State != Clean {
		return "would have " + words
	}
	return words
}
