// Package continuation finds the unfinished workflows of a project in other lists, and those of which the client has removed the tasks in
// this one, and makes one go on here. How two lists change as one is in package state.
package continuation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/presence"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// Unfinished is a workflow with open steps in another list, or one without tasks in this list.
type Unfinished struct {
	List     string // the directory of the list
	Name     string // by which the list can be named
	Root     int64  // number of its first step
	Workflow *workflow.Workflow
	Steps    state.Count
	Time     time.Time        // when the list was last worked on
	AtWork   bool             // the client of another session runs that works on the list
	Given    bool             // a person has put it there, and it is not known whether a client of the session runs
	Cleaned  bool             // the list has none of its tasks any more
	All      []*state.Current // its steps, with those under them
	Same     bool             // the session is of the client that asks: it was cleared or forked, has another id now, or is the one at work
}

// IsHeld reports whether another session is at work on it, or may be: it is not to be robbed.
func (u Unfinished) IsHeld() bool { return u.AtWork || u.Given }

// Query is where a workflow is to go on.
type Query struct {
	Lookup func(string) (string, bool)
	Here   string               // the project's directory, or one below it
	List   string               // the directory of the list in which it is to go on; empty if that is not known
	Named  bool                 // that list was named
	Own    string               // the directory of the list that the caller has if it names none
	Chosen bool                 // an agent has chosen Here
	Client string               // the agent that goes on; see workflow.Workflow.Client
	Who    func() caller.Caller // nil: the caller is unknown
	By     state.By             // who takes it, or has agreed to that
}

// Find returns the unfinished workflows of the project that could go on in the list, those worked on last first.
//
// Errors: those of tasklist.OfProject.
func Find(ctx context.Context, q Query) (found []Unfinished, err error) {
	all, err := tasklist.OfProject(ctx, q.Lookup, q.Here, tasklist.Recent)
	for _, l := range all {
		if l.Now != nil {
			found = append(found, slices.DeleteFunc(q.in(l.Dir, l.Now, l.Time), func(u Unfinished) bool {
				return !tasklist.IsOf(q.Lookup, u.Workflow, q.Here)
			})...)
		}
	}
	return found, err
}

// in returns the unfinished workflows of one list; of that in which they would go on, those that have no task there.
func (q Query) in(dir string, s *state.State, last time.Time) (all []Unfinished) {
	same, atWork := presence.AtWork(q.Lookup, dir)
	given := dir != q.List && !same && !atWork && presence.Of(dir).Given
	for _, w := range s.Workflows() {
		cleaned := s.Parent(w) == nil && s.Revive(w)
		if s.Parent(w) == nil && len(s.OpenIn(w)) > 0 && (cleaned || dir != q.List) {
			name := tasklist.ShortName(q.Lookup, dir)
			all = append(all, Unfinished{dir, name, w.Steps[0].ID, w, s.CountIn(w), last, atWork, given, cleaned, s.Within(w), same})
		}
	}
	return all
}

// isHere reports whether a directory is of the project.
func (q Query) isHere(dir string) bool { return tasklist.IsIn(q.Lookup, dir, q.Here) }

// Needs returns what a person has to agree to before an agent takes the workflow; empty if nothing: its session has ended, and its
// gates look in this project. An agent that took it out of its own list would be rid of it: which of the sessions of a client is at
// work, the command cannot know.
func (q Query) Needs(u Unfinished) string {
	var from []string
	switch {
	case u.List == q.List: // its tasks come back
	case u.List == q.Own:
		from = append(from, "out of its own list")
	case u.AtWork:
		from = append(from, "from a session that is at work on it")
	case u.Given:
		from = append(from, "from the session to which a person gave it")
	case u.Same:
		from = append(from, "from another session of the same client")
	}
	if dir, away := u.Workflow.Dir, state.AwayText(u.Workflow); u.List != q.List && !q.isHere(dir) {
		from = append(from, message.Sprintf("from %s to %s", dir, q.place(dir)))
	} else if u.List != q.List && away != "" && !state.IsRemoved(dir) {
		from = append(from, message.Sprintf("to %s, which %s", q.place(dir), away))
	}
	if q.Named {
		from = append(from, "into a list that it names")
	}
	if len(from) == 0 {
		return ""
	}
	return "take the workflow of " + words(u) + " " + strings.Join(from, ", and ")
}

func words(u Unfinished) string {
	return message.Clip(message.Words(u.Workflow.Command), message.MaxSubject)
}

// String returns, for example, "release: 3 of 7 done, last worked on 2026-01-02 15:04, session 0b54".
func (u Unfinished) String() string {
	text := message.Sprintf("%s: %s, last worked on %s, session %s", words(u), u.Steps.Short(),
		u.Time.Local().Format("2006-01-02 15:04"), u.Name)
	if u.AtWork {
		text += ", which is at work on it"
	} else if u.Given {
		text += ", to which a person gave it"
	}
	if u.Cleaned {
		text += "; its task files are gone from there, and come back where it goes on"
	}
	return text
}

// Choose returns the workflow that is meant: of the named list, or else of the project, and of the skill unless that is empty. One
// whose session is at work has to be named, and so has the list in which it goes on if that is not known.
//
// Errors: that there is none, or several; *state.OpenHereError if a skill would be open twice in the list.
func Choose(ctx context.Context, q Query, named, skill string) (u Unfinished, err error) {
	var all []Unfinished
	where := "no other list has an unfinished workflow of this project"
	if named != "" { // another list than the one that the client was told to use
		found, err := tasklist.Find(ctx, tasklist.Query{Lookup: q.Lookup, Named: named, Dir: q.Here, Who: q.Who})
		if err != nil {
			return u, err
		}
		if r, err := txn.OpenReader(found.Dir); err == nil {
			r.Close()
		} else if errors.Is(err, txn.ErrUntrustedDir) {
			return u, fmt.Errorf("only this user's workflows can be continued: %w", err)
		}
		where = message.Words(found.Dir) + " has no unfinished workflow"
		s, err := state.LoadNow(ctx, found.Dir)
		if err != nil {
			return u, err
		}
		open := s.HasOpen()
		if all = q.in(found.Dir, s, tasklist.LastWork(found.Dir)); s.Departed.Last() != "" {
			where += "; " + s.Departed.Last()
		}
		if len(all) == 0 && open {
			return u, errors.New(message.Words(found.Dir) + " is this list: its workflow goes on here")
		}
	} else if all, err = Find(ctx, q); err != nil {
		return u, err
	}
	if skill != "" {
		all = slices.DeleteFunc(all, func(u Unfinished) bool { return u.Workflow.Command != skill })
		where = strings.Replace(where, "unfinished workflow", "unfinished workflow of "+message.Words(skill), 1)
	}
	switch {
	case len(all) == 0:
		hint := "fsmtx status --all shows those of other projects; --list names them"
		if named == "" {
			hint = tasklist.OrMoved(ctx, q.Lookup, q.Here, hint)
		}
		return u, message.WithHint(message.Lines("nothing to continue: "+where), hint)
	case len(all) > 1 || named == "" && all[0].IsHeld() || q.List == "":
		return u, q.which(ctx, all)
	}
	if u = all[0]; u.List != q.List {
		err = clash(ctx, q.List, u.All)
	}
	return u, err
}

// which returns the error that a workflow has to be named, or the list in which it goes on, with the whole command for each.
func (q Query) which(ctx context.Context, all []Unfinished) error {
	if q.List != "" {
		if text := q.here(ctx, all); text != "" {
			return message.Lines("nothing was continued" + text)
		}
		return fmt.Errorf("nothing was continued: %w", clash(ctx, q.List, all[0].All))
	}
	const none = "nothing was continued: a terminal has no task list of its own"
	targets := q.targets()
	if lines := q.lines(ctx, all, targets...); lines != "" {
		return message.Lines(none + ". Run one of these:" + lines + q.whose(ctx, targets))
	}
	return message.Lines(none + ", and no other session of this project is known in which it could go on. " +
		"In the session in which it is to go on, its agent runs:" +
		q.lines(ctx, all, ""))
}

// here returns the commands that continue one of the workflows in the list of the caller: apart those about which its agent cannot ask.
func (q Query) here(ctx context.Context, all []Unfinished) (text string) {
	var theirs []Unfinished
	title := ""
	if q.Who != nil && q.Who().Kind == caller.Agent {
		title = agent.Unasked(q.Who().Program)
	}
	if title != "" {
		theirs = slices.DeleteFunc(slices.Clone(all), func(u Unfinished) bool { return q.Needs(u) == "" })
		all = slices.DeleteFunc(slices.Clone(all), func(u Unfinished) bool { return q.Needs(u) != "" })
	}
	if lines := q.lines(ctx, all, q.List); lines != "" {
		text = ". Run one of these:" + lines
	}
	q.Named = true // a terminal has no list of its own
	if lines := q.lines(ctx, theirs, q.List); lines != "" {
		text += map[bool]string{true: ". ", false: "\n"}[text == ""] +
			"Only the person can decide this. They can run one of these in a terminal outside " + title + ":" + lines
	}
	return text
}

// lines returns, for each workflow, the commands that continue it in each of the lists in to. An empty name means the list of
// whoever runs the command.
func (q Query) lines(ctx context.Context, all []Unfinished, to ...string) (text string) {
	for _, u := range all {
		lines, at := "", to
		if u.Cleaned && q.List == "" && !slices.Contains(to, "") && !slices.Contains(to, u.List) {
			at = append([]string{u.List}, to...)
		}
		for _, dir := range at {
			to := dir
			if !q.Named && q.List != "" {
				to = ""
			}
			if (dir != u.List || u.Cleaned) && (dir == "" || clash(ctx, dir, u.All) == nil) {
				lines += "\n    " + Line(q.Lookup, u.Workflow.Command, u.List, to)
			}
		}
		if lines != "" {
			text += "\n  " + u.String() + ":" + lines
		}
	}
	return text
}

// Line returns the command by which the workflow of a skill goes on in another list; without one it is that of whoever runs the command.
// The skill is named, because another workflow may begin in the list before somebody reads the line.
func Line(lookup func(string) (string, bool), skill, from, to string) string {
	if to != "" {
		to = tasklist.ShortName(lookup, to)
	}
	return state.ContinueLine(skill, tasklist.ShortName(lookup, from), to)
}

// targets returns the lists of the project in which a workflow could go on: those at which a client works, and the project's own.
func (q Query) targets() []string {
	all := presence.Lists(q.Lookup, q.Here)
	if q.Own != "" && !txn.IsAbsent(q.Own) && !slices.Contains(all, q.Own) {
		all = append(all, q.Own)
	}
	return all
}

// whose says of each of the lists which client works there, and where, and on what.
func (q Query) whose(ctx context.Context, lists []string) (text string) {
	for _, list := range lists {
		text += "\n  " + tasklist.ShortName(q.Lookup, list) + " is the list "
		clients := presence.Of(list).Clients
		if i := slices.IndexFunc(clients, state.Client.IsHere); i >= 0 {
			text += message.Sprintf("at which %s works in %s", clients[i].Program, clients[i].Dir)
		} else {
			text += "of the project"
		}
		var open []string
		if s, err := state.LoadNow(ctx, list); err == nil {
			for _, w := range s.Workflows() {
				if s.Parent(w) == nil && len(s.OpenIn(w)) > 0 {
					open = append(open, message.Clip(message.Words(w.Command), message.MaxSubject))
				}
			}
		}
		if len(open) > 0 {
			text += ", on " + message.Sentence(open)
		}
	}
	return text
}

// MayTake reports whether the list has an unfinished workflow of a skill that could go on in the other one.
func MayTake(ctx context.Context, from, to, skill string) bool {
	s, err := state.LoadNow(ctx, from)
	return err == nil && !txn.IsAbsent(to) && slices.ContainsFunc(s.Workflows(), func(w *workflow.Workflow) bool {
		return w.Command == skill && s.Parent(w) == nil && (s.Revive(w) || len(s.OpenIn(w)) > 0) && clash(ctx, to, s.Within(w)) == nil
	})
}

// clash returns a *state.OpenHereError if an open skill of these steps is open in the list, too.
func clash(ctx context.Context, list string, steps []*state.Current) error {
	s, err := state.LoadNow(ctx, list)
	if err != nil {
		return nil // whatever changes the list reports that
	}
	return s.Clash(steps, list)
}

// Take makes the workflow go on in this list, by this session, and returns what there is to say of it, beside what is ready.
//
// Errors: those of state.Store.Continue.
func Take(ctx context.Context, q Query, to *state.Store, u Unfinished) (text string, err error) {
	if u.List == to.List.Dir {
		if err := to.BringBack(ctx, u.Root, q.By); err != nil {
			return "", err
		}
		q.log(to, u, u.Workflow)
		return message.Sprintf("%s goes on here (%s): %s.", words(u), u.Steps.Short(), state.CameBack), nil
	}
	from := &state.Store{List: tasks.List{Dir: u.List, Wait: cmp.Or(to.List.Wait, tasklist.Wait)}, Unreleased: to.Unreleased}
	w, err := to.Continue(ctx, state.Continuing{From: from, Root: u.Root, Session: to.Session, Client: q.Client, Place: q.place,
		Chosen: q.Chosen, By: q.By})
	if err != nil {
		return "", err
	}
	q.log(to, u, w)
	text = message.Sprintf("%s goes on here (%s); it was in the list %s.", words(u), u.Steps.Short(),
		tasklist.ShortName(q.Lookup, u.List))
	if w.Dir != u.Workflow.Dir {
		text += message.Sprintf(" Its gates look in %s from now on.", w.Dir)
	}
	if what, _ := state.FileChange(w); what != "" {
		text += message.Sprintf(" %s %s: it goes on as it was.", w.Spec, what)
	}
	return text, nil
}

// log logs that the workflow went on: a line for the list that it was in, and one for that in which it is now; or that it is back.
func (q Query) log(to *state.Store, u Unfinished, w *workflow.Workflow) {
	if to.Log == nil {
		return
	}
	line := decisions.Record{Time: time.Now(), Source: decisions.Hydrate, Decision: "continued", Session: to.Session,
		Why: "it goes on in the task list " + to.List.Dir, List: u.List, Project: u.Workflow.Dir, Workflow: w.Command, Spec: w.Spec,
		Digest: w.SHA256, Run: u.Root}
	for _, step := range u.Workflow.Steps {
		line.Deleted = append(line.Deleted, step.ID)
	}
	line.DecidedBy(q.By.Words())
	if u.List != to.List.Dir {
		to.Log.Add(line)
	}
	line.Why, line.List, line.Project, line.Run = "it was in the task list "+u.List, to.List.Dir, w.Dir, w.Steps[0].ID
	line.Deleted = nil
	line.Steps, line.Open, line.FromList, line.FromRun = u.Steps.All(), &u.Steps.Open, u.List, u.Root
	if u.List == to.List.Dir {
		line.Decision, line.Why = "hydrated", state.CameBack
	}
	to.Log.Add(line)
}

// place returns the directory of this project in which gates look that looked in dir.
func (q Query) place(dir string) string {
	_, err := os.Stat(dir)
	if err == nil && q.isHere(dir) {
		return dir
	}
	here := tasklist.Project(q.Lookup, q.Here)
	if rel, relErr := filepath.Rel(tasklist.Project(q.Lookup, dir), safefile.Resolve(dir)); err == nil && relErr == nil {
		if info, err := os.Stat(filepath.Join(here, rel)); err == nil && info.IsDir() {
			return filepath.Join(here, rel)
		}
	}
	return here
}
