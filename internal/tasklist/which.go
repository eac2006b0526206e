package tasklist

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/pattern"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// IsOf reports whether a workflow is of the project of here: its directory is, or was in a work tree of the same repository, which may be
// gone, or has another name now. A directory that has come in its place is not, unless it is in that repository, or that is gone, too.
// Every search for lists of a project asks this.
func IsOf(lookup func(string) (string, bool), w *workflow.Workflow, here string) bool {
	repository := state.RepositoryIn(w)
	switch {
	case repository != "" && repository == state.RepositoryOf(here):
		return true
	case state.AwayText(w) == "":
	case repository != "" && !state.IsRemoved(w.Dir):
		return false
	case repository == "" && isNow(lookup, w, here):
		return true
	}
	return Belongs(lookup, w.Dir, here)
}

// isNow reports whether the directory of a workflow has another name now: that of here, of its work tree, or of the main one.
func isNow(lookup func(string) (string, bool), w *workflow.Workflow, here string) bool {
	return w.Inode != 0 && slices.ContainsFunc([]string{here, Project(lookup, here), Home(lookup, here, "")}, func(dir string) bool {
		return state.Inode(dir) == w.Inode
	})
}

// Belongs reports whether what is done in the directory dir is of the project of here: dir is in that project, or here is in dir, or
// both are in work trees of one repository.
func Belongs(lookup func(string) (string, bool), dir, here string) bool {
	if dir == "" {
		return false
	}
	if IsIn(lookup, dir, here) {
		return true
	}
	ours := state.RepositoryOf(here)
	return ours != "" && ours == state.RepositoryOf(dir)
}

// IsIn is Belongs without the other work trees of the repository.
func IsIn(lookup func(string) (string, bool), dir, here string) bool {
	rel, err := filepath.Rel(safefile.Resolve(dir), safefile.Resolve(here))
	return err == nil && filepath.IsLocal(rel) || Project(lookup, dir) == Project(lookup, here)
}

// Listed is a list of the project, with what a person knows of it.
type Listed struct {
	Found
	Skill string    // the workflows in it, the open ones if there are any
	Next  string    // the step that can be worked on; empty if there is none
	Time  time.Time // when it was last worked on
	Open  bool      // a step is open

	Now *state.State // nil if it cannot be read
}

// String says what is in the list, its next step, and when it was last worked on.
func (l Listed) String() string {
	text := l.Skill
	if l.Next != "" {
		text += ", " + l.Next
	}
	return text + ", last worked on " + l.Time.Local().Format("2006-01-02 15:04")
}

// OfProject returns the lists with workflows of the project of here, those worked on last first; with pick, of those that it leaves. A
// list that cannot be read is not among them.
//
// Errors: those of WithHistory.
func OfProject(ctx context.Context, lookup func(string) (string, bool), here string, pick ...func([]string) []string) ([]Listed, error) {
	dirs, err := WithHistory(lookup)
	if err != nil {
		return nil, err
	}
	for _, of := range pick {
		dirs = of(dirs)
	}
	return ofProject(ctx, lookup, here, dirs, true)
}

// openOfProject is OfProject for the lists with open steps; with cleared also for those of which only the task files are gone.
func openOfProject(ctx context.Context, lookup func(string) (string, bool), here string, cleared bool) ([]Listed, error) {
	dirs, err := WithHistory(lookup)
	if err != nil {
		return nil, err
	}
	all, err := ofProject(ctx, lookup, here, dirs, false)
	return slices.DeleteFunc(all, func(l Listed) bool { return !l.Open && !(cleared && l.Now != nil && len(l.Now.Cleared()) > 0) }), err
}

// ofProject returns those of the lists that are of the project, with ever also those of which only a workflow is that was replaced.
func ofProject(ctx context.Context, lookup func(string) (string, bool), here string, dirs []string, ever bool) (all []Listed, err error) {
	own, _ := rootDir(lookup)
	type place struct {
		dir, repository string
		inode           uint64
	}
	known := map[place]bool{} // most lists are of few directories
	isHere := func(w *workflow.Workflow) bool {
		at := place{w.Dir, w.Repo, w.Inode}
		is, ok := known[at]
		if !ok {
			is = IsOf(lookup, w, here)
			known[at] = is
		}
		return is
	}
	for _, dir := range dirs {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		st := &state.Store{List: tasks.List{Dir: dir}, Known: new(state.Known)}
		w, now := workflowHere(ctx, st, isHere, ever)
		if w == nil {
			continue
		}
		l := Listed{Found: Found{Dir: dir, Session: w.Session, Known: st.Known}, Skill: message.Words(w.Command), Time: LastWork(dir),
			Now: now}
		if filepath.Dir(dir) == own {
			l.Project = w.Dir
		}
		if now != nil {
			l.look(now)
		}
		all = append(all, l)
	}
	slices.SortStableFunc(all, func(a, b Listed) int { return b.Time.Compare(a.Time) })
	return all, nil
}

func (l *Listed) look(now *state.State) {
	var open []string
	for _, c := range now.Steps {
		if !c.Done() {
			if name := message.Words(c.Workflow.Command); !slices.Contains(open, name) {
				open = append(open, name)
			}
		}
	}
	if l.Open = len(open) > 0; l.Open {
		l.Skill = strings.Join(open, ", ")
	}
	started, ready := now.Work()
	if work := append(started, ready...); len(work) > 0 {
		l.Next = work[0].Name()
	}
}

// workflowHere returns the last workflow of a list that belongs to the project of here, nil if there is none, and the state of the list,
// nil if that cannot be read. The steps of the workflow may be gone from the list, or a person has said that it is here now. Of a list
// whose workflows are all elsewhere, as of most lists, their directories are read, and nothing else.
func workflowHere(ctx context.Context, st *state.Store, isHere func(*workflow.Workflow) bool, ever bool) (*workflow.Workflow,
	*state.State) {
	if !st.MayBeIn(isHere, ever) {
		return nil, nil
	}
	record := map[bool]func() (*state.OnRecord, error){true: st.EverOnRecord, false: st.OnRecord}[ever]
	r, err := record()
	if err != nil {
		return nil, nil
	}
	now, err := st.Now(ctx)
	if err == nil {
		all := now.Workflows()
		if i := slices.IndexFunc(all, isHere); i >= 0 {
			return now.Root(all[i]), now
		}
	}
	for _, w := range slices.Backward(r.Workflows) {
		if isHere(w) {
			return w, now
		}
	}
	return nil, nil
}

// Recent picks the lists of which something was changed in the last thirty days, and no more than 32: what the start of a session looks
// at does not grow for ever.
func Recent(dirs []string) []string {
	times := map[string]time.Time{}
	for _, dir := range dirs {
		if s, err := txn.StateDir(dir); err == nil {
			if info, err := (tasks.List{}).Files().Lstat(s); err == nil { // each holder of its lock renews it
				times[dir] = info.ModTime()
			}
		}
	}
	dirs = slices.DeleteFunc(dirs, func(dir string) bool { return time.Since(times[dir]) > 30*24*time.Hour })
	slices.SortStableFunc(dirs, func(a, b string) int { return times[b].Compare(times[a]) })
	return dirs[:min(len(dirs), 32)]
}

// LastWork returns when something was last changed or decided in a list; zero if that is not known.
func LastWork(dir string) (last time.Time) {
	went := func(e txn.Entry) bool { l, _ := tasks.Continuation(e.Label); return l.To != "" }
	change, _ := (tasks.List{Dir: dir}).LastChange()
	if last = change.Time; went(change) {
		history, _ := txn.ReadHistory(dir)
		history = slices.DeleteFunc(history, went)
		if last = (time.Time{}); len(history) > 0 {
			last = history[len(history)-1].Time
		}
	}
	if s, err := txn.StateDir(dir); err == nil {
		if info, err := (tasks.List{}).Files().Lstat(filepath.Join(s, state.EvidenceFile)); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// Elsewhere returns the directory of the last workflow of a list if all that are on record there are of other projects than here; else
// nothing.
func Elsewhere(lookup func(string) (string, bool), list, here string) (dir string) {
	r, err := (&state.Store{List: tasks.List{Dir: list}}).EverOnRecord()
	if err != nil {
		return ""
	}
	for _, w := range r.Workflows {
		if dir = w.Dir; IsOf(lookup, w, here) {
			return ""
		}
	}
	return dir
}

// SeveralError is returned when no list was named, and several lists of the project can be meant.
type SeveralError struct{ Lists []Listed }

func (e *SeveralError) Error() string {
	what := "have open steps"
	if slices.ContainsFunc(e.Lists, func(l Listed) bool { return !l.Open }) {
		what = "have had workflows"
	}
	return fmt.Sprintf("%d task lists of this project %s", len(e.Lists), what)
}

// sole returns the list of the project that is meant without a name: with over, of all its lists, else of those with open steps, if there
// are any.
//
// Errors: ErrNoList, *SeveralError.
func (q Query) sole(ctx context.Context) (Found, error) {
	var all []Listed
	var err error
	if !q.Over {
		all, err = openOfProject(ctx, q.Lookup, q.Dir, q.Cleared)
	}
	if len(all) == 0 && err == nil {
		all, err = OfProject(ctx, q.Lookup, q.Dir)
	}
	if err != nil {
		return Found{}, err
	}
	switch len(all) {
	case 0:
		if f, err := q.ofProject(""); err == nil && isUnread(ctx, f.Dir) {
			return f, nil
		}
		return Found{}, q.noList()
	case 1:
		return all[0].Found, nil
	}
	return Found{}, &SeveralError{all}
}

// noList is ErrNoList, with what mends it if there is a list that another user has made, which could be of the project.
func (q Query) noList() error {
	dirs, _ := WithHistory(q.Lookup) // its error was returned
	for _, dir := range dirs {
		if _, err := txn.ReadHistory(dir); errors.Is(err, safefile.ErrOfOther) {
			return fmt.Errorf("%w, but one list cannot be read: %w", ErrNoList, err)
		}
	}
	return ErrNoList
}

// isUnread reports whether a list has a workflow that cannot be read, such as one that another version has recorded.
func isUnread(ctx context.Context, dir string) bool {
	if !exists(dir) {
		return false
	}
	s, err := state.LoadNow(ctx, dir)
	return err == nil && len(s.Troubles) > 0
}

// minName is the least number of characters of a beginning by which a list can be named.
const minName = 4

// ErrNoSuchList is returned when no list has the name, or several lists have names that begin with it.
var ErrNoSuchList = errors.New("no such task list")

// named returns the list with the name, or the only one whose name begins with it.
func (q Query) named() (Found, error) {
	own, ownErr := q.ofProject(q.Named)
	if inherited, _ := q.Lookup("CLAUDE_CODE_SESSION_ID"); inherited == q.Named && q.inClaude() {
		return q.fresh(own) // it need not have a task yet
	}
	dirs, err := everyList(q.Lookup)
	if err != nil {
		return Found{}, err
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	if slices.Contains(dirs, q.Named) {
		return q.at(q.Named), nil
	}
	var exact, called, found []string
	for _, dir := range dirs {
		if nameOfProject(q.Lookup, dir) == q.Named {
			called = append(called, dir)
		}
		if name := filepath.Base(dir); name == q.Named || name == tasks.CleanID(q.Named) || ownErr == nil && dir == own.Dir {
			exact = append(exact, dir)
		} else if len(q.Named) >= minName && (strings.HasPrefix(name, q.Named) || isTeams(name, q.Named)) {
			found = append(found, dir)
		}
	}
	if had := slices.DeleteFunc(slices.Clone(exact), func(dir string) bool { return !hasHad(dir) }); len(had) > 0 {
		exact = had // another one is that of a session which has only started
	}
	ofSession := func(dir string) bool { return nameOfProject(q.Lookup, dir) == "" }
	switch {
	case len(exact) > 1:
		return Found{}, fmt.Errorf("%w: %s is the name of %s", ErrNoSuchList, message.Words(q.Named), namesOf(exact))
	case len(exact) > 0:
		return q.at(exact[0]), nil
	case len(called) == 1 && !slices.ContainsFunc(found, ofSession): // the others have longer names
		return q.at(called[0]), nil
	case len(found) == 1:
		return q.at(found[0]), nil
	case len(found) > 1:
		return Found{}, fmt.Errorf("%w: %s is the beginning of %s", ErrNoSuchList, message.Words(q.Named), namesOf(found))
	}
	if begun := q.sessions(); len(begun) == 1 { // it has no task yet, or it works with a list of another name
		if i := slices.IndexFunc(dirs, func(dir string) bool { return worksWith(begun[0], dir) }); i >= 0 {
			return q.at(dirs[i]), nil
		}
		dir, err := OfSession(OwnOnly(q.Lookup), begun[0])
		return Found{Dir: dir, Session: begun[0]}, err
	}
	switch {
	case q.Begins && len(q.Named) >= minName && (q.inClaude() || q.Who().Kind != caller.Person): // a person's is a mistake in typing
		return q.fresh(own)
	case len(dirs) == 0:
		return Found{}, fmt.Errorf("%w: %s; there is none", ErrNoSuchList, message.Words(q.Named))
	}
	slices.SortStableFunc(dirs, func(a, b string) int { return LastWork(b).Compare(LastWork(a)) })
	return Found{}, fmt.Errorf("%w: %s; there is %s", ErrNoSuchList, message.Words(q.Named), namesOf(dirs))
}

// worksWith reports whether it is on record that a session of Claude Code works with a list: its client does, or it has begun a workflow
// there.
func worksWith(session, dir string) bool {
	st := &state.Store{List: tasks.List{Dir: dir}}
	m, _ := st.Memory()
	if slices.ContainsFunc(m.Clients, func(c state.Client) bool { return c.Session == session && !c.Left }) {
		return true
	}
	r, err := st.OnRecord()
	return err == nil && slices.ContainsFunc(r.Workflows, func(w *workflow.Workflow) bool { return w.Session == session })
}

// isTeams reports whether a list is that of the agent team of a session, whose id it has the first characters of.
func isTeams(name, session string) bool {
	id, ok := strings.CutPrefix(name, tasks.TeamPrefix)
	return ok && id != "" && (strings.HasPrefix(id, session) || strings.HasPrefix(session, id))
}

// hasHad reports whether the list has ever had tasks.
func hasHad(list string) bool {
	_, err := os.Lstat(list)
	return err == nil || !LastWork(list).IsZero()
}

// sessions returns the ids of the sessions of which Claude Code has a transcript, and which are named as a list is.
func (q Query) sessions() (ids []string) {
	config, err := client.ConfigDir(q.Lookup)
	projects, readErr := os.ReadDir(filepath.Join(config, "projects"))
	if err != nil || readErr != nil || len(q.Named) < minName || q.Named != tasks.CleanID(q.Named) {
		return nil
	}
	for _, p := range projects {
		transcripts, _ := os.ReadDir(filepath.Join(config, "projects", p.Name()))
		for _, t := range transcripts {
			id, is := strings.CutSuffix(t.Name(), ".jsonl")
			switch {
			case is && id == q.Named:
				return []string{id}
			case is && strings.HasPrefix(id, q.Named) && !slices.Contains(ids, id):
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// fresh returns a list that does not exist yet: one of the project, but in Claude Code that of the session.
func (q Query) fresh(own Found) (Found, error) {
	if !q.inClaude() {
		return own, nil
	}
	dir, err := OfSession(OwnOnly(q.Lookup), q.Named)
	return Found{Dir: dir, Session: q.Named}, err
}

// at returns the list in a directory.
func (q Query) at(dir string) Found {
	f := Found{Dir: dir, Session: filepath.Base(dir)}
	if root, err := rootDir(q.Lookup); err == nil && filepath.Dir(dir) == root {
		f.Project = Project(q.Lookup, q.Dir)
	}
	return f
}

// namesOf returns the names of lists, the first ones of many; their paths if two have one name.
func namesOf(dirs []string) string {
	const most = 8
	var names []string
	for _, dir := range dirs[:min(len(dirs), most)] {
		name := filepath.Base(dir)
		if slices.ContainsFunc(dirs, func(other string) bool { return other != dir && filepath.Base(other) == name }) {
			name = dir
		}
		names = append(names, message.Words(name))
	}
	if len(dirs) > most {
		names = append(names, fmt.Sprintf("%d more", len(dirs)-most))
	}
	return message.Sentence(names)
}

// ShortName returns the name by which a person names the list in dir: the shortest beginning of its name with which no other list's
// name begins, but no shorter than least says, because another list may come. Of the list of a project that is the name of the project's
// directory, also if others begin with that, so that it stays the same when a list comes. It is the whole name of a list that is not there
// yet, and the path of one if another has the same name.
func ShortName(lookup func(string) (string, bool), dir string) string { return ShortNames(lookup)(dir) }

// ShortNames is ShortName for several lists: it looks once which there are.
func ShortNames(lookup func(string) (string, bool)) func(dir string) string {
	all, err := everyList(lookup)
	return func(dir string) string {
		if err != nil || !slices.Contains(all, dir) {
			return filepath.Base(dir)
		}
		return shortName(lookup, dir, all)
	}
}

var sessionID = pattern.New(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// IsSessionID reports whether a text is the whole id of a session, as the agents show it.
func IsSessionID(text string) bool { return sessionID.Regexp().MatchString(text) }

// ShortNameOnceThere is ShortName for a list that a command is about to create.
func ShortNameOnceThere(lookup func(string) (string, bool), dir string) string {
	all, err := everyList(lookup)
	if err != nil {
		return filepath.Base(dir)
	}
	return shortName(lookup, dir, all)
}

// everyList returns the directories of the lists that are there, or were.
func everyList(lookup func(string) (string, bool)) ([]string, error) {
	all, err := All(lookup)
	if err != nil {
		return nil, err
	}
	with, err := WithHistory(lookup)
	return append(all, with...), err
}

func shortName(lookup func(string) (string, bool), dir string, all []string) string {
	name := filepath.Base(dir)
	called, n := nameOfProject(lookup, dir), least(name)
	if called != "" {
		n = len(called)
	}
	isOther := func(other string) bool {
		if other == dir || !strings.HasPrefix(filepath.Base(other), name[:n]) {
			return false
		}
		of := nameOfProject(lookup, other)
		return n != len(called) || of == "" || of == called
	}
	for n < len(name) && slices.ContainsFunc(all, isOther) {
		n++
	}
	if slices.ContainsFunc(all, func(other string) bool { return other != dir && filepath.Base(other) == name }) {
		return dir
	}
	return name[:n]
}

// Names of lists: ids that are random, those that begin with their time to the millisecond (version 7 of RFC 9562), and teams'.
var (
	random = pattern.New(`^[0-9a-f]+(-[0-9a-f]+)*$`)
	timed  = pattern.New(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-`)
)

// least returns the length of the shortest beginning by which a list is named for a person: it has to name the same list still when others
// have come, and this one is gone. Of a name that somebody has chosen it is the whole.
func least(name string) int {
	id, isTeam := strings.CutPrefix(name, tasks.TeamPrefix)
	n := len(name)
	switch {
	case timed.Regexp().MatchString(id):
		n = len("01234567-0123")
	case random.Regexp().MatchString(id):
		n = minName
	}
	if isTeam {
		n += len(tasks.TeamPrefix)
	}
	return min(n, len(name))
}
