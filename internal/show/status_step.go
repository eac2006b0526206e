package show

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

func printDescriptions(w io.Writer, s *state.State, way progress.Way) error {
	for _, c := range s.Steps {
		if text := message.Block(way.Spoken(c.Description)); text != "" {
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
// allowed has reached the list, or that it was completed once more, says nothing new. Where its project is now is said of a step about
// which nothing else was decided.
func lastWord(s *state.State, c *state.Current) string {
	for _, e := range s.Unseen {
		if e.Step == c.ID && e.IsLate() {
			return fmt.Sprintf("  (%s: %s)", e.Verdict.Word(e.To), e.Why)
		}
	}
	moved := ""
	for _, e := range slices.Backward(s.Evidence) {
		if e.Step != c.ID && slices.Contains(e.Reopens, c.ID) {
			break // what came before is of an earlier round
		}
		if e.Step == c.ID && !e.IsQuiet() && e.Verdict != state.Noted && e.Verdict != state.End && (!e.Refuses() || !s.Past(e)) {
			text := "  (" + e.Time.Local().Format("15:04:05") + " " + e.Verdict.Word(e.To)
			if why := message.Line(e.Said()) + treeOf(e); why != "" {
				text += ": " + why
			}
			if e.Verdict != state.WasMoved {
				return text + ")"
			}
			moved = cmp.Or(moved, text+")")
		}
	}
	return moved
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
		if slices.ContainsFunc(c.Outcomes, func(x fsmspec.Outcome) bool { return x.Name == o.Name && x.Stop }) {
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
		line := "within " + fsmspec.Duration(c.Within)
		if over := s.OverText(c); over != "" {
			line += ", " + over
		} else if s.IsAhead(c) {
			line += ", which counts from the next event: the clock was ahead when the step was started"
		}
		lines = append(lines, line)
	}
	return lines
}

type shownStep struct {
	ID          int64               `json:"id"`
	Skill       string              `json:"skill"`
	Subject     string              `json:"subject"`
	Description string              `json:"description"`
	State       string              `json:"state"`
	Status      string              `json:"status"`
	BlockedBy   []int64             `json:"blockedBy"`
	Produces    []string            `json:"produces"`
	Ready       []string            `json:"ready"`
	Check       *fsmspec.Check      `json:"check"`
	Approval    string              `json:"approval"`
	Gates       []fsmspec.ShownGate `json:"gates"` // of every kind
	Only        []string            `json:"only"`
	Evidence    []state.Evidence    `json:"evidence"`

	Outcome  string              `json:"outcome"`
	Outcomes []state.Choosable   `json:"outcomes"`
	Decides  fsmspec.Choice      `json:"decides"`
	When     []fsmspec.Condition `json:"when"`
	Round    int                 `json:"round"`
	Parent   int64               `json:"parent"`
	Values   map[string]string   `json:"values"`
	Set      []fsmspec.Value     `json:"set"`
	Within   float64             `json:"within"`
	Over     float64             `json:"over"`

	Each      *fsmspec.Each `json:"each,omitzero"`
	Items     []string      `json:"items,omitzero"`     // the lines for which it is done in this round
	ItemsDone int           `json:"itemsDone,omitzero"` // how many of them
	Item      string        `json:"item,omitzero"`      // the line for which it is a copy, or a part of one
}

func shownStepOf(s *state.State, c *state.Current, way progress.Way) shownStep {
	f := shownStep{
		ID: c.ID, Skill: c.Workflow.Command, Subject: c.Subject, Description: way.Spoken(c.Description), State: string(s.Word(c)),
		Status: c.Status, BlockedBy: c.BlockedBy, Produces: c.Produces, Ready: c.Ready, Check: c.Check, Approval: c.Approval,
		Gates: fsmspec.ShownGates(c.Gates()), Only: append([]string{}, c.Only...),
		Evidence: s.About(c.ID),
		Outcome:  c.Outcome, Outcomes: s.Choosable(c), Decides: c.Choice(), When: append([]fsmspec.Condition{}, c.When...),
		Round: c.Round, Values: map[string]string{}, Set: append([]fsmspec.Value{}, c.Set...),
		Within: c.Within.Seconds(), Over: s.Over(c).Seconds(),
		Each: c.Each, Item: s.Item(c),
	}
	maps.Copy(f.Values, c.Values)
	if items, ok := s.Expansion(c); ok {
		f.Items, f.ItemsDone = append([]string{}, items...), s.OfItems(c).Done
	}
	if p := s.Parent(c.Workflow); p != nil {
		f.Parent = p.ID
	}
	return f
}
