package show

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const undoLong = `Undo undoes a hydration, the change that put the steps of a skill into the list, as one
transaction: it restores the task files that the hydration deleted, and removes the tasks
that it created, if they are unchanged. It keeps and lists tasks that were changed since.
N is a number from "fsmtx log"; without N it is the last hydration that was not undone. Undo
can itself be undone, which repeats the hydration.

If other skills have put their steps under steps of this hydration, these are undone first,
each as a transaction of its own.

SESSION is found as by "fsmtx status".

--force also removes created tasks that were changed since, and undoes as much as
possible of a hydration that was replaced. With N it also removes what an earlier undo of that
hydration has kept. No task is lost: undoing the undo restores the removed tasks as they were.

If an agent runs the command, only --dry-run works without the person's yes; the hook
"fsmtx step" asks.

--json prints an object with list, hydration (number, id and skill), removed, restored,
gone (arrays of names of task files), kept (name, subject, why), dry_run, and first (array
of such objects: the hydrations under its steps, which are undone first). The exit code is 0
if the hydration was undone, or with --dry-run would be, and 1 otherwise.`

type undoFlags struct{ dryRun, force, json bool }

func NewUndo(s terminal.Streams) *cobra.Command {
	var f undoFlags
	var named string
	c := &cobra.Command{
		Use:               "undo [SESSION] [N]",
		Short:             "Take the tasks of a skill's call out of the list again, and put the old ones back",
		Long:              undoLong,
		Example:           command.Example("fsmtx undo --dry-run", "fsmtx undo", "fsmtx undo 0b54e1c2-7c1e-4a53-9d1a-2f0f4a1d5f10 3 --force"),
		ValidArgsFunction: completeSessions(s),
		Args:              cobra.MaximumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if slices.Contains(args, "") { // of a variable that is not set
				return command.Fail(command.ExitNo, errors.New("an argument is empty: "+c.UseLine()),
					"name the session and the number, or leave out what you do not name")
			}
			argument, number := tasklist.SessionAndNumber(args)
			session, err := command.NamedOnce(named, argument)
			if err != nil {
				return err
			}
			ctx, stop := signals.Interruptible(c.Context())
			defer stop()
			return runUndo(ctx, s, session, number, f)
		},
	}
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would be done, and change nothing")
	c.Flags().BoolVar(&f.force, "force", false, "also remove tasks that were changed since")
	c.Flags().BoolVar(&f.json, "json", false, "print the result as JSON")
	command.NameList(s, c, &named)
	return c
}

func runUndo(ctx context.Context, s terminal.Streams, session, number string, f undoFlags) error {
	list, chosen, err := command.ChooseList(ctx, s, session)
	if err != nil {
		return err
	}
	h, inner, err := toUndo(list, number)
	if err != nil {
		return err
	}
	var all []undoneHydration
	for _, x := range append(inner, h) {
		one := undoneHydration{Hydration: x, inner: x.ID != h.ID, dryRun: f.dryRun}
		one.Undoing, err = f.undo(ctx, list, one)
		err = one.refused(err)
		if one.Unreleased != nil {
			s.Errorf("%s", hydrate.Unreleased(one.Unreleased))
		}
		if err != nil {
			break
		}
		if log := hook.ToLog(s); log != nil && !f.dryRun && !one.Undoing.Empty() {
			log(one.decision(list, command.Sender(s, list.Dir)))
		}
		all = append(all, one)
	}
	if failed := f.print(s, list, chosen, all, session, err == nil); failed != nil {
		return failed
	}
	switch {
	case err != nil:
		return err
	case !slices.ContainsFunc(all, func(u undoneHydration) bool { return !u.Undoing.Empty() }):
		return &command.Exit{Code: command.ExitNo}
	}
	return nil
}

// undoneHydration is a hydration and what undoing it did, or would do.
type undoneHydration struct {
	Hydration
	tasks.Undoing
	inner  bool // it is undone because of another one
	dryRun bool
}

// refused says of the error of undoing the hydration which other one has undone or replaced it.
func (u undoneHydration) refused(err error) error {
	h := u.Hydration
	switch {
	case errors.Is(err, tasks.ErrUndone):
		return message.WithHint(fmt.Errorf("hydration %s of %s is already undone", nameOf(h), quoted(h.Skill)),
			fmt.Sprintf("fsmtx undo %d restores it", h.By))
	case h.State == moved && (errors.Is(err, tasks.ErrReplaced) || errors.Is(err, tasks.ErrContinued)):
		return message.WithHint(fmt.Errorf("the workflow of hydration %s of %s goes on in the task list %s", nameOf(h), quoted(h.Skill), h.To),
			"fsmtx undo there gives it back as long as nothing was decided about it")
	case errors.Is(err, tasks.ErrReplaced):
		return message.WithHint(fmt.Errorf("hydration %s of %s was replaced by %d", nameOf(h), quoted(h.Skill), h.By),
			fmt.Sprintf("fsmtx undo %d undoes that; --force undoes what is left of %s", h.By, nameOf(h)))
	case errors.Is(err, tasks.ErrContinued):
		return message.WithHint(fmt.Errorf("hydration %s of %s gave a workflow back", nameOf(h), quoted(h.Skill)),
			"fsmtx continue makes it go on in another list")
	case errors.Is(err, state.ErrWorkedOn):
		err = fmt.Errorf("hydration %s of %s is not given back: %w", nameOf(h), quoted(h.Skill), err)
		if h.Done() < len(h.Created) {
			err = message.WithHint(err, "fsmtx continue takes it to another list")
		}
	}
	return err
}

// decision returns the undo for the log.
func (u undoneHydration) decision(list tasks.List, by state.By) decisions.Record {
	h := u.Hydration
	r := decisions.Record{
		Time: time.Now(), Source: decisions.Hydrate, Decision: "undone", Why: "hydration " + nameOf(h) + " was undone",
		Session: h.Session, List: list.Dir, Workflow: h.Skill, Spec: h.Spec, Deleted: hydrate.Numbers(list.IDs(u.Removed)),
		Restored: hydrate.Numbers(list.IDs(u.Restored)),
	}
	r.DecidedBy(by.Words())
	return r
}

func (f undoFlags) undo(ctx context.Context, list tasks.List, u undoneHydration) (tasks.Undoing, error) {
	id := u.Hydration.ID
	switch {
	case u.isContinued() && !f.dryRun:
		return u.given(), (&state.Store{List: list}).GiveBack(ctx, id, &u.record)
	case f.dryRun && u.inner:
		return list.PlanUndoBare(id, f.force)
	case f.dryRun:
		return u.planUndo(ctx, list, f.force)
	case u.inner:
		return list.UndoBare(ctx, id, f.force)
	}
	return list.Undo(ctx, id, f.force)
}

// isContinued reports whether its workflow came from another list: undoing it gives the workflow back.
func (h Hydration) isContinued() bool { return h.From != nil && h.State != undone }

// given is what giving the workflow back takes out of the list.
func (h Hydration) given() (u tasks.Undoing) {
	for _, t := range h.Created {
		u.Removed = append(u.Removed, tasks.Form.Name(t.ID))
	}
	return u
}

// planUndo returns what undoing would do.
func (h Hydration) planUndo(ctx context.Context, list tasks.List, force bool) (tasks.Undoing, error) {
	if h.isContinued() {
		return h.given(), state.MayGiveBack(ctx, list.Dir, &h.record)
	}
	return list.PlanUndo(h.ID, force)
}

// print prints what was undone: with whole all of it, otherwise what was undone before an
// error.
func (f undoFlags) print(s terminal.Streams, list tasks.List, chosen string, all []undoneHydration, session string, whole bool) error {
	switch {
	case len(all) == 0:
		return nil
	case f.json && !whole:
		return nil // an object without the hydration that was asked for would mislead
	case f.json:
		last := all[len(all)-1].shown(list)
		for _, u := range all[:len(all)-1] {
			last.First = append(last.First, u.shown(list))
		}
		return command.PrintJSON(s.Out, last)
	}
	var b strings.Builder
	message.Fprintf(&b, "%s\n", chosen)
	for _, u := range all {
		u.text(&b)
	}
	if _, err := io.WriteString(s.Out, b.String()); err != nil {
		return err
	}
	hintUndone(s, all, session)
	return nil
}

// toUndo returns the hydration with that number, or without one the last hydration that is
// neither undone nor an undo; and those under its steps, which are undone first.
func toUndo(list tasks.List, number string) (h Hydration, inner []Hydration, err error) {
	all, err := ReadHistory(list.Dir)
	if err != nil {
		return h, nil, err
	}
	if number != "" {
		h, err = findHydration(all, number)
		return h, h.Within(all), err
	}
	if h, ok := lastToUndo(all); ok {
		return h, h.Within(all), nil
	}
	return h, nil, command.Fail(command.ExitNo, fmt.Errorf("%s: there is no hydration to undo", list.Dir),
		"fsmtx log lists the hydrations that are on record")
}

// lastToUndo returns the last hydration that is neither undone nor an undo. It leaves out those
// under a step of another hydration that went with it or with a round of the step, and those that
// only removed the tasks for the lines of a step: the step would remove them again.
func lastToUndo(all []Hydration) (h Hydration, ok bool) {
	for _, h := range slices.Backward(all) {
		if h.State != undone && h.State != undoing && h.State != moved && !(h.Step != 0 && len(h.Created) == 0) &&
			(h.Parent == 0 || h.State == inList) {
			return h, true
		}
	}
	return Hydration{}, false
}

// subjectsOf returns the subjects of the tasks of a hydration, by the names of their files.
func subjectsOf(h Hydration) map[string]string {
	subjects := map[string]string{}
	for _, t := range slices.Concat(h.Created, h.Deleted) {
		subjects[tasks.Form.Name(t.ID)] = t.Subject
	}
	return subjects
}

type shownUndoing struct {
	List      string            `json:"list"`
	Hydration shownUndoingOf    `json:"hydration"`
	Removed   []string          `json:"removed"`
	Restored  []string          `json:"restored"`
	Gone      []string          `json:"gone"`
	Kept      []shownKeptOnUndo `json:"kept"`
	DryRun    bool              `json:"dry_run"`
	First     []shownUndoing    `json:"first"`
}

type shownUndoingOf struct {
	Number int64  `json:"number"`
	ID     string `json:"id"`
	Skill  string `json:"skill"`
}

type shownKeptOnUndo struct {
	Name    string `json:"name"`
	Subject string `json:"subject"`
	Why     string `json:"why"`
}

func (u undoneHydration) shown(list tasks.List) shownUndoing {
	out := shownUndoing{
		List: list.Dir, Hydration: shownUndoingOf{u.Number, u.Hydration.ID, u.Skill}, DryRun: u.dryRun, Kept: []shownKeptOnUndo{},
		First:   []shownUndoing{},
		Removed: append([]string{}, u.Removed...), Restored: append([]string{}, u.Restored...), Gone: append([]string{}, u.Gone...),
	}
	subjects := subjectsOf(u.Hydration)
	for _, k := range u.Kept {
		out.Kept = append(out.Kept, shownKeptOnUndo{k.Name, subjects[k.Name], k.Why})
	}
	return out
}

// text describes what undoing the hydration did, or would do.
func (u undoneHydration) text(b *strings.Builder) {
	subjects := subjectsOf(u.Hydration)
	of := fmt.Sprintf("hydration %s of %s", nameOf(u.Hydration), quoted(u.Skill))
	if u.inner {
		of += fmt.Sprintf(" first, which is under #%d", u.Parent)
	}
	restored, removed, kept := "restored", "removed", "kept"
	switch {
	case u.Empty():
		message.Fprintf(b, "nothing of %s can be undone\n", of)
	case u.dryRun:
		message.Fprintf(b, "would undo %s\n", of)
		restored, removed, kept = "would restore", "would remove", "would keep"
	default:
		message.Fprintf(b, "undid %s\n", of)
	}
	line := func(verb, name, why string) {
		message.Fprintf(b, "  %s #%s %s%s\n", verb, tasks.Form.ID(name), subjects[name], why)
	}
	for _, name := range u.Restored {
		line(restored, name, "")
	}
	for _, name := range u.Removed {
		line(removed, name, "")
	}
	for _, k := range u.Kept {
		line(kept, k.Name, ": "+k.Why)
	}
	for _, name := range u.Gone {
		line("gone already", name, "")
	}
}

// hintUndone says what can be done next. session is the list as it was named, if it was.
func hintUndone(s terminal.Streams, all []undoneHydration, session string) {
	command := []string{"fsmtx", "undo"}
	if session != "" {
		command = append(command, session)
	}
	last := all[len(all)-1]
	var changed []string
	for _, u := range all {
		if slices.ContainsFunc(u.Kept, func(k tasks.Kept) bool { return k.Why == tasks.KeptChanged }) {
			changed = append(changed, shell.Join(append(command, nameOf(u.Hydration), "--force")...))
		}
	}
	switch {
	case last.dryRun || last.Empty() && len(last.Kept) == 0:
	case last.From != nil:
		s.Hintf("the workflow goes on in the task list %s, as before; fsmtx continue takes it again", last.From.List)
	case len(changed) > 0:
		s.Hintf("%s also removes what was changed", strings.Join(changed, " && "))
	default:
		s.Hintf("fsmtx log lists the hydrations; run fsmtx undo with the number of this undo to repeat the hydration")
	}
}

// quoted returns the name of a skill in quotes, on one line.
func quoted(skill string) string { return `"` + message.Line(skill) + `"` }
