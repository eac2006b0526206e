package show

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/continuation"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/presence"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

type shownList struct {
	List    string `json:"list"`
	Session string `json:"session"`
	Skill   string `json:"skill"`
	Dir     string `json:"dir"` // where its gates look; empty if it is not known
	shownCount
	Ended bool   `json:"ended"` // it is over, and not all of it was done
	Next  string `json:"next"`
	shownWaits

	count   state.Count
	to      string     // the list in which the workflow goes on that it had last
	where   state.Went // how it is there
	open    bool
	repo    string // see workflow.Workflow; empty if it has left
	project string // see tasklist.Home

	interrupted string // what finishes a change that was interrupted; empty if none was
	back        string // what brings its tasks back; empty unless they are all gone, with steps that were open
	undone      bool   // it was undone, and nothing else is in the list
}

// shownProject is the lists of a project.
type shownProject struct {
	Dir       string      `json:"dir"`       // empty if it is not known
	Workflows []shownList `json:"workflows"` // the unfinished ones first, then the newest
}

// byProject groups lists, which are sorted: the projects with something unfinished first, then the newest.
func byProject(lists []shownList) (all []shownProject) {
	all = []shownProject{}
	for _, l := range lists {
		i := slices.IndexFunc(all, func(p shownProject) bool { return p.Dir == l.project })
		if i < 0 {
			i, all = len(all), append(all, shownProject{Dir: l.project})
		}
		all[i].Workflows = append(all[i].Workflows, l)
	}
	return all
}

// shownWaits is when a list, or a workflow in it, was worked on, and what waits for the person.
type shownWaits struct {
	Time   time.Time `json:"time"`   // of the last work
	AtWork bool      `json:"atWork"` // a client runs that works on the list
	Waits  []string  `json:"waits"`  // the commands with which the person answers
}

// waits returns that of the list.
func (st *status) waits() shownWaits {
	return waitsOf(st.steps, st.list.Dir, func() string { return st.name }, nil)
}

// waitsForYou reports whether a step waits for the person: they are asked about it, or only they can say how it ends, and no client runs
// whose agent would work on it first and then ask them.
func waitsForYou(now *state.State, c *state.Current, atWork bool) bool {
	word := now.Word(c)
	return word == state.Awaits || word == state.Ready && now.Undecided(c) && !atWork
}

// turnOf reports whether a step of a list waits for the person, and whether one does as soon as no client runs.
func turnOf(now *state.State, list string) (persons, once bool) {
	once = slices.ContainsFunc(now.Steps, func(c *state.Current) bool { return waitsForYou(now, c, false) })
	return once && slices.ContainsFunc(now.Steps, func(c *state.Current) bool { return waitsForYou(now, c, presence.IsAlive(list)) }), once
}

// waitsOf returns that of the steps for which of is true, nil: of all. name returns the name of the list for a person.
func waitsOf(now *state.State, list string, name func() string, of func(*state.Current) bool) shownWaits {
	out := shownWaits{tasklist.LastWork(list), presence.IsAlive(list), []string{}}
	for _, c := range now.Steps {
		if waitsForYou(now, c, out.AtWork) && (of == nil || of(c)) {
			out.Waits = append(out.Waits, gates.DoneCommands(now, c, "--list "+shell.Join(name()))...)
		}
	}
	return out
}

// workflowsOf returns the workflows of a list with a history, or what the list had last.
func workflowsOf(lookup func(string) (string, bool), dir string, all []Hydration, now *state.State) (lists []shownList) {
	name := sync.OnceValue(func() string { return tasklist.ShortName(lookup, dir) })
	last, cleared := lastLeft(all), now.Cleared()
	for _, w := range now.Workflows() {
		if now.Parent(w) != nil || w.Part {
			continue
		}
		l := shownList{List: dir, Session: w.Session, Skill: w.Command, Dir: w.Dir, repo: w.Repo}
		l.shownWaits = waitsOf(now, dir, name, func(c *state.Current) bool { return now.Root(c.Workflow) == w })
		for _, c := range now.Ready() {
			if now.Root(c.Workflow) == w {
				l.Next = c.Subject
				break
			}
		}
		if slices.Contains(cleared, w) {
			l.back = continuation.Line(lookup, w.Command, dir, dir)
		}
		l.count = now.CountIn(w)
		l.shownCount, l.open = shownOf(l.count), l.count.Open > 0
		l.Ended = !l.open && l.Done < l.Total
		lists = append(lists, l)
	}
	if len(lists) == 0 {
		l := shownList{List: dir, Session: last.Session, Skill: last.Skill, to: last.To, where: last.where, undone: last.State == undoing,
			shownWaits: waitsOf(now, dir, name, nil)}
		l.AtWork = l.AtWork && l.to == ""
		for _, h := range all {
			l.Dir = cmp.Or(h.project, l.Dir)
		}
		lists = append(lists, l)
	}
	for i := range lists {
		lists[i].project = tasklist.Home(lookup, lists[i].Dir, lists[i].repo)
	}
	return lists
}

// lastLeft returns the last change of a list, leaving out an undo with the call that it undid: what was said before that is said again. An
// undo of a call whose workflow has left undid nothing of it.
func lastLeft(all []Hydration) Hydration {
	last := len(all) - 1
	for all[last].State == undoing {
		i := slices.IndexFunc(all, func(h Hydration) bool { return h.Number == all[last].Undoes })
		if i >= 0 && all[i].spent {
			i = last
		}
		if i <= 0 {
			break
		}
		last = i - 1
	}
	return all[last]
}

// statusOfAll prints one line for each workflow of the lists with a history, by project.
func statusOfAll(ctx context.Context, s terminal.Streams, asJSON bool) error {
	dirs, err := tasklist.WithHistory(s.Getenv)
	if err != nil {
		return err
	}
	lists, unread := []shownList{}, []error{}
	for _, dir := range dirs {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		st := storeOf(dir)
		all, _, err := readHistories(st, true)
		if err != nil {
			unread = append(unread, err)
			continue
		}
		if len(all) == 0 {
			continue // it has no history
		}
		now, err := st.Now(ctx)
		if err != nil {
			s.Errorf("%s: %v", dir, err)
			continue
		}
		interrupted := tasklist.Interrupted(ctx, s.Getenv, dir)
		if interrupted != nil {
			now = new(state.State)
		}
		for _, l := range workflowsOf(s.Getenv, dir, all, now) {
			l.interrupted = message.Hint(interrupted)
			lists = append(lists, l)
		}
	}
	reportUnread(s, unread)
	slices.SortFunc(lists, func(a, b shownList) int {
		if a.open != b.open {
			return map[bool]int{true: -1, false: 1}[a.open]
		}
		return b.Time.Compare(a.Time)
	})
	projects, short := byProject(lists), tasklist.ShortNames(s.Getenv)
	if asJSON {
		return command.PrintJSON(s.Out, map[string]any{"projects": projects})
	}
	if len(lists) == 0 {
		return none(len(unread) > 0)
	}
	for _, p := range projects {
		if _, err := message.Fprintf(s.Out, "%s\n", cmp.Or(p.Dir, "(project unknown)")); err != nil {
			return err
		}
		for _, l := range p.Workflows {
			lines := []string{terminal.Cut("  "+l.line(short), s.Limit(s.Out))}
			for _, line := range append(lines, l.commands(s.Who().Kind == caller.Agent)...) {
				if _, err := message.Fprintf(s.Out, "%s\n", line); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// line names lists as they are called, and those that are called by the id of a session by what is short for it.
func (l shownList) line(short func(list string) string) string {
	name := func(list string) string {
		if called := filepath.Base(list); !tasklist.IsSessionID(called) {
			return called
		}
		return short(list)
	}
	next := "no workflow"
	switch {
	case l.interrupted != "":
		next = "a change was interrupted"
	case l.to != "":
		next = l.where.Brief(name(l.to))
	case l.undone:
		next = "undone"
	case l.back != "":
		next = "its task files are gone"
	case l.Next != "":
		next = "next: " + l.Next
	case l.Ended:
		next = "ended"
	case l.Total > 0 && !l.open:
		next = "done"
	case l.Total > 0:
		next = "nothing is ready"
	}
	if l.Total > 0 {
		next = l.count.Brief() + "  " + next
	}
	text := fmt.Sprintf("%s  %s  %s  %s", name(l.List), l.Time.Local().Format("2006-01-02 15:04"), l.Skill, next)
	if l.AtWork && l.open {
		text += "; its client runs"
	}
	if rel, err := filepath.Rel(l.project, safefile.Resolve(l.Dir)); l.open && (err != nil || !filepath.IsLocal(rel)) {
		text += "; in " + l.Dir
	}
	return text
}

// commands returns the lines with commands for the person, which are never cut.
func (l shownList) commands(agentReads bool) (all []string) {
	if l.interrupted != "" {
		return []string{"      " + l.interrupted}
	}
	if l.to != "" && l.where.Back != "" {
		all = append(all, "      "+l.where.Back+" brings it back")
	}
	if l.back != "" {
		all = append(all, "      "+l.back+" brings them back")
	}
	for _, line := range l.Waits {
		all = append(all, "      "+waitsFor(agentReads)+line)
	}
	return all
}
