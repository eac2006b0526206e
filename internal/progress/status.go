package progress

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// Status is the answer of workflow_status. The library derives the answer's schema from it.
type Status struct {
	Skill   string `json:"skill,omitempty" jsonschema:"the skill that the workflow belongs to"`
	Message string `json:"message" jsonschema:"how far the workflow is, and what to do next"`
	Steps   []Step `json:"steps" jsonschema:"every step, by number"`
	Current []Full `json:"current,omitempty" jsonschema:"the steps in progress, else those that are ready, with their full text"`
}

// Step is one step of a workflow.
type Step struct {
	Number   int64   `json:"number" jsonschema:"the number that the tools take"`
	Subject  string  `json:"subject"`
	State    string  `json:"state" jsonschema:"such as ready, in progress, waiting for a person, or unchecked: completed and not tested yet"`
	WaitsFor []int64 `json:"waits_for,omitempty" jsonschema:"numbers of the steps that must be done before this one can be completed"`
	Items    string  `json:"items,omitempty" jsonschema:"for how many lines it is done, each with its own tasks, and how many are done"`
	Item     string  `json:"item,omitempty" jsonschema:"the line for which this step is done: another one is the same for another line"`
	Parent   int64   `json:"parent,omitempty" jsonschema:"number of the step that this one is under: it is a part of the work of that step"`
}

// Full is a step with everything that the agent needs to work on it.
type Full struct {
	Step
	Description string   `json:"description,omitempty"`
	Needs       []string `json:"needs,omitempty" jsonschema:"files that must exist when the step is started"`
	Produces    []string `json:"produces,omitempty" jsonschema:"files that must exist when the step is completed"`
	Check       string   `json:"check,omitempty" jsonschema:"the command that must exit with 0 when the step is completed"`
	Approval    string   `json:"approval,omitempty" jsonschema:"what a person has to approve when the step is completed"`
	Outcomes    []string `json:"outcomes,omitempty" jsonschema:"how the step can end: the outcomes from which step_complete takes one"`
	Sets        []string `json:"sets,omitempty" jsonschema:"the values that step_complete has to give, each with what it has to be"`
	Conditions  []string `json:"conditions,omitempty" jsonschema:"what else has to hold when the step is completed"`
	TimeLimit   string   `json:"time_limit,omitempty" jsonschema:"how long the step may take from its start, and by how much it is over"`
	unrun       string   // the command that would have to exit with 0 if checks were not off
	inShell     string   // of the check, unless that is sh
	approve     string   // the command with which the person approves it, if nobody asks them here
	Decides     string   `json:"decides,omitempty" jsonschema:"who says how it ends, if that is not you: person or command"`
}

// Of returns the status of the steps. note is put before the message.
func (w Way) Of(s *state.State, note string) Status {
	status := Status{Message: w.message(s), Steps: []Step{}}
	if note != "" {
		status.Message = note + " " + status.Message
	}
	var skills []string
	for _, f := range s.Workflows() {
		if command := message.Words(f.Command); !slices.Contains(skills, command) {
			skills = append(skills, command)
		}
	}
	status.Skill = strings.Join(skills, ", ")
	for _, c := range s.Steps {
		status.Steps = append(status.Steps, stepOf(s, c))
	}
	for _, c := range current(s) {
		status.Current = append(status.Current, w.fullOf(s, c))
	}
	return status
}

// List returns the steps for people, a line each, under the name of the skill; empty if there are none.
func (s Status) List() string {
	if len(s.Steps) == 0 {
		return ""
	}
	text := s.Skill + "\n"
	for _, step := range s.Steps {
		text += step.line() + "\n"
	}
	return text + "\n"
}

func (s Step) line() string { return fmt.Sprintf("#%d %s (%s)", s.Number, s.Subject, s.State) }

func stepOf(s *state.State, c *state.Current) Step {
	step := Step{Number: c.ID, Subject: message.Words(c.Subject), State: string(s.Word(c)), Items: strings.TrimPrefix(s.Items(c), " ▸ "),
		Item: message.Words(s.Item(c))}
	for _, id := range c.BlockedBy {
		if b := s.Step(id); b != nil && !b.Done() && !c.Done() {
			step.WaitsFor = append(step.WaitsFor, id)
		}
	}
	if len(step.WaitsFor) == 0 && !c.Done() { // what comes before the step that it is under, or the line before its own
		for _, b := range s.OpenBlockers(c) {
			step.WaitsFor = append(step.WaitsFor, b.ID)
		}
	}
	for _, b := range s.OpenUnder(c) {
		step.WaitsFor = append(step.WaitsFor, b.ID)
	}
	if p := s.Parent(c.Workflow); p != nil {
		step.Parent = p.ID
	}
	return step
}

func (w Way) fullOf(s *state.State, c *state.Current) Full {
	full := Full{Step: stepOf(s, c), Description: message.Text(w.Spoken(s.ToDo(c))), Needs: shownNames(c.Ready),
		Produces: shownNames(c.Produces), Approval: message.Text(c.Approval)}
	if c.Check != nil {
		full.Check = message.Text(c.Check.Run)
		if c.Check.Shell == fsmspec.PowerShell {
			full.inShell = " of PowerShell"
		}
		if w.NoChecks != nil && w.NoChecks() {
			full.Check, full.unrun = "", full.Check
		}
	}
	if w.Unasked != "" && full.Approval != "" {
		full.approve = fmt.Sprintf("fsmtx step done %d --because \"...\"%s", c.ID, w.Unasked)
	}
	for _, g := range c.Gates() {
		if text := g.Condition(); text != "" {
			full.Conditions = append(full.Conditions, message.Text(text))
		}
	}
	if choices := c.Choices(); len(choices) > 1 {
		full.Outcomes = choices
		if c.Decides != fsmspec.ByAgent {
			full.Decides = c.Decides.String()
		}
	}
	for _, v := range c.Set {
		if v.Command == nil {
			full.Sets = append(full.Sets, message.Words(v.String()))
		}
	}
	if c.Within > 0 {
		full.TimeLimit = fsmspec.Duration(c.Within)
		if over := s.OverText(c); over != "" {
			full.TimeLimit += ", " + over
		}
	}
	return full
}

// shownNames escapes the names of files.
func shownNames(names []string) (shown []string) {
	for _, name := range names {
		shown = append(shown, message.Line(name))
	}
	return shown
}

// current returns the steps to work on: those that are started or, if there are none, those
// that are ready.
func current(s *state.State) []*state.Current {
	started, ready := s.Work()
	if len(started) > 0 {
		return started
	}
	return ready
}

// NoWorkflow is what an agent is told of a list without a workflow.
func (w Way) NoWorkflow() string {
	const none = "There is no workflow in this task list. "
	if w.Kind == Tools {
		return none + "Calling a skill that has an fsm.json puts one there, and so does workflow_begin."
	}
	return none + "Calling a skill that has an fsm.json puts one there, and so does: " + w.Command("begin") + " SKILL"
}

// message says in two sentences how far the workflow is and what to do next.
func (w Way) message(s *state.State) string {
	if len(s.Steps) == 0 {
		if words := s.Departed.Last(); words != "" {
			return "There is no workflow in this task list: " + words + "."
		}
		return w.NoWorkflow()
	}
	n := s.Count()
	text := s.Counted(state.Count.Sentence) + "."
	switch {
	case n.Open == 0 && len(s.Missing()) > 0:
		return text + " " + w.withoutMissing(s)
	case n.Open == 0:
		return strings.Join(append([]string{text + " " + over(s)}, s.Differs()...), " ")
	case len(s.Ready()) == 0:
		return text + " " + state.NoneReady + ": ask the person."
	}
	for _, word := range []state.Word{state.Ready, state.OffRecord, state.InProgress, state.Unchecked, state.Checking, state.Awaits} {
		if of := s.WorkThatIs(word); len(of) > 0 { // a step in progress may be another agent's
			text += " " + word.Title() + ": " + s.Placed(of) + "."
		}
	}
	return text + " " + w.goOn(s)
}

// goOn tells the agent what to do with the first of the steps that it can do something with.
func (w Way) goOn(s *state.State) string {
	for _, word := range []state.Word{state.Unchecked, state.InProgress, state.Ready, state.OffRecord, state.Awaits} {
		of := s.WorkThatIs(word)
		switch {
		case len(of) == 0:
		case of[0].Status == workflow.Pending && word != state.Awaits:
			return w.toStart(of[0])
		case w.Person && word == state.Awaits:
			return "To go on: " + strings.Join(gates.DoneCommands(s, of[0], "--list "+message.Line(w.Named)), ", or ")
		default:
			return w.toComplete(of[0], s.Choice(of[0]))
		}
	}
	return "Another call is completing it, and its check is running: wait until it ends."
}

// over says of a list in which no step is open which workflows were ended by somebody's word, else that the workflow is complete.
func over(s *state.State) string {
	var ended []string
	roots := s.Roots()
	for _, w := range roots {
		of := ""
		if len(roots) > 1 {
			of = " of " + message.Words(w.Command)
		}
		if text := s.EndText(w); text != "" {
			ended = append(ended, "The workflow"+of+" was "+strings.TrimRight(text, ".")+".")
		}
	}
	if len(ended) == 0 {
		return "The workflow is complete."
	}
	return strings.Join(ended, " ")
}

// withoutMissing says of a workflow of which no step is open which ones are gone, and how they can be done.
func (w Way) withoutMissing(s *state.State) string {
	gone, remedy := s.Missing(), "The workflow is complete without that. To have that done, "+state.Remedy
	if back := s.BringsBack(gone[0]); back != "" {
		switch skill := s.Root(gone[0].Workflow).Command; {
		case w.Kind == Tools:
			back = fmt.Sprintf("%sworkflow_continue with the list %s", w.Prefix, s.ListName())
		case w.Named != "":
			back = w.Command("continue", skill) + " --to " + shell.Join(w.Named)
		default:
			back = w.Command("continue", skill, "--list", s.ListName())
		}
		remedy = back + " brings the workflow back"
	}
	return fmt.Sprintf("%s %s %v. %s.", state.Names(gone), message.IsOrAre(len(gone)), state.ErrMissing, remedy)
}

// maxFull is how many steps a report has in full.
const maxFull = 3

// Report returns the message and the full text of the current steps. The others are in the
// message, by their names.
func (w Way) Report(s *state.State) string {
	var b strings.Builder
	b.WriteString(w.message(s))
	for i, c := range current(s) {
		if i == maxFull {
			break
		}
		b.WriteString("\n\n" + w.fullOf(s, c).text())
	}
	return b.String()
}

// Next returns the report, what the other steps wait for, and what is not enforced.
func (w Way) Next(s *state.State) string {
	text := w.Report(s)
	if waiting := Waiting(s); len(waiting) > 0 {
		text += "\n\n" + strings.Join(waiting, "\n")
	}
	if s.Count().Open > 0 { // else the message has it
		text += strings.Join(append([]string{""}, s.Differs()...), "\n")
	}
	for _, trouble := range s.Troubles {
		text += "\n" + message.Sprintf("not fully enforced: %v", trouble)
	}
	return text
}

// Waiting says, a line each, which steps wait, and for what.
func Waiting(s *state.State) (lines []string) {
	for _, c := range s.Steps {
		if c.Done() {
			continue
		}
		var waits []string
		for _, id := range stepOf(s, c).WaitsFor {
			waits = append(waits, fmt.Sprintf("#%d", id))
		}
		switch {
		case s.Word(c) == state.Checking:
			lines = append(lines, c.Name()+" waits for its check, which is running")
		case len(waits) > 0:
			lines = append(lines, fmt.Sprintf("%s waits for %s", c.Name(), strings.Join(waits, ", ")))
		case s.Word(c) == state.Awaits:
			lines = append(lines, c.Name()+" waits for a person")
		}
	}
	return lines
}

// text returns the step in full. The description that came with the file names the values and the time limit; one that
// a person has written in the task list since may not.
func (f Full) text() string {
	lines := []string{f.line()}
	if f.Item != "" {
		lines = append(lines, "It is for: "+f.Item)
	}
	if f.Items != "" {
		lines = append(lines, "Its lines were read: "+f.Items)
	}
	if f.Description != "" {
		lines = append(lines, message.Block(f.Description))
	}
	if len(f.Needs) > 0 && f.State == string(state.Ready) {
		lines = append(lines, "When it is started, these files must exist: "+strings.Join(f.Needs, ", "))
	}
	if len(f.Produces) > 0 {
		lines = append(lines, "When it is completed, these files must exist: "+strings.Join(f.Produces, ", "))
	}
	if f.Check != "" {
		lines = append(lines, "When it is completed, this command"+f.inShell+" must exit with 0: "+message.Block(f.Check))
	}
	if f.unrun != "" {
		lines = append(lines, "Checks are off, so this is not run when it is completed: "+message.Block(f.unrun))
	}
	for _, what := range f.Conditions {
		lines = append(lines, "When it is completed, this must hold: "+message.Block(what))
	}
	for _, what := range f.Sets {
		if strings.Contains(f.Description, strings.TrimPrefix(what, "sets ")) {
			continue
		}
		lines = append(lines, "When it is completed, it "+what+": give that when you complete it")
	}
	if f.TimeLimit != "" && !strings.Contains(f.Description, "Time limit: "+f.TimeLimit+" from its start") {
		lines = append(lines, "Time limit from its start: "+f.TimeLimit)
	}
	if f.Approval != "" {
		lines = append(lines, "When it is completed, a person has to approve it: "+message.Block(f.Approval))
	}
	if f.approve != "" {
		lines = append(lines, "Nobody asks them here: complete it when its work is done, then tell them. "+
			"They approve it in a terminal: "+f.approve)
	}
	return strings.Join(lines, "\n")
}
