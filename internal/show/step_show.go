package show

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

const showLong = `Show prints what "fsmtx status" prints: each step of the workflows in a task list with its
state, its gates, and the last decision about it. SESSION is found as by "fsmtx status".

` + stepWords + `

--json prints an object with list, session and steps: an array of objects with id, skill,
subject, description, state (one of the above), status (of the task file), blockedBy,
produces, ready, check, approval, only and evidence (time, from, to, verdict, why, check,
by; with rule it is about a call, and with permit about a person's yes to one).
A step also has outcome (in which it ended, "" while it is open), outcomes
(name, back, max, used, then, chosenBy: agent, person, command or machine), decides (by and
run), when, round (from 1), parent (the step that it is under, 0 if none), values (that it
gave, by name), set (the values that it sets: name, pattern, oneOf, command), within (its
time limit in seconds, 0 if none) and over (the seconds since that has passed).
A step that is done for lines has each and, once they are read, items (the lines) and
itemsDone (a number); a step that is done for a line, or a part of it, has item.`

func NewStepShow(s terminal.Streams) *cobra.Command {
	var asJSON, full bool
	c := &cobra.Command{
		Use:               "show [SESSION]",
		ValidArgsFunction: completeSessions(s),
		Short:             "Show the steps of a task list, their gates and the decisions",
		Long:              showLong,
		Example: command.Example("fsmtx step show", "fsmtx step show --full",
			"fsmtx step show 0b54e1c2-7c1e-4a53-9d1a-2f0f4a1d5f10 --json"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return runStepShow(c.Context(), s, strings.Join(args, ""), asJSON, full)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	c.Flags().BoolVar(&full, "full", false, "also print the description of each step")
	return c
}

func runStepShow(ctx context.Context, s terminal.Streams, session string, asJSON, full bool) error {
	frame, err := command.FrameOf(ctx, s, session)
	if err != nil {
		return command.NotAStep(session, err)
	}
	now, err := state.Load(ctx, frame.List.Dir)
	if err != nil {
		return err
	}
	if asJSON {
		return command.PrintJSON(s.Out, shownState(frame, now))
	}
	if len(now.Steps) == 0 {
		if err := command.MustExist(frame.List.Dir); err != nil {
			return command.NotAStep(session, err)
		}
		return command.Fail(command.ExitNo, fmt.Errorf("%s has no workflow", frame.List.Dir),
			"fsmtx status --all lists the sessions with workflows")
	}
	list, chosen, err := command.ChooseList(ctx, s, session, true)
	if err != nil {
		return err
	}
	st, err := readStatus(ctx, list, tasklist.ShortName(s.Getenv, list.Dir))
	if err != nil {
		return err
	}
	st.look(s)
	return st.print(s, chosen, full)
}

func printDescriptions(w io.Writer, s *state.State) error {
	for _, c := range s.Steps {
		if text := message.Block(c.Description); text != "" {
			if _, err := message.Fprintf(w, "\n#%d: %s\n", c.ID, message.Lines(text)); err != nil {
				return err
			}
		}
	}
	return nil
}

// workflowTitle returns the name of a workflow, what it is the copy for, and the step that it is
// under.
func workflowTitle(s *state.State, w *workflow.Workflow) string {
	title := w.Command
	if w.Item != "" {
		title += " for " + w.Item
	}
	if p := s.Parent(w); p != nil {
		title += fmt.Sprintf(" under #%d", p.ID)
	}
	return title
}

// lastWord returns the last decision about a step, in brackets, without a refusal that is past. That what was
// allowed has reached the list, or that it was completed once more, says nothing new.
func lastWord(s *state.State, c *state.Current) string {
	for _, e := range slices.Backward(s.Evidence) {
		if e.Step != c.ID && slices.Contains(e.Reopens, c.ID) {
			return "" // what came before is of an earlier round
		}
		if e.Step == c.ID && !e.IsQuiet() && e.Verdict != state.Noted && (!e.Refuses() || !s.Past(e)) {
			return fmt.Sprintf("  (%s %s: %s)", e.Time.Local().Format("15:04:05"), e.Verdict, message.Line(e.Said())+treeOf(e))
		}
	}
	return ""
}

// treeOf returns ", in DIRECTORY" for a decision that depends on a linked work tree.
func treeOf(e state.Evidence) string {
	if e.Tree == "" {
		return ""
	}
	return ", in " + message.Line(e.Tree)
}

// flowOf returns when a step is needed, how it can end and what that gives, a line each.
func flowOf(s *state.State, c *state.Current) (lines []string) {
	if c.Each != nil {
		lines = append(lines, "for "+c.Each.String())
	}
	for _, w := range c.When {
		lines = append(lines, fmt.Sprintf("needed if #%d ends as %s", w.Step, strings.Join(w.Outcomes, " or ")))
	}
	if c.Chooser != nil {
		lines = append(lines, c.ChooserText())
	}
	for _, o := range s.Choosable(c) {
		line := o.Name
		if o.Back != 0 {
			line = fmt.Sprintf("%s ↺ #%d, %d of %d used", o.Name, o.Back, o.Used, o.Max)
			if o.Then != "" {
				line += ", then " + o.Then
			}
		}
		if slices.ContainsFunc(c.Outcomes, func(x workflow.Outcome) bool { return x.Name == o.Name && x.Stop }) {
			line += ", ends " + c.Workflow.Level()
		}
		if len(c.Outcomes) > 0 {
			by := o.ChosenBy
			if by == "machine" { // a check, a limit or a budget
				by = "by itself"
			}
			line += " (" + by + ")"
			for _, g := range c.Declared(o.Name).Gates() {
				line += "; " + g.String()
			}
			lines = append(lines, "outcome "+line)
		}
	}
	for _, v := range c.Set {
		line := v.String()
		if value, ok := c.Values[v.Name]; ok {
			line += ": " + value
		}
		lines = append(lines, line)
	}
	if c.Within > 0 {
		line := "within " + fsmspec.Duration(c.Limit())
		if over := s.OverText(c); over != "" {
			line += ", " + over
		}
		lines = append(lines, line)
	}
	return lines
}

type shown struct {
	List    string      `json:"list"`
	Session string      `json:"session"`
	Steps   []shownStep `json:"steps"`
}

type shownStep struct {
	ID          int64                `json:"id"`
	Skill       string               `json:"skill"`
	Subject     string               `json:"subject"`
	Description string               `json:"description"`
	State       string               `json:"state"`
	Status      string               `json:"status"`
	BlockedBy   []int64              `json:"blockedBy"`
	Produces    []string             `json:"produces"`
	Ready       []string             `json:"ready"`
	Check       *workflow.Check      `json:"check"`
	Approval    string               `json:"approval"`
	Gates       []workflow.ShownGate `json:"gates"` // of every kind
	Only        []string             `json:"only"`
	Evidence    []state.Evidence     `json:"evidence"`

	Outcome  string               `json:"outcome"`
	Outcomes []state.Choosable    `json:"outcomes"`
	Decides  workflow.Decider     `json:"decides"`
	When     []workflow.Condition `json:"when"`
	Round    int                  `json:"round"`
	Parent   int64                `json:"parent"`
	Values   map[string]string    `json:"values"`
	Set      []workflow.Value     `json:"set"`
	Within   float64              `json:"within"`
	Over     float64              `json:"over"`

	Each      *workflow.Each `json:"each,omitzero"`
	Items     []string       `json:"items,omitzero"`     // the lines for which it is done in this round
	ItemsDone int            `json:"itemsDone,omitzero"` // how many of them
	Item      string         `json:"item,omitzero"`      // the line for which it is a copy, or a part of one
}

func shownState(frame *gates.Frame, s *state.State) shown {
	out := shown{List: frame.List.Dir, Session: frame.Session, Steps: []shownStep{}}
	for _, c := range s.Steps {
		out.Steps = append(out.Steps, shownStepOf(s, c))
	}
	return out
}

func shownStepOf(s *state.State, c *state.Current) shownStep {
	f := shownStep{
		ID: c.ID, Skill: c.Workflow.Command, Subject: c.Subject, Description: c.Description, State: string(s.Word(c)), Status: c.Status,
		BlockedBy: c.BlockedBy, Produces: c.Produces, Ready: c.Ready, Check: c.Check, Approval: c.Approval,
		Gates: workflow.ShownGates(c.Gates()), Only: append([]string{}, c.Only...),
		Evidence: s.About(c.ID),
		Outcome:  c.Outcome, Outcomes: s.Choosable(c), Decides: c.Decider(), When: append([]workflow.Condition{}, c.When...),
		Round: c.Round, Values: map[string]string{}, Set: append([]workflow.Value{}, c.Set...), Within: c.Within, Over: s.Over(c).Seconds(),
		Each: c.Each, Item: s.Item(c),
	}
	maps.Copy(f.Values, c.Values)
	if items, ok := s.Expansion(c); ok {
		f.Items, f.ItemsDone = append([]string{}, items...), s.ItemsDone(c)
	}
	if p := s.Parent(c.Workflow); p != nil {
		f.Parent = p.ID
	}
	return f
}
