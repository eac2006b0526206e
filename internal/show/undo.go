package show

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/continuation"
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
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

const undoLong = `Undo takes back one call of a skill with all that came of it: the steps that it put into the list, what
came under these, their copies for items and rounds. It brings back what that call had
replaced, as it was and with all that is on record of it. It does all of that, in one
transaction, or nothing, and says why. N is a number from "fsmtx log"; without N it is the
last call that was not undone, and that came under no step which is done. Undo can itself be undone, which brings everything back.

Boxes of a plan that fsmtx has ticked for its steps are as they were; what stays ticked is named.
A call that came under a step which is done is undone with the call of that step, or after
"fsmtx step reopen" of the step.

If steps were worked on since, it names them and changes nothing; --force takes these back,
too. A call whose steps a later one has replaced is not undone before that one. What came
here by "fsmtx continue", or went elsewhere, is not undone: the same command takes it back, and the
answer names it. What a call had replaced comes back although its own workflow went elsewhere.

--list is as for "fsmtx status", but lists whose workflows are over can be meant, too.

If an agent runs the command, only --dry-run works without the person's yes; the hook
asks.

--json prints an object with list, hydration (number, id and skill), under (array of such
objects: the calls under its steps, which are undone with it), removed, restored (arrays of
names of task files), unticked, ticked, left_ticked (arrays of texts) and dry_run. The exit code is 0 if the call was undone, or with
--dry-run would be, and 1 otherwise.`

type undoFlags struct{ dryRun, force, json bool }

func NewUndo(s terminal.Streams) *cobra.Command {
	var f undoFlags
	var named string
	c := &cobra.Command{
		Use:               "undo [N]",
		Short:             "Take back a call of a skill with all that came of it, and put the old tasks back",
		Long:              undoLong,
		Example:           command.Example("fsmtx undo --dry-run", "fsmtx undo", "fsmtx undo --list 0b54 3 --force"),
		ValidArgsFunction: cobra.NoFileCompletions,
		Args:              command.AtMostANumber,
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := signals.Interruptible(c.Context())
			defer stop()
			return runUndo(ctx, s, named, strings.Join(args, ""), f)
		},
	}
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would be done, and change nothing")
	c.Flags().BoolVar(&f.force, "force", false, "also take back steps that were worked on since")
	c.Flags().BoolVar(&f.json, "json", false, "print the result as JSON")
	command.NameList(s, c, &named)
	return c
}

func runUndo(ctx context.Context, s terminal.Streams, session, number string, f undoFlags) error {
	list, chosen, err := command.ChooseWay(ctx, s, session, true, func(dir, line string) (paste, note string) {
		return wayToUndo(ctx, s, tasks.List{Dir: dir}, number, line, f)
	}, func(dir string) error { return runUndo(ctx, s, dir, number, undoFlags{dryRun: true, force: f.force}) })
	if err != nil {
		return err
	}
	st := storeOf(list.Dir)
	if err := tasklist.Interrupted(ctx, s.Getenv, list.Dir); err != nil {
		return err
	}
	all, damaged, err := readHistories(st, false)
	if err != nil {
		return err
	}
	before, unread := st.Now(ctx)
	if unread != nil {
		before = new(state.State) // undo is also for a list that cannot be read
	}
	list.Changed = before.Rewritten()
	by := command.Sent(ctx, s, list.Dir)
	list.By = by.Words()
	u := undoneHydration{list: list, store: st, now: before, name: tasklist.ShortName(s.Getenv, list.Dir), all: all, dryRun: f.dryRun}
	if u.Hydration, err = toUndo(list, u.name, all, number, len(all) > 0 && len(damaged) == 0); err != nil {
		return err
	}
	if u.doneStep != "" {
		err := fmt.Errorf("%s came under %s, which is done, so nothing was undone", u.it(), u.doneStep)
		return command.Fail(command.ExitNo, err, u.opens())
	}
	if f.dryRun {
		u.Undoing, err = list.PlanUndo(u.history(), u.Hydration.ID, f.force)
	} else {
		u.Undoing, err = list.Undo(ctx, u.Hydration.ID, f.force)
	}
	if u.Unreleased != nil {
		s.Errorf("%s", hydrate.Unreleased(u.Unreleased))
	}
	if err != nil {
		return u.refused(ctx, s, err)
	}
	u.unticked, u.ticked, u.leftTicked = st.Retick(ctx, before, u.Removed, f.dryRun)
	if log := hook.ToLog(s); log != nil && !f.dryRun {
		log.Add(u.decision(by))
	}
	if f.json {
		return command.PrintJSON(s.Out, u.shown())
	}
	if _, err := io.WriteString(s.Out, message.Line(chosen)+"\n"+u.text()); err != nil {
		return err
	}
	u.hint(s)
	return nil
}

// undoneHydration is a hydration and what undoing it did, or would do.
type undoneHydration struct {
	Hydration
	tasks.Undoing

	unticked, ticked, leftTicked []string // boxes of plans: whose tick is taken back or set again, and why one stays

	list   tasks.List
	store  *state.Store
	now    *state.State // of the list, before
	name   string       // by which a person names the list
	all    []Hydration  // of the list, before
	dryRun bool
}

// line returns the command that undoes a hydration of the list.
func (u undoneHydration) line(number int64, more ...string) string {
	return shell.Join(append([]string{"fsmtx", "undo", "--list", u.name, strconv.FormatInt(number, 10)}, more...)...)
}

// forced returns the command that undoes the hydration with what was done since, which only a person may run.
func (u undoneHydration) forced(s terminal.Streams) string {
	return forPerson(s.Who().Kind == caller.Agent, u.line(u.Number, "--force"))
}

// works returns the command that undoes a hydration now, with what it does; empty if nothing undoes it.
func (u undoneHydration) works(number int64, does string) string {
	h, err := findHydration(u.name, u.all, strconv.FormatInt(number, 10))
	if line := undoLine(u.list, u.history(), u.name, h); err == nil && line != "" {
		return line + does
	}
	return ""
}

// opens says how a call can be undone that came under a step which is done: the step is opened again first, if that is not itself under
// one that is done; or the call is undone of which it is a part.
func (u undoneHydration) opens() (hint string) {
	if c := u.now.Step(u.Parent); c != nil && !u.now.IsClosed(c.Workflow) {
		hint = "fsmtx step reopen " + message.Itoa(u.Parent) + ` --because "..." ` + shell.Join("--list", u.name) +
			" opens the step again first"
	}
	return strings.Trim(hint+"; "+u.works(u.callOf(u.Parent), " takes back the call that it is a part of"), "; ")
}

// replacing returns the number of the change that replaced what the call had created, or what the undo had brought back, as the error says.
func (u undoneHydration) replacing(err error) int64 {
	replaced, _ := errors.AsType[*tasks.ReplacedError](err)
	i := slices.IndexFunc(u.all, func(h Hydration) bool { return replaced != nil && h.ID == replaced.By })
	if u.By != 0 || i < 0 {
		return u.By
	}
	return u.all[i].Number
}

// replacedBy returns the command that undoes a call, or the first of those by which it was replaced in turn that can be undone.
func (u undoneHydration) replacedBy(number int64) string {
	line, does := "", " undoes that"
	for line == "" && number != 0 {
		line, does = u.works(number, does), fmt.Sprintf(" undoes what came in the place of call %d", number)
		h, err := findHydration(u.name, u.all, strconv.FormatInt(number, 10))
		if err != nil || h.By <= number {
			break
		}
		number = h.By
	}
	return line
}

// history returns that of the list.
func (u undoneHydration) history() []txn.Entry {
	all, _ := u.store.History() // it was read before
	return all
}

// it names the hydration.
func (u undoneHydration) it() string {
	return fmt.Sprintf("call %s of %s", nameOf(u.Hydration), quoted(u.Skill))
}

// refused says of the error of undoing the hydration what was not done, and what to do.
func (u undoneHydration) refused(ctx context.Context, s terminal.Streams, err error) error {
	h := u.Hydration
	it := u.it()
	hint := ""
	worked, isWorked := errors.AsType[*tasks.WorkedOnError](err)
	switch {
	case isWorked && worked.Gone:
		err = fmt.Errorf("the task files of %s are gone, so nothing was undone", it)
		hint = u.bringsBack(s) + u.forced(s) + " takes it back all the same"
	case isWorked:
		err = fmt.Errorf("%s was worked on since, so nothing was undone: %s", it, u.workedOn(worked.Names))
		hint = u.forced(s) + " takes all of it back"
	case errors.Is(err, tasks.ErrUndone):
		err, hint = fmt.Errorf("%s is already undone", it), u.works(h.By, " restores it")
	case errors.Is(err, tasks.ErrPart):
		did := fmt.Sprintf("made the tasks for the items of #%d", h.Step)
		if h.isBack() {
			did = "brought the tasks back"
		}
		err = fmt.Errorf("%s %s: nothing was undone", it, did)
		hint = u.works(u.callOf(h.Step), " takes back the call that this is a part of")
	case errors.Is(err, tasks.ErrContinued):
		text, back := wentOn(ctx, s, u.list.Dir, u.all, h)
		err = fmt.Errorf("the workflow of %s %s, so nothing was undone", it, cmp.Or(text, "has gone on in another list since"))
		hint = strings.Trim(back+"; "+u.earlier(), "; ")
	case errors.Is(err, tasks.ErrReplaced):
		by := u.replacing(err)
		err = fmt.Errorf("%s was replaced by %d, so nothing was undone", it, by)
		hint = cmp.Or(u.replacedBy(by), u.works(u.callOf(h.Parent), " takes back the call that it is a part of"))
	case errors.Is(err, tasks.ErrNotKept):
		err = fmt.Errorf("%s was not undone: %w", it, err)
		hint = "the history keeps what the last ten calls of skills have replaced; see fsmtx hydrate --history"
	}
	return message.WithHint(err, hint)
}

// earlier says how the call is undone whose workflow went on elsewhere if it had replaced another workflow, and otherwise the call before.
func (u undoneHydration) earlier() string {
	for _, h := range slices.Backward(u.all) {
		if h.Number <= u.Number && h.State != undone && h.State != undoing && h.Step == 0 {
			line := undoLine(u.list, u.history(), u.name, h)
			switch {
			case line != "" && h.State == moved && h.Reloaded == nil:
				return line + message.Sprintf(" brings back what call %s of %s had replaced", nameOf(h), quoted(h.Skill))
			case line != "":
				return line + message.Sprintf(" takes back call %s of %s", nameOf(h), quoted(h.Skill))
			}
		}
	}
	return ""
}

// bringsBack says what brings the tasks of the workflows back that have none any more.
func (u undoneHydration) bringsBack(s terminal.Streams) (text string) {
	for _, w := range u.now.Cleared() {
		text += bringBack(s, w, u.list.Dir) + "; "
	}
	return text
}

// bringBack names the command that creates the tasks of a workflow again. Its words are for the person or the agent that runs this one.
func bringBack(s terminal.Streams, w *workflow.Workflow, list string) string {
	to := list
	if s.Who().Kind == caller.Agent {
		to = "" // it may name none
	}
	return continuation.Line(s.Getenv, w.Command, list, to) + " brings them back"
}

// wentOn says that the workflow of a hydration, or the one that it came under, came from another list, or went there, and how it goes on
// where it was.
func wentOn(ctx context.Context, s terminal.Streams, list string, all []Hydration, h Hydration) (text, hint string) {
	from, to, skill := list, "", h.Skill
	left := func(x Hydration) bool { return x.Number >= h.Number && x.To != "" && len(x.Created) == 0 }
	if i := slices.IndexFunc(all, left); h.State != moved && h.From != nil {
		to, text = h.From.List, "came here from the task list "+h.From.List+" by fsmtx continue"
	} else if i >= 0 {
		from, to, skill, text = all[i].To, list, all[i].Skill, all[i].where.In("the task list "+all[i].To)
	}
	if i := slices.IndexFunc(all, func(x Hydration) bool { return h.State == moved && x.Number == h.By }); text == "" && i >= 0 {
		return "has come back as call " + nameOf(all[i]) + " and cannot be undone any more", ""
	}
	if hint = continueLine(ctx, s, skill, from, to); hint != "" {
		hint += " takes it back"
	}
	return text, hint
}

// continueLine returns the command by which a workflow goes on in the list to; empty if it cannot.
func continueLine(ctx context.Context, s terminal.Streams, skill, from, to string) string {
	if !continuation.MayTake(ctx, from, to, skill) {
		return ""
	}
	return continuation.Line(s.Getenv, skill, from, to)
}

// workedOn says of tasks what was done to them, the first ones of many.
func (u undoneHydration) workedOn(names []string) string {
	var all []string
	tasksOf := u.tasks()
	for _, name := range names[:min(len(names), maxWorkedOn)] {
		t, word := tasksOf[name], "was changed"
		switch {
		case t.Gone:
			word = "is gone"
		case t.State == state.InProgress || t.State != "" && !t.State.IsOpen():
			word = "is " + string(t.State)
		}
		all = append(all, message.Sprintf("#%s %s %s", tasks.Form.ID(name), message.Clip(t.Subject, message.MaxSubject), word))
	}
	if more := len(names) - maxWorkedOn; more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	return message.Sentence(all)
}

const maxWorkedOn = 8

// tasks returns the tasks of all hydrations, by the names of their files.
func (u undoneHydration) tasks() map[string]ChangedTask {
	all := map[string]ChangedTask{}
	for _, h := range u.all {
		for _, t := range slices.Concat(h.Created, h.Deleted) {
			if was, known := all[tasks.Form.Name(t.ID)]; !known || was.Subject == "" {
				all[tasks.Form.Name(t.ID)] = t
			}
		}
	}
	return all
}

// callOf returns the number of the call that has put a step into the list, 0 if it is not known.
func (u undoneHydration) callOf(step int64) int64 {
	for _, h := range u.all {
		if h.Undoes == 0 && slices.ContainsFunc(h.Created, func(t ChangedTask) bool { return t.ID == strconv.FormatInt(step, 10) }) {
			if h.Step != 0 {
				return u.callOf(h.Step)
			}
			return h.Number
		}
	}
	return 0
}

// decision returns the undo for the log: it has taken out, or brought back, also steps whose tasks were gone.
func (u undoneHydration) decision(by state.By) decisions.Record {
	h := u.Hydration
	r := decisions.Record{
		Time: time.Now(), Source: decisions.Hydrate, Decision: "undone", Why: "call " + nameOf(h) + " was undone",
		Session: h.Session, List: u.list.Dir, Workflow: h.Skill, Spec: h.Spec, Deleted: hydrate.Numbers(u.list.IDs(u.Removed)),
		Restored: hydrate.Numbers(u.list.IDs(u.Restored)),
	}
	r.DecidedBy(by.Words())
	to, other := &r.Deleted, &r.Restored
	for undoes := h.Undoes; undoes != 0; to, other = other, to {
		i := slices.IndexFunc(u.all, func(o Hydration) bool { return o.Number == undoes })
		if i < 0 {
			return r
		}
		h, undoes = u.all[i], u.all[i].Undoes
	}
	for _, x := range u.all {
		in := slices.ContainsFunc(numbers(h.Created), func(id int64) bool { return id == x.Parent })
		for _, id := range numbers(x.Created) {
			if (in && x.Undoes == 0 || x.Number == h.Number) && !slices.Contains(*to, id) {
				*to = append(*to, id)
			}
		}
	}
	return r
}

// toUndo returns the hydration with that number, or without one the last call of a skill that was not undone. logged reports that
// "fsmtx log" can list the calls.
func toUndo(list tasks.List, name string, all []Hydration, number string, logged bool) (h Hydration, err error) {
	if number != "" {
		return findHydration(name, all, number)
	}
	if h, ok := lastToUndo(all); ok {
		return h, nil
	}
	hint := ""
	if logged {
		hint = shell.Join("fsmtx", "log", "--list", name) + " lists those that are on record"
	}
	return h, command.Fail(command.ExitNo, fmt.Errorf("%s: there is no call to undo", list.Dir), hint)
}

// wayToUndo returns the command that undoes the call with that number, or the last one, in one of several lists, and what there is to say
// of it. line is the command that was run. It is empty if there is nothing to undo.
func wayToUndo(ctx context.Context, s terminal.Streams, list tasks.List, number, line string,
	f undoFlags) (paste, note string) {
	st := storeOf(list.Dir)
	all, _, err := readHistories(st, false)
	if err != nil {
		return line, "" // which says why it cannot be read
	}
	h, err := toUndo(list, "", all, number, false)
	if err != nil || h.doneStep != "" {
		return "", ""
	}
	if now, err := st.Now(ctx); err == nil {
		list.Changed = now.Rewritten()
	}
	if number == "" { // when it is pasted, another call may be the last one
		line += " " + nameOf(h)
	}
	history, _ := st.History()
	switch flags, ok := list.HowToUndo(history, h.ID); {
	case !ok && h.From != nil && h.State == inList && !f.dryRun:
		return continueLine(ctx, s, h.Skill, list.Dir, h.From.List), ", and came here by fsmtx continue"
	case !ok:
		return "", ""
	case len(flags) > 0 && !f.force:
		return line + " " + shell.Join(flags...), ", and worked on since the call"
	}
	return line, ""
}

// lastToUndo returns the last call of a skill that was not undone, whose steps no later call has replaced, and that came under no step
// which is done; or that by which a workflow has left the list, if that is newer.
func lastToUndo(all []Hydration) (h Hydration, ok bool) {
	for _, h := range slices.Backward(all) {
		is := h.State != undone && h.State != undoing && h.State != replaced && (h.State != moved || h.By == 0 && !h.spent)
		if is && h.Step == 0 && h.doneStep == "" {
			return h, true
		}
	}
	return Hydration{}, false
}

// under returns the calls under its steps of which tasks are taken out of the list.
func (u undoneHydration) under() (all []Hydration) {
	for _, h := range u.all {
		if h.Step == 0 && slices.Contains(u.Under, h.ID) &&
			slices.ContainsFunc(h.Created, func(t ChangedTask) bool { return slices.Contains(u.Removed, tasks.Form.Name(t.ID)) }) {
			all = append(all, h)
		}
	}
	return all
}

type shownUndoing struct {
	List      string           `json:"list"`
	Hydration shownUndoingOf   `json:"hydration"`
	Under     []shownUndoingOf `json:"under"`
	Removed   []string         `json:"removed"`
	Restored  []string         `json:"restored"`
	Unticked  []string         `json:"unticked"`
	Ticked    []string         `json:"ticked"`
	Left      []string         `json:"left_ticked"`
	DryRun    bool             `json:"dry_run"`
}

type shownUndoingOf struct {
	Number int64  `json:"number"`
	ID     string `json:"id"`
	Skill  string `json:"skill"`
}

func (u undoneHydration) shown() shownUndoing {
	out := shownUndoing{
		List: u.list.Dir, Hydration: shownUndoingOf{u.Number, u.Hydration.ID, u.Skill}, DryRun: u.dryRun, Under: []shownUndoingOf{},
		Removed: append([]string{}, u.Removed...), Restored: append([]string{}, u.Restored...),
		Unticked: append([]string{}, u.unticked...), Ticked: append([]string{}, u.ticked...), Left: append([]string{}, u.leftTicked...),
	}
	for _, h := range u.under() {
		out.Under = append(out.Under, shownUndoingOf{h.Number, h.ID, h.Skill})
	}
	return out
}

// text describes what undoing the hydration did, or would do.
func (u undoneHydration) text() string {
	var b strings.Builder
	undid, restored, removed, unticked := "undid", "restored", "removed", "unticked"
	if u.dryRun {
		undid, restored, removed, unticked = "would undo", "would restore", "would remove", "would untick"
	}
	message.Fprintf(&b, "%s call %s of %s", undid, nameOf(u.Hydration), quoted(u.Skill))
	if again := u.Reloaded; again != nil {
		message.Fprintf(&b, ", which took its changed fsm.json (%s)", message.Words(again.Because))
	}
	for _, h := range u.under() {
		message.Fprintf(&b, ", and %s of %s under #%d", nameOf(h), quoted(h.Skill), h.Parent)
	}
	b.WriteByte('\n')
	all := u.tasks()
	for _, name := range u.Restored {
		message.Fprintf(&b, "  %s #%s %s\n", restored, tasks.Form.ID(name), all[name].Subject)
	}
	for _, name := range u.Removed {
		message.Fprintf(&b, "  %s #%s %s\n", removed, tasks.Form.ID(name), all[name].Subject)
	}
	for _, box := range u.unticked {
		message.Fprintf(&b, "  %s %s\n", unticked, box)
	}
	for _, box := range u.ticked {
		message.Fprintf(&b, "  ticked %s\n", box)
	}
	for _, why := range u.leftTicked {
		message.Fprintf(&b, "  left %s\n", why)
	}
	return b.String()
}

// hint says how to take the undo back.
func (u undoneHydration) hint(s terminal.Streams) {
	if last, err := u.list.LastChange(); !u.dryRun && err == nil {
		s.Hintf("%s takes this back", u.line(last.Number))
	}
}

// quoted returns the name of a skill in quotes, on one line.
func quoted(skill string) string { return `"` + message.Line(skill) + `"` }
