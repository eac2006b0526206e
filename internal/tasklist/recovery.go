package tasklist

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Wait limits the wait for the locks of one list.
const Wait = 5 * time.Second

// State is the result for one list.
type State string

const (
	Clean      State = "clean"       // nothing to do
	RolledBack State = "rolled back" // an interrupted change was undone
	Committed  State = "committed"   // a committed change was tidied up
	Conflict   State = "conflict"    // undone; files that another program changed since were moved aside or left in place
	SetAside   State = "set aside"   // an untrusted journal was moved to the quarantine
	Damaged    State = "damaged"     // nothing was interrupted, but what is on record about the list's workflow cannot be read or is gone
	Refused    State = "refused"     // nothing was done
)

// Report is the result of recovering one list. Its JSON form is documented output.
type Report struct {
	List      string   `json:"list"` // the list's directory
	State     State    `json:"state"`
	Skill     string   `json:"skill"`     // of the interrupted hydration; empty if there was none, or if unknown
	Time      string   `json:"time"`      // of the interrupted hydration, RFC 3339; empty if there was none
	Restored  []string `json:"restored"`  // names of deleted files that were restored
	Removed   []string `json:"removed"`   // names of created files that were removed
	Conflicts []Moved  `json:"conflicts"` // files that another program changed since
	Aside     []string `json:"aside"`     // paths of an untrusted journal and its files
	Reason    string   `json:"reason"`    // why it was refused, or what is damaged
	Hint      string   `json:"hint"`      // what to do about it
	DryRun    bool     `json:"dry_run"`   // nothing was done; the report is what would be done

	time     time.Time
	outcome  txn.Outcome
	left     *state.Moving     // the workflow that a continuation had left behind; nil if none
	cause    error             // why it was refused
	subjects map[string]string // subjects of restored tasks by file name
}

// Moved is a file in conflict with a rollback.
type Moved struct {
	Name    string `json:"name"`
	MovedTo string `json:"moved_to"` // empty if it was left in place
	Why     string `json:"why"`
}

// Pending reports whether the list still needs recovery.
func (r Report) Pending() bool {
	return r.State == Refused || r.State == Damaged || r.DryRun && r.State != Clean
}

// pendingLimit is how long a reader waits to find out whether a change was interrupted: another program may be changing the
// list, and what else is known is of more use at once.
const pendingLimit = time.Second

// Inspect is txn.Inspect for a reader, who does not wait long.
func Inspect(ctx context.Context, dir string) (txn.Report, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, pendingLimit, fmt.Errorf("gave up waiting after %v", pendingLimit))
	defer cancel()
	return txn.Inspect(ctx, dir)
}

// Interrupted returns an error if a change of the list has to be rolled back or completed first: its tasks are not those that are on
// record.
func Interrupted(ctx context.Context, lookup func(string) (string, bool), dir string) error {
	recovers := shell.Join("fsmtx", "recover", "--list", ShortName(lookup, dir))
	if m := (&state.Store{List: tasks.List{Dir: dir}}).LeftBehind(); m != nil {
		return message.WithHint(errors.New(m.Words()+"; its tasks are still here, because fsmtx continue was interrupted"),
			recovers+" completes it")
	}
	src, err := txn.OpenReader(dir)
	if err != nil {
		return nil // whatever reads the list reports that
	}
	pending := src.IsInterrupted()
	src.Close()
	if !pending {
		return nil
	}
	if r, err := Inspect(ctx, dir); err != nil || r.Outcome != txn.RolledBack {
		return nil
	}
	return message.WithHint(errors.New("a change of the task list was interrupted, so its tasks do not show how far the workflow is"),
		recovers+" rolls it back")
}

// Is reports whether it was refused because of that error.
func (r Report) Is(target error) bool { return errors.Is(r.cause, target) }

type RecoverOptions struct {
	DryRun bool // change nothing
	Force  bool // set an untrusted journal aside

	Known *state.Known // what was read of the list by now; nil is nothing

	Lookup func(string) (string, bool) // os.LookupEnv or a stand-in for it; nil names the list by its whole name
}

// name returns the name of the list in a command.
func (o RecoverOptions) name(dir string) string {
	if o.Lookup == nil {
		return filepath.Base(dir)
	}
	return ShortName(o.Lookup, dir)
}

// Recover recovers the task list in dir. wait limits the wait for its locks.
func Recover(ctx context.Context, dir string, wait time.Duration, o RecoverOptions) Report {
	list := tasks.List{Dir: dir, Wait: wait}
	ctx, cancel := list.Waiting(ctx)
	defer cancel()
	r := Report{List: dir, DryRun: o.DryRun, Restored: []string{}, Removed: []string{},
		Conflicts: []Moved{}, Aside: []string{}}
	found, err := recoverOne(ctx, list, o.DryRun)
	_, untrusted := errors.AsType[*txn.JournalError](err)
	if untrusted && o.Force {
		return r.setAside(ctx, o)
	}
	if err != nil {
		return r.refuse(err, untrusted, o)
	}
	frame := &gates.Frame{Store: state.Store{List: list, Known: o.Known}}
	r.left = frame.LeftBehind()
	if !o.DryRun {
		if err := frame.Settle(ctx); err != nil {
			return r.refuse(err, false, o)
		}
		_, _ = frame.Redo(ctx) // the next event of the session tries again
	}
	return r.fill(found).withSubjects().withTroubles(ctx, &frame.Store)
}

// withTroubles looks whether the steps of a list that needs no recovery are enforced.
func (r Report) withTroubles(ctx context.Context, st *state.Store) Report {
	if r.State != Clean {
		return r
	}
	troubles, err := st.AllTroubles(ctx)
	if err != nil {
		troubles = append(troubles, err)
	}
	for _, trouble := range troubles {
		switch {
		case errors.Is(trouble, state.ErrUnrecorded): // as in the list of an older version
			r.Hint = message.Join(r.Hint, trouble.Error()+"; to have them enforced, "+state.Remedy)
			continue
		case errors.Is(trouble, state.ErrMissing): // another program has deleted their tasks; the record is whole
			r.Hint = message.Join(r.Hint, trouble.Error()+"; to have them back, "+state.Remedy)
			continue
		}
		r.State, r.Reason, r.Hint = Damaged, trouble.Error(), message.Join(r.Hint, cmp.Or(message.Hint(trouble), state.Remedy))
		break
	}
	return r
}

// withSubjects reads the subjects of the restored tasks.
func (r Report) withSubjects() Report {
	r.subjects = map[string]string{}
	for _, name := range r.Restored {
		data, err := safefile.ReadFile(filepath.Join(r.List, name), vfs.MaxFileBytes, 0)
		if err != nil {
			continue
		}
		if t := tasks.Form.Decode(data); t != nil {
			r.subjects[name] = strings.Join(strings.Fields(t.Subject), " ")
		}
	}
	return r
}

func recoverOne(ctx context.Context, list tasks.List, dryRun bool) (txn.Report, error) {
	if dryRun {
		return txn.Inspect(ctx, list.Dir)
	}
	return list.Recover(ctx)
}

func (r Report) fill(found txn.Report) Report {
	r.State = map[txn.Outcome]State{txn.Clean: Clean, txn.RolledBack: RolledBack, txn.Committed: Committed}[found.Outcome]
	if !found.Time.IsZero() {
		var label tasks.Label
		_ = json.Unmarshal([]byte(found.Label), &label, jsonx.Tolerant) // a label is only for display
		r.Skill, r.Time, r.time = label.Command, found.Time.Format(time.RFC3339), found.Time
	}
	r.Restored = append(r.Restored, found.Restored...)
	r.Removed = append(r.Removed, found.Removed...)
	r.outcome = found.Outcome
	if found.Unreleased != nil {
		r.Hint = fmt.Sprintf("a lock could not be released: %v; it becomes free in ten seconds", found.Unreleased)
	}
	if r.left != nil { // its tasks are taken out, whatever had come of that before
		r.State, r.Skill, r.outcome, r.Restored, r.Removed = Committed, r.left.Command, txn.Committed, []string{}, []string{}
	}
	for _, c := range found.Conflicts {
		r.State = Conflict
		r.Conflicts = append(r.Conflicts, Moved{c.Name, c.MovedTo, c.Why})
	}
	return r
}

func (r Report) setAside(ctx context.Context, o RecoverOptions) Report {
	r.State = SetAside
	if o.DryRun {
		return r
	}
	moved, err := txn.SetAside(ctx, r.List)
	r.Aside = append(r.Aside, moved...)
	if err != nil {
		return r.refuse(err, false, o)
	}
	return r
}

func (r Report) refuse(err error, untrusted bool, o RecoverOptions) Report {
	r.State, r.Reason, r.cause, r.left = Refused, err.Error(), err, nil
	again := shell.Join("fsmtx", "recover", "--list", o.name(r.List))
	busy, isBusy := errors.AsType[*tasks.BusyError](err)
	switch {
	case isBusy && busy.Abandoned(), errors.Is(err, safefile.ErrOfOther): // the reason contains the remedy
	case errors.Is(err, txn.ErrJournalVersion):
		r.Hint = "run the version of fsmtx that wrote the journal; or a person has to inspect the list, then run " + again + " --force in a " +
			"terminal outside the client"
	case untrusted:
		r.Hint = "the journal is not trusted and was not applied; a person has to inspect the list, then run " + again + " --force in a " +
			"terminal outside the client"
	case isBusy, errors.Is(err, txn.ErrLocked):
		r.Hint = "try again when the other program has finished"
	case errors.Is(err, txn.ErrUntrustedDir):
		r.Hint = "fsmtx did not create that: inspect it, move it away, then run " + again
	default:
		r.Hint = "fix the cause, then run " + again
	}
	return r
}

// RecoverAll recovers the lists in these directories. wait limits the wait for the locks of each
// list.
func RecoverAll(ctx context.Context, dirs []string, wait time.Duration, o RecoverOptions) ([]Report, error) {
	reports := []Report{}
	for _, dir := range dirs {
		if ctx.Err() != nil {
			return reports, context.Cause(ctx)
		}
		reports = append(reports, Recover(ctx, dir, wait, o))
	}
	return reports, nil
}

// Answer returns the answer of the SessionStart hook. err, if not nil, is the reason why
// there is no report.
func Answer(r Report, err error) client.Answer {
	switch {
	case err != nil:
		return client.Failure{Message: "cannot look for an interrupted call: " + message.Error(err)}.Answer(client.SessionStart)
	case r.State == Clean, r.State == Committed:
		return client.GoOn(client.SessionStart, "")
	}
	return client.Notice(message.ForPerson(strings.TrimSpace(r.String() + "\n" + message.Line(r.Hint))))
}

// String returns the report for people, in one or several lines.
func (r Report) String() string {
	var b strings.Builder
	message.Fprintf(&b, "%s: %s", r.List, r.words())
	restored, removed := "back in the list", "removed again"
	if r.DryRun {
		restored, removed = "would be back in the list", "would be removed again"
	}
	part := func(label string, items []string) {
		if len(items) > 0 {
			message.Fprintf(&b, "\n  %s: %s", label, strings.Join(items, ", "))
		}
	}
	part(restored, r.tasks(r.Restored))
	part(removed, r.tasks(r.Removed))
	part("moved", r.Aside)
	for _, c := range r.Conflicts {
		message.Fprintf(&b, "\n  conflict: %s: %s", c.Name, c.Why)
		if c.MovedTo != "" {
			message.Fprintf(&b, "; moved to %s", c.MovedTo)
		}
	}
	if r.outcome == txn.RolledBack && !r.DryRun {
		b.WriteString("\n  to put the workflow into the list, invoke the skill again")
	}
	return b.String()
}

// tasks returns the numbers of task files, each with the task's subject if it is known.
func (r Report) tasks(names []string) []string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = strings.TrimSpace("#" + tasks.Form.ID(name) + " " + r.subjects[name])
	}
	return list
}

// words returns the state as a phrase for people.
func (r Report) words() string {
	hydration := "an interrupted call"
	if !r.time.IsZero() {
		hydration = "the interrupted call"
		if r.Skill != "" {
			hydration += fmt.Sprintf(" of %q", r.Skill)
		}
		hydration += " of " + r.time.Local().Format("2006-01-02 15:04:05")
	}
	did, would := "", ""
	switch {
	case r.left != nil && r.DryRun:
		return "would take out the tasks of a continuation that was interrupted: " + r.left.Words()
	case r.left != nil:
		return "took out the tasks of a continuation that was interrupted: " + r.left.Words()
	}
	switch r.State {
	case Clean:
		return "clean"
	case Refused:
		return "refused: " + r.Reason
	case Damaged:
		return "nothing was interrupted, but " + r.Reason
	case RolledBack:
		did, would = "rolled back "+hydration, "would roll back "+hydration
	case Committed:
		did, would = "tidied up after "+hydration+", whose tasks are in the list",
			"would tidy up after "+hydration+", whose tasks are in the list"
	case Conflict:
		did, would = "rolled back "+hydration+", with conflicts", "would roll back "+hydration+", with conflicts"
	case SetAside:
		did, would = "set an untrusted journal aside", "would set an untrusted journal aside"
	}
	if r.DryRun {
		return would
	}
	return did
}
