package show

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/graph"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/pattern"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// stepWords explains the states of steps, in the help of the commands that show them.
const stepWords = `  ● done             completed, and its gates passed
  » skipped          a person skipped it
  ◐ in progress      started
  ○ ready            the steps before it are done
  … checking         its check is running
  ? unchecked        completed without its gates; they are checked at the next update
  ! waiting for a person  they are asked about it, or say how it ends
  ◌ blocked          a step before it is open
  ⊘ not needed       its conditions do not hold, or the workflow was ended
  ✗ gone             removed from the list; counts as skipped
  ? not on record    what is on record of it cannot be read`

// viewRow is a line of the state of a list. message.Line and the width of the terminal are
// applied when it is drawn.
type viewRow struct {
	text   string
	state  state.Word // of the step that it is about; empty if it is about none
	detail bool       // it belongs to the row of the step above it
}

// view is how the state of a list is shown.
type view struct {
	rows   []viewRow
	folded bool // what is done is folded, and details are shown only of steps to work on
}

func (v *view) line(format string, args ...any) {
	v.rows = append(v.rows, viewRow{text: fmt.Sprintf(format, args...)})
}

// awayOf says what has become of the directory of an open workflow; see state.AwayText.
func (st *status) awayOf(w *workflow.Workflow) string {
	if st.steps.Parent(w) != nil || len(st.steps.OpenIn(w)) == 0 {
		return ""
	}
	return state.AwayText(w)
}

// changeOf says in what the fsm.json of an open workflow is not as it was when it began; see state.FileChange.
func (st *status) changeOf(w *workflow.Workflow) (what string, takes bool) {
	if st.steps.Parent(w) != nil || len(st.steps.OpenIn(w)) == 0 {
		return "", false
	}
	return state.FileChange(w)
}

// most is how many steps are printed one by one.
const most = 50

// text returns the state as it is printed. columns limits the length of a line.
func (st *status) text(chosen string, columns int, colour bool) string {
	var b strings.Builder
	if st.observing != "" {
		message.Fprintf(&b, "%s\n", st.observing)
	}
	b.WriteString(message.Line(chosen) + "\n") // not cut: its path must stay usable
	if st.interrupted != "" {
		message.Fprintf(&b, "%s\n", st.interrupted)
		return b.String()
	}
	for _, trouble := range st.troubles {
		message.Fprintf(&b, "not fully enforced: %v%s\n", trouble, state.WithRemedy(trouble)) // not cut
	}
	for _, text := range st.cleared {
		message.Fprintf(&b, "not enforced: %s\n", text)
	}
	for _, off := range st.off {
		message.Fprintf(&b, "not enforced: %s\n", off)
	}
	for _, text := range st.steps.Differs() {
		message.Fprintf(&b, "%s\n", text)
	}
	if st.steps.Misshapen() {
		message.Fprintf(&b, "tasks of the list are still to be created or taken out: the next command or event of the session does it\n")
	}
	st.changesTo(&b)
	if st.works != "" {
		message.Fprintf(&b, "the session works %s\n", st.works)
	}
	v := &view{folded: !st.full && len(st.steps.Steps) > most && st.steps.HasOpen()}
	st.nextTo(v.line)
	st.workflowsTo(v)
	if v.folded {
		v.line("  (of more than %d steps, those that have ended are folded: fsmtx status --full has all)", most)
	}
	if manual := st.manual(); len(manual) > 0 {
		v.line("")
		v.line("manual tasks: %d", len(manual))
		for _, t := range manual {
			v.line("  #%s %s (%s%s)", t.ID, t.Subject, t.Status, owned(t))
		}
	}
	st.lastTo(v.line)
	if legend := st.legend(); legend != "" {
		v.line("")
		v.line("%s", legend)
	}
	for _, r := range wrapCommands(v.rows, columns) {
		b.WriteString(r.draw(columns, colour) + "\n")
	}
	return b.String()
}

// changesTo writes of each workflow that its directory is elsewhere, or that its fsm.json is another one now.
func (st *status) changesTo(b *strings.Builder) {
	for _, w := range st.steps.Workflows() {
		if away := st.awayOf(w); away != "" {
			message.Fprintf(b, "%s\n", tasklist.AwayText(w, away, st.name))
		} else if what, takes := st.changeOf(w); takes && st.steps.CannotReload(w) != "" {
			message.Fprintf(b, "%s: its fsm.json %s, and cannot be reloaded: %s: %s\n", message.Words(w.Command), what,
				st.steps.CannotReload(w), state.InsteadOfReload)
		} else if takes {
			message.Fprintf(b, "%s: its fsm.json %s: fsmtx step reload --because \"...\" %s takes the new one\n", message.Words(w.Command),
				what, shell.Join("--list", st.name))
		} else if what != "" {
			message.Fprintf(b, "%s: its fsm.json %s; its steps and gates stay those of then: %s\n",
				message.Words(w.Command), what, message.Line(w.Spec))
		}
	}
}

const (
	value = `(?:"[^"]*"|'[^']*'|[^ ;,]+)`
	flags = `(?: (?:[0-9]+|--(?:force|with-blockers|json)\b|--(?:list|to|because|outcome|set) ` + value + `))*`
)

// typed matches a command that somebody has to type, without the prose around it.
var typed = pattern.New(`fsmtx [a-z]+(?: [^ ;]+)*? --list ` + value + flags + `|fsmtx step [a-z]+` + flags)

// wrapCommands returns the rows so that draw cuts off no command that somebody has to type: where it does not fit, it begins a row, and is
// continued as in a shell, so that it can be pasted; what is said of it is not.
func wrapCommands(rows []viewRow, columns int) (all []viewRow) {
	for _, r := range rows {
		text := message.Line(r.text)
		at := typed.Regexp().FindAllStringIndex(text, -1)
		if len(at) == 0 || terminal.Width(text) <= columns {
			all = append(all, r)
			continue
		}
		detail, from := r.detail, 0
		add := func(indent, line string) {
			all = append(all, viewRow{indent + line, r.state, detail})
			detail = true
		}
		indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
		prose := func(to int) {
			if part := strings.TrimSpace(strings.TrimPrefix(text[from:to], ";")); part != "" {
				for _, line := range terminal.Wrap(part, columns-len(indent)) {
					add(indent, line)
				}
			}
		}
		for i, command := range at {
			prose(command[0])
			lines := terminal.Wrap(text[command[0]:command[1]], columns-len(indent)-len(`   \`))
			for _, line := range lines[:len(lines)-1] {
				add(indent+"  ", line+` \`)
			}
			end, last := len(text), lines[len(lines)-1]
			if from = command[1]; i < len(at)-1 {
				end = at[i+1][0]
			}
			if after := strings.TrimRight(text[from:end], " "); len(indent)+2+terminal.Width(last+after) <= columns {
				last, from = last+after, end
			}
			add(indent+"  ", last)
		}
		prose(len(text))
	}
	return all
}

// draw returns the line for a terminal.
func (r viewRow) draw(columns int, colour bool) string {
	text := terminal.Cut(message.Line(r.text), columns)
	if r.state == "" || !colour {
		return text
	}
	return "\x1b[" + graph.Colour(string(r.state)) + "m" + text + "\x1b[0m"
}

// legend explains the signs of the states that occur.
func (st *status) legend() string {
	var words []string
	for _, word := range state.Words() {
		if slices.ContainsFunc(st.steps.Steps, func(c *state.Current) bool { return st.steps.Word(c) == word }) {
			words = append(words, graph.Sign(string(word))+" "+string(word))
		}
	}
	return strings.Join(words, "   ")
}

// workflowsTo adds the rows of all workflows to the view.
func (st *status) workflowsTo(v *view) {
	for _, w := range st.steps.Workflows() {
		if st.steps.Parent(w) == nil {
			v.line("")
			st.workflowTo(v, w, 0)
		}
	}
}

const deepest = 8 // a deeper step is not moved further to the right

// workflowTo adds the rows of a workflow, and of the workflows under its steps below these.
func (st *status) workflowTo(v *view, w *workflow.Workflow, depth int) {
	n, ended := st.steps.CountIn(w), st.steps.EndText(w)
	if n.All() == 0 { // others come in the place of its steps
		return
	}
	over := n.All() - n.Open - n.Gone
	if ended != "" {
		over -= n.NotNeeded
	}
	indented := strings.Repeat("  ", min(depth, deepest))
	title := fmt.Sprintf("%s%s: %v %s", indented, workflowTitle(st.steps, w), n, bar(over, n.All(), 20))
	if !v.folded && st.steps.Parent(w) == nil {
		title = strings.TrimRight(title+" "+w.Spec, " ")
	}
	v.line("%s", title)
	if ended != "" {
		v.line("%s  %s", indented, ended)
	}
	if begun := w.Begun(); begun != "" && !v.folded && st.steps.Parent(w) == nil {
		v.line("  begun by %s", begun)
	}
	if again := w.Reloaded; again != nil && !v.folded && st.steps.Parent(w) == nil {
		v.line("  its fsm.json was reloaded by the %s %s: %s", again.Who, decisions.Way(string(again.How)), message.Words(again.Because))
	}
	steps := rows(st.steps, tree(st.steps, w))
	for i := 0; i < len(steps); i++ {
		row, n := steps[i], steps[i][0]
		word := st.steps.Word(n.Current)
		indent := strings.Repeat("  ", min(depth+n.depth, deepest))
		add := func(detail bool, format string, args ...any) {
			v.rows = append(v.rows, viewRow{"  " + indent + fmt.Sprintf(format, args...), word, detail})
		}
		if until := st.doneUntil(steps, i); v.folded && until > i+1 {
			add(false, "%s #%d to #%d: %s", graph.Sign(string(state.IsDone)), n.ID, steps[until-1][0].ID, st.countText(steps[i:until]))
			i = until - 1
			continue
		}
		if isFolded(st.steps, n) {
			add(false, "%s %s", graph.Sign(string(word)), foldedText(row))
			continue
		}
		add(false, "%s #%d %s%s", graph.Sign(string(word)), n.ID, n.Subject+n.Rounds()+st.steps.Items(n.Current),
			st.details(n.Current, word, n.parent))
		for _, detail := range st.detailsOf(n, v.folded) {
			add(true, "    %s", detail)
		}
		for _, under := range st.steps.Workflows() {
			if p := st.steps.Parent(under); p != nil && p.ID == n.ID && !(v.folded && n.Done()) {
				st.workflowTo(v, under, depth+n.depth+2)
			}
		}
	}
}

// countText says how the steps of these rows have ended.
func (st *status) countText(all [][]node) string {
	var steps []*state.Current
	for _, row := range all {
		steps = append(steps, row[0].Current)
	}
	n := st.steps.CountOf(steps)
	if n.Done == len(steps) {
		return terminal.Count(n.Done, "step") + " done"
	}
	return n.String()
}

// doneUntil returns the index behind the steps from i on that are done, one below the other.
func (st *status) doneUntil(all [][]node, i int) int {
	for i < len(all) && all[i][0].Done() {
		i++
	}
	return i
}

// detailsOf returns the gates of a step, how it can end and what was decided about it, a line
// each; in a folded view only of a step that is in progress or ready.
func (st *status) detailsOf(n node, folded bool) (all []string) {
	c := n.Current
	if folded && (c.Done() || st.steps.Word(c) == state.Blocked) {
		return nil
	}
	for _, line := range append(c.Demands(), flowOf(st.steps, c)...) {
		if !strings.HasPrefix(line, "after ") {
			all = append(all, line)
		}
	}
	switch {
	case waitsForYou(st.steps, c, st.atWork) || st.steps.AwaitsPerson(c) && !c.Done():
		for _, line := range gates.DoneCommands(st.steps, c, "--list "+shell.Join(st.name)) {
			all = append(all, waitsFor(st.forAgent)+line)
		}
	case !st.forAgent && waitsForYou(st.steps, c, false):
		all = append(all, "the agent's turn: it asks you how this ends")
	}
	if last := lastWord(st.steps, c); last != "" {
		all = append(all, strings.TrimSpace(last))
	}
	return all
}
