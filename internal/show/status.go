package show

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/presence"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/proof"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/signals"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

const statusLong = `Status shows the state of the workflows in a task list: the next step; each workflow as a
tree of steps, with their gates and the last decision about each; the tasks that belong to
no workflow; the last call, that is the last change that put the steps of a skill into
the list, and whether "fsmtx undo" can undo it; and an interrupted change, if there is one.
It says if steps are not enforced because what is on record about them cannot be read or is
gone, or because a setting keeps the client from running hooks; and how the session works
on open steps: the client's task list, commands or the MCP server. The states of a step are

` + stepWords + `

Steps that are not needed for one reason are one line, if they stand below each other.

--list names a list: by a session's id, a name, or the beginning of
one, of at least four characters, that no other list has. Without it it is the session in
CLAUDE_CODE_SESSION_ID; below another agent that of its session, or of the project; else it is each
list of this project with open steps, in whichever of its work trees and folders. Other
commands do nothing if there are several, and print the line to run for each. --all prints one line for each workflow
of every list, by project, what is unfinished first. --full also prints the description of each step; without
it the done steps of a list of more than 50 are folded.

--watch shows the status on the whole terminal and redraws it when the list changes, until q
is pressed. The step that is worked on stays in view, and what is done is folded; the arrow
keys, Page Up and Page Down scroll, f follows the work again, and d unfolds what is done.
--notify rings the terminal's bell when the work begins to wait for you, in any list of the
project: for an approval, or for the decision how a step ends. Without --list it waits for the first workflow of this
project, and goes on to the list of the next one.

--json prints an object with list, next (numbers of the steps that can be worked on),
workflows, manual (tasks with id, subject, status, owner, blockedBy), last (a call as
"fsmtx log --json" prints it, or null), undo (possible, restores, removes), pending
(clean, rolled back or committed: what "fsmtx recover" would report; or unknown, and then
pending_error says why) and troubles (why the steps are not enforced, or not fully); of
several lists an object with lists, an array of such objects.
A workflow has skill, spec, done, skipped (or gone), notNeeded, open, total, begunBy (who and
how), agent (name and version, as far as they are known), values (all that it has, by name) and steps:
an array of objects with id, skill, subject, description, state (one
of the above), status (of the task file), blockedBy, produces, ready, check, approval, only, owner
and evidence (time, from, to, verdict, why, check, by; with rule it is about a call, and with
permit about a person's yes to one).
A step also has outcome (in which it ended, "" while it is open), outcomes
(name, back, max, used, then, chosenBy: agent, person, command or machine), decides (by and
run), when, round (from 1), parent (the step that it is under, 0 if none), values (that it
gave, by name), set (the values that it sets: name, pattern, oneOf, command), within (its
time limit in seconds, 0 if none) and over (the seconds since that has passed).
A step that is done for lines has each and, once they are read, items (the lines) and
itemsDone (a number); a step that is done for a line, or a part of it, has item.

The object of a list also has time (of the last work), atWork (the client of its session
runs) and waits (what waits for you: the commands that answer).

With --all --json it prints an object with projects, each with dir (of all its work trees and
folders) and workflows: objects with list, session, skill, dir (where its gates look), done,
skipped, notNeeded, open, total, ended (over, and not all done), next (a subject), time, atWork and waits.`

type statusFlags struct{ all, watch, notify, full, json bool }

func NewStatus(s terminal.Streams) *cobra.Command {
	var f statusFlags
	var named string
	c := &cobra.Command{
		Use:   "status",
		Short: "Show the state of the workflows in a task list",
		Long:  statusLong,
		Example: command.Example("fsmtx status", "fsmtx status --watch --notify", "fsmtx status --all",
			"fsmtx status --list 0b54 --json"),
		Args:              command.AtMostANumber,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signals.Interruptible(c.Context())
			defer stop()
			return f.run(ctx, s, named)
		},
	}
	c.Flags().BoolVar(&f.all, "all", false, "print one line for each workflow of every list")
	c.Flags().BoolVar(&f.watch, "watch", false, "redraw when the list changes, until q is pressed")
	c.Flags().BoolVar(&f.notify, "notify", false, "with --watch: ring the bell when the work waits for you")
	c.Flags().BoolVar(&f.full, "full", false, "also print the description of each step")
	c.Flags().BoolVar(&f.json, "json", false, "print the result as JSON")
	command.NameList(s, c, &named)
	c.MarkFlagsMutuallyExclusive("all", "watch")
	c.MarkFlagsMutuallyExclusive("watch", "json")
	return c
}

func (f statusFlags) run(ctx context.Context, s terminal.Streams, session string) error {
	if f.notify && !f.watch {
		return command.Fail(command.ExitUsage, errors.New("--notify needs --watch"), "run fsmtx status --watch --notify")
	}
	if f.all {
		if session != "" {
			return command.Fail(command.ExitUsage, errors.New("--all cannot be combined with --list"), "run fsmtx status --help")
		}
		return statusOfAll(ctx, s, f.json)
	}
	if f.watch {
		w := watch{notify: f.notify}
		if err := w.choose(ctx, s, session); err != nil {
			return err
		}
		return watchStatus(ctx, s, &w)
	}
	var several *tasklist.SeveralError
	found, err := tasklist.Find(ctx, tasklist.Query{Lookup: s.Getenv, Named: session, Who: s.Who, Cleared: true})
	if errors.As(err, &several) {
		return f.each(ctx, s, several.Lists)
	}
	list, chosen, err := command.ChooseList(ctx, s, session, false)
	if err != nil && session == "" && found.Dir != "" { // its tasks are gone, with steps that were open
		list, chosen, err = command.ChooseList(ctx, s, found.Dir, false)
	}
	if err != nil {
		return err
	}
	st, err := readStatus(ctx, s, list)
	if err != nil {
		return err
	}
	st.look(s)
	if f.json {
		return command.PrintJSON(s.Out, st.shown())
	}
	return st.print(s, chosen, f.full)
}

// each prints the status of each of the lists.
func (f statusFlags) each(ctx context.Context, s terminal.Streams, lists []tasklist.Listed) error {
	all := []shownStatus{}
	for i, l := range lists {
		st, err := readStatus(ctx, s, tasks.List{Dir: l.Dir, Wait: tasklist.Wait})
		if err != nil {
			return err
		}
		st.look(s)
		if all = append(all, st.shown()); f.json {
			continue
		}
		if i > 0 {
			_, _ = s.Out.Write([]byte{'\n'})
		}
		if err := st.print(s, "task list "+l.Dir, f.full); err != nil {
			return err
		}
	}
	if f.json {
		return command.PrintJSON(s.Out, map[string]any{"lists": all})
	}
	return nil
}

// print prints the status and, with full, the descriptions of the steps. Lines are cut only for a
// terminal.
func (st *status) print(s terminal.Streams, chosen string, full bool) error {
	st.full = full
	if _, err := s.Out.Write([]byte(st.text(chosen, s.Limit(s.Out), s.Colour(s.Out)))); err != nil || !full {
		return err
	}
	return printDescriptions(s.Out, st.steps, st.way())
}

// status is the state of a task list at one moment.
type status struct {
	list       tasks.List
	name       string // by which a person names the list
	forAgent   bool   // an agent reads it
	atWork     bool   // a client runs that works on it
	steps      *state.State
	troubles   []error  // why the steps are not enforced, or not fully
	cleared    []string // which workflows have no task any more, with steps that were open, and how these come back
	observing  string   // that nothing is refused, and where that is registered; empty if the steps are enforced
	off        []string // the switches that keep the client from running the hooks
	full       bool     // nothing is folded
	works      string   // how the session works on open steps; empty if it is not Claude Code's
	tasks      []tasks.Task
	last       *Hydration
	replaced   []string   // what workflows in the list have replaced, unfinished
	target     *Hydration // of fsmtx undo, nil if there is none
	undo       tasks.Undoing
	undoErr    error
	pending    txn.Report
	pendingErr error

	interrupted string // why nothing else is known, and what to do; empty unless a change was interrupted
}

func readStatus(ctx context.Context, s terminal.Streams, list tasks.List) (*status, error) {
	st := &status{list: list, name: tasklist.ShortName(s.Getenv, list.Dir), atWork: presence.IsAlive(list.Dir)}
	var err error
	st.forAgent = s.Who().Kind == caller.Agent
	known := storeOf(list.Dir)
	st.pending, st.pendingErr = tasklist.Inspect(ctx, list.Dir)
	if err := tasklist.Interrupted(ctx, s.Getenv, list.Dir); err != nil {
		st.steps, st.interrupted = new(state.State), message.Error(err)+"; "+message.Hint(err)
		if st.pending.Outcome == txn.Clean { // a continuation
			st.pending.Outcome = txn.Committed
		}
		return st, nil
	}
	if st.steps, err = known.Whole(ctx); err != nil {
		return nil, err
	}
	list.Changed = st.steps.Rewritten()
	if st.tasks, err = tasks.Tasks(ctx, list.Dir, st.steps.Task); err != nil {
		return nil, err
	}
	st.troubles = st.steps.AllTroubles(st.tasks)
	for _, w := range st.steps.Cleared() {
		st.cleared = append(st.cleared,
			clearedText(w, st.steps)+"; "+bringBack(s, w, list.Dir))
	}
	all, _, err := readHistories(known, true)
	history, _ := known.History()
	if err != nil && len(st.troubles) == 0 {
		st.troubles = []error{err}
	}
	if len(all) > 0 {
		st.last = &all[len(all)-1]
	}
	for _, h := range all {
		if len(h.Lost) > 0 && h.State == inList {
			st.replaced = append(st.replaced, workflow.HasReplaced(h.Skill, h.Lost, undoLine(list, history, st.name, h)))
		}
	}
	if h, ok := lastToUndo(all); ok {
		st.target = &h
		if st.undo, st.undoErr = list.PlanUndo(history, h.ID, false); errors.Is(st.undoErr, tasks.ErrContinued) {
			text, back := wentOn(ctx, s, list.Dir, all, h)
			st.undoErr = message.WithHint(message.Lines("its workflow "+text), back)
		}
	}
	return st, nil
}

// clearedText says that the tasks of a workflow are gone.
func clearedText(w *workflow.Workflow, s *state.State) string {
	return message.Sprintf("the task files of %s are gone, with steps open: %s", w.Command, state.Names(s.Emptied(w)))
}

// look finds the switches that keep the client from running the hooks where open steps were begun, and how the session
// works on them, if the list is Claude Code's. That the settings cannot be read is for doctor to report.
func (st *status) look(s terminal.Streams) {
	own, err := tasklist.OfSession(tasklist.OwnOnly(s.Getenv), filepath.Base(st.list.Dir))
	open := slices.IndexFunc(st.steps.Steps, func(c *state.Current) bool { return !c.Done() && c.Workflow.Dir != "" })
	if err != nil || open < 0 {
		return
	}
	dir := st.steps.Steps[open].Workflow.Dir
	if own != st.list.Dir {
		if !tasklist.IsOfProject(s.Getenv, st.list.Dir) {
			return
		}
		registered := hook.Registered(s.Getenv, dir)
		if where := hook.ChecksAreOff(registered); where != "" {
			st.off = append(st.off, where)
		}
		if s.Who().Kind != caller.Agent { // as hook.Observing has it
			st.observing = hook.Observes(registered)
		}
		return
	}
	found, _ := install.HooksOff(s, dir)
	for _, f := range found {
		st.off = append(st.off, f.Place()+f.What)
	}
	if len(st.off) == 0 {
		registered := hook.Registered(s.Getenv, dir)
		if where := hook.ChecksAreOff(registered); where != "" {
			st.off = append(st.off, where)
		}
		st.observing = hook.Observes(registered)
	}
	st.works = install.Works(s.Getenv, dir)
	for _, e := range st.steps.Evidence {
		if e.By.Who == state.TheAgent {
			st.works = cmp.Or(map[state.How]string{state.ByUpdate: install.ByList, state.ByShell: install.ByCommands(),
				state.ByCommand: install.ByCommands(),
				state.ByMCP:     install.ByTools()}[e.By.How], st.works)
		}
	}
}

// way returns how the agent of the session works, in whose words the steps are described.
func (st *status) way() progress.Way {
	return progress.Way{Kind: map[string]progress.Kind{install.ByList: progress.TaskTools, install.ByTools(): progress.Tools}[st.works]}
}

// task returns the task of a step in the list, a zero task if it is not there.
func (st *status) task(id int64) (t tasks.Task) {
	for _, t := range st.tasks {
		if t.ID == strconv.FormatInt(id, 10) {
			return t
		}
	}
	return t
}

// manual returns the tasks that are not steps of a workflow.
func (st *status) manual() (manual []tasks.Task) {
	for _, t := range st.tasks {
		id, err := strconv.ParseInt(t.ID, 10, 64)
		if err != nil || st.steps.Step(id) == nil {
			manual = append(manual, t)
		}
	}
	return manual
}

// undoLine returns the command that undoes a hydration now; empty if there is none.
func undoLine(list tasks.List, history []txn.Entry, name string, h Hydration) string {
	flags, ok := list.HowToUndo(history, h.ID)
	if !ok {
		return ""
	}
	return shell.Join(append([]string{"fsmtx", "undo", "--list", name, strconv.FormatInt(h.Number, 10)}, flags...)...)
}

// undoLine returns the command that undoes the change with a number.
func (st *status) undoLine(number int64, more ...string) string {
	return shell.Join(append([]string{"fsmtx", "undo", "--list", st.name, strconv.FormatInt(number, 10)}, more...)...)
}

// recovers returns the command that finishes an interrupted change.
func (st *status) recovers() string { return shell.Join("fsmtx", "recover", "--list", st.name) }

// undoable reports whether fsmtx undo would undo a call, without --force.
func (st *status) undoable() bool { return st.target != nil && st.undoErr == nil }

// waitsFor begins a line with a command that only a person may run.
func waitsFor(agentReads bool) string {
	if agentReads {
		return "waits for the person, who can run "
	}
	return "waits for you: "
}

// forPerson returns a command that only a person may run.
func forPerson(agentReads bool, line string) string {
	if agentReads {
		return "the person's " + line
	}
	return line
}

// undoing describes what fsmtx undo would do.
func (st *status) undoing() string {
	it := "it"
	switch {
	case st.target == nil && st.last.State == undoing:
		return "fsmtx undo has nothing to undo; " + st.undoLine(st.last.Number) + " restores what this one undid"
	case st.target == nil:
		return "fsmtx undo has nothing to undo"
	case st.target.ID != st.last.ID:
		it = "call " + nameOf(*st.target)
	}
	if worked, ok := errors.AsType[*tasks.WorkedOnError](st.undoErr); ok {
		return it + map[bool]string{true: " has no task files any more; ", false: " was worked on since; "}[worked.Gone] +
			forPerson(st.forAgent, st.undoLine(st.target.Number, "--force")) + " takes it back"
	}
	if !st.undoable() {
		return it + " cannot be undone" + why(st.undoErr)
	}
	return fmt.Sprintf("%s undoes %s: %d restored, %d removed", st.undoLine(st.target.Number), it,
		len(st.undo.Restored), len(st.undo.Removed))
}

// nextTo prints the next step with line.
func (st *status) nextTo(line func(string, ...any)) {
	started, ready := st.steps.Work()
	ready = append(started, ready...)
	switch {
	case len(st.steps.Steps) == 0:
		line("no workflow is in the list")
	case len(ready) > 0:
		line("next: #%d %s (%s)", ready[0].ID, ready[0].Subject, st.steps.Word(ready[0]))
	case st.steps.HasOpen():
		line("next: nothing can be started; each open step waits for another one")
	case len(st.cleared) > 0:
		line("next: nothing, until the tasks are back")
	case len(st.steps.Missing()) > 0:
		line("next: nothing, no other step is open")
	default:
		line("next: nothing, no step is open")
	}
}

// details returns the state in words, the blockers other than the parent, and the owner.
func (st *status) details(c *state.Current, word state.Word, parent int64) string {
	parts := []string{string(word)}
	if word == state.IsDone && c.Outcome != "" && c.Outcome != string(word) {
		parts[0] += " as " + c.Outcome
	}
	if other := st.steps.Otherwise(c); other != "" {
		parts = append(parts, other)
	}
	if over := st.steps.OverText(c); over != "" {
		parts = append(parts, over)
	}
	var others []string
	for _, id := range c.BlockedBy {
		if id != parent {
			others = append(others, fmt.Sprintf("#%d", id))
		}
	}
	if len(others) > 0 {
		also := "after "
		if parent != 0 {
			also = "also after "
		}
		parts = append(parts, also+strings.Join(others, ", "))
	}
	if owner := owned(st.task(c.ID)); owner != "" {
		parts = append(parts, strings.TrimPrefix(owner, ", "))
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

func owned(t tasks.Task) string {
	if t.Owner == "" {
		return ""
	}
	return ", owner " + t.Owner
}

// workTo prints with line when the list was last worked on, if a step is open, and whether a client runs that works on it.
func (st *status) workTo(line func(string, ...any)) {
	if !st.steps.HasOpen() {
		return
	}
	work := st.waits()
	text := ""
	if work.Time.IsZero() { // the state directory cannot be read
		return
	}
	if work.AtWork {
		text = "; its client runs"
	}
	line("last worked on %s%s", work.Time.Local().Format("2006-01-02 15:04"), text)
}

// lastTo prints the last hydration and an interrupted change with line.
func (st *status) lastTo(line func(string, ...any)) {
	line("")
	st.workTo(line)
	switch {
	case st.last == nil:
		line("last call: none is on record")
	default:
		line("last call: %s, %s, %s: %s, %s", nameOf(*st.last), when(*st.last), quoted(st.last.Skill), cameAndWent(*st.last),
			outcomeOf(*st.last))
		line("%s", st.undoing())
	}
	for _, text := range st.replaced {
		line("%s", text)
	}
	switch {
	case errors.Is(st.pendingErr, txn.ErrLocked):
		line("it could not be found out whether a change was interrupted, because one is under way: %v", st.pendingErr)
	case errors.Is(st.pendingErr, safefile.ErrOfOther): // the troubles say it
	case st.pendingErr != nil:
		line("interrupted change: %v; run %s for details", st.pendingErr, st.recovers())
	}
}

func why(err error) string {
	if err == nil {
		return ": none of its changes are left"
	}
	text := ": " + err.Error()
	if hint := message.Hint(err); hint != "" {
		text += "; " + hint
	}
	return text
}

// bar draws a progress bar of width characters.
func bar(done, all, width int) string {
	n := 0
	if all > 0 {
		n = done * width / all
	}
	return "[" + strings.Repeat("#", n) + strings.Repeat("-", width-n) + "]"
}

// node is a step in the tree. Its parent is the deepest of its blockers.
type node struct {
	*state.Current
	depth  int
	parent int64 // 0 if it has no blocker
}

// tree returns the steps of a workflow in the order in which they are drawn, each after its
// parent. A blocker that closes a cycle is ignored.
func tree(s *state.State, w *workflow.Workflow) []node {
	nodes := map[int64]*node{}
	var place func(c *state.Current, path []int64) *node
	place = func(c *state.Current, path []int64) *node {
		if n := nodes[c.ID]; n != nil {
			return n
		}
		n := &node{Current: c}
		for _, id := range c.BlockedBy {
			b := s.Step(id)
			if b == nil || b.Workflow != w || id == c.ID || slices.Contains(path, id) {
				continue
			}
			if above := place(b, append(path, c.ID)); above.depth >= n.depth {
				n.depth, n.parent = above.depth+1, id
			}
		}
		nodes[c.ID] = n
		return n
	}
	below := map[int64][]*node{}
	for _, c := range s.In(w) {
		n := place(c, nil)
		below[n.parent] = append(below[n.parent], n)
	}
	var all []node
	var walk func(parent int64)
	walk = func(parent int64) {
		slices.SortFunc(below[parent], func(a, b *node) int { return cmp.Compare(a.ID, b.ID) })
		for _, n := range below[parent] {
			all = append(all, *n)
			walk(n.ID)
		}
	}
	walk(0)
	return all
}

type shownStatus struct {
	List       string          `json:"list"`
	Next       []int64         `json:"next"`
	Workflows  []shownWorkflow `json:"workflows"`
	Manual     []tasks.Task    `json:"manual"`
	Last       *Hydration      `json:"last"`
	Undo       shownUndo       `json:"undo"`
	Pending    string          `json:"pending"`
	PendingErr string          `json:"pending_error"`
	Troubles   []string        `json:"troubles"`
	shownWaits
}

type shownWorkflow struct {
	Skill   string `json:"skill"`
	Spec    string `json:"spec"`
	Changed bool   `json:"changed"` // its fsm.json is another one than when it began, or is gone
	shownCount
	BegunBy *proof.Beginner `json:"begunBy"` // null if it is not on record
	Agent   proof.Agent     `json:"agent"`

	Reloaded *workflow.Reloaded `json:"reloaded"` // null unless a person has replaced its fsm.json by this one
	Values   map[string]string  `json:"values"`
	Steps    []shownOwnedStep   `json:"steps"`
}

// shownCount is how many steps are in which state.
type shownCount struct {
	Done      int `json:"done"`
	Skipped   int `json:"skipped"` // or gone
	NotNeeded int `json:"notNeeded"`
	Open      int `json:"open"`
	Total     int `json:"total"`
}

func shownOf(n state.Count) shownCount {
	return shownCount{n.Done, n.Skipped, n.NotNeeded, n.Open, n.All()}
}

type shownOwnedStep struct {
	shownStep
	Owner string `json:"owner"`
}

type shownUndo struct {
	Possible bool `json:"possible"`
	Restores int  `json:"restores"`
	Removes  int  `json:"removes"`
}

func (st *status) shown() shownStatus {
	out := shownStatus{
		List: st.list.Dir, Next: []int64{}, Workflows: []shownWorkflow{}, Manual: append([]tasks.Task{}, st.manual()...), Last: st.last,
		Undo:    shownUndo{st.undoable(), len(st.undo.Restored), len(st.undo.Removed)},
		Pending: string(cmp.Or(st.pending.Outcome, txn.Clean)), Troubles: []string{},
		shownWaits: st.waits(),
	}
	if st.interrupted != "" {
		out.Troubles = append(out.Troubles, st.interrupted)
	}
	for _, trouble := range st.troubles {
		out.Troubles = append(out.Troubles, trouble.Error())
	}
	out.Troubles = slices.Concat(out.Troubles, st.cleared, st.off, st.steps.Differs())
	for _, w := range st.steps.Workflows() {
		if away := st.awayOf(w); away != "" {
			out.Troubles = append(out.Troubles, tasklist.AwayText(w, away, st.name))
		}
	}
	if st.observing != "" {
		out.Troubles = append(out.Troubles, st.observing)
	}
	if st.pendingErr != nil {
		out.Pending, out.PendingErr = "unknown", st.pendingErr.Error()
	}
	for _, c := range st.steps.Ready() {
		out.Next = append(out.Next, c.ID)
	}
	for _, w := range st.steps.Workflows() {
		n := st.steps.CountOf(st.steps.In(w))
		by, agent := proof.BegunBy(w)
		what, _ := st.changeOf(w)
		shown := shownWorkflow{w.Command, w.Spec, what != "", shownOf(n), by, agent, w.Reloaded, map[string]string{}, []shownOwnedStep{}}
		maps.Copy(shown.Values, st.steps.Values(w))
		for _, c := range st.steps.In(w) {
			shown.Steps = append(shown.Steps, shownOwnedStep{shownStepOf(st.steps, c, st.way()), st.task(c.ID).Owner})
		}
		out.Workflows = append(out.Workflows, shown)
	}
	return out
}
