package write

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/graph"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const graphLong = `Graph draws the steps of a workflow in layers: a step is one layer below the lowest step
that it waits for. It also prints the width, which is the largest number of steps that can
be worked on at the same time, and the critical path, which is the longest chain. Where all
steps come one after another, it says so instead.

PATH is an fsm.json or the directory of a skill; "-" is standard input. SKILL is the name of a
skill that the client knows here, or that the plugin in this directory has. With --list, or without an argument,
graph draws a task list with the states of its steps. The list is found as by "fsmtx
log".

The formats are

  text     a step on each line, for the terminal; coloured if the output is a terminal. Of
           more than 50 steps those that have ended are folded as long as one is open
  mermaid  a flowchart for Mermaid, which GitHub shows in Markdown
  html     a self-contained page: the same drawing, with the descriptions
  json     an object with title, steps, layers, width, critical and cyclic; a step has id,
           subject, description, state (as "fsmtx status" has it), blockedBy,
           gates, layer and critical, and one with outcomes or conditions also outcomes (each
           with name, back, max, used, then and stop), decides, when, outcome, round and rounds.
           A step that consists of others has each (what its parts, or it itself, are done
           for one by one) and items (count and done), and a part has parent and number,
           such as 2.1; --json is short for this format`

type graphFlags struct {
	session string
	json    bool
	format  *command.Choice
}

func NewGraph(s terminal.Streams) *cobra.Command {
	var f graphFlags
	c := &cobra.Command{
		Use:   "graph [PATH | SKILL | --list NAME]",
		Short: "Draw the steps of a workflow or of a session",
		Long:  graphLong,
		Example: command.Example(
			"fsmtx graph .claude/skills/release",
			"fsmtx graph my-plugin:release --format mermaid",
			"fsmtx graph --format html > steps.html    # of the current session"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return command.Fail(command.ExitNo, fmt.Errorf("got %d arguments, want one file, directory or skill", len(args)),
					"run fsmtx graph --help")
			}
			if len(args) == 1 && args[0] == "" {
				return errors.New("got an empty argument, want a file, a directory or a skill")
			}
			if len(args) == 1 && f.session != "" {
				return command.Fail(command.ExitUsage, errors.New("--list cannot be combined with a file or a skill"), "")
			}
			return nil
		},
		ValidArgsFunction: command.CompleteSkills(s),
		RunE: func(c *cobra.Command, args []string) error {
			if f.json {
				f.format.Value = "json"
			}
			var g *graph.Graph
			var err error
			if len(args) == 1 {
				g, err = graphOfSpec(s, args[0])
			} else {
				g, err = graphOfSession(c.Context(), s, f.session)
			}
			if err != nil {
				return err
			}
			return f.print(s, g)
		},
	}
	command.NameList(s, c, &f.session)
	f.format = command.Choose(c, "format", "how the graph is printed", "text", "mermaid", "html", "json")
	c.Flags().BoolVar(&f.json, "json", false, "short for --format json")
	return c
}

func (f graphFlags) print(s terminal.Streams, g *graph.Graph) (err error) {
	switch f.format.Value {
	case "json":
		return command.PrintJSON(s.Out, g)
	case "mermaid":
		_, err = fmt.Fprint(s.Out, g.Mermaid())
	case "html":
		_, err = fmt.Fprint(s.Out, g.HTML())
	default:
		_, err = fmt.Fprint(s.Out, g.Text(s.Columns(s.Out), s.Colour(s.Out)))
	}
	return err
}

// graphOfSpec returns the graph of a valid fsm.json.
func graphOfSpec(s terminal.Streams, arg string) (*graph.Graph, error) {
	path, err := findSpec(s, arg)
	if err != nil {
		return nil, err
	}
	spec, err := parseSpec(s, path)
	if err != nil {
		return nil, err
	}
	return graph.New(titleOf(path), drawing{}.steps(spec.Tasks(), graph.Step{}, nil)), nil
}

// drawing gives the steps of a file, with their parts, ids of their own: those of the file and,
// for the parts, the numbers that follow.
type drawing struct{ base int64 }

// steps returns the tasks of a level and their parts. around is the step that consists of them,
// and after has the ids of what comes before that one.
func (d drawing) steps(tasks []fsmspec.Task, around graph.Step, after []int64) (all []graph.Step) {
	next := d.base
	for _, t := range tasks {
		next = max(next, d.base+t.ID)
	}
	for _, t := range tasks {
		step := graph.Step{ID: d.base + t.ID, Subject: fsmspec.Fill(t.Subject, nil), Description: fsmspec.Fill(t.Description, nil),
			State: stateOf(t.Status.String()), Gates: labels(t.Gates(), ""), Parent: around.ID}
		if around.ID != 0 {
			step.Number = cmp.Or(around.Number, strconv.FormatInt(around.ID, 10)) + "." + strconv.FormatInt(t.ID, 10)
		}
		for _, id := range t.BlockedBy {
			step.BlockedBy = append(step.BlockedBy, d.base+id)
		}
		if len(t.BlockedBy) == 0 {
			step.BlockedBy = slices.Clone(after)
		}
		d.addFlow(&step, t)
		step.Each = eachWords(t.Each)
		parts := drawing{next}.steps(t.Parts, step, step.BlockedBy)
		step.BlockedBy = append(step.BlockedBy, lastOf(parts, step.ID)...)
		all = append(append(all, step), parts...)
		for _, part := range parts {
			next = max(next, part.ID)
		}
	}
	return all
}

// lastOf returns the parts of a step that no other of its parts comes after.
func lastOf(parts []graph.Step, parent int64) (ids []int64) {
	for _, p := range parts {
		if p.Parent == parent && !slices.ContainsFunc(parts,
			func(o graph.Step) bool { return o.Parent == parent && slices.Contains(o.BlockedBy, p.ID) }) {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// eachWords says for what a step is done one by one, or returns "".
func eachWords(e *fsmspec.Each) string {
	if e == nil {
		return ""
	}
	words := "line of " + e.Lines
	if e.Run != nil {
		words = "line of: " + e.Run.Run
	}
	if e.InTurn {
		words += ", in turn"
	}
	return words
}

// addFlow adds the outcomes of a step, what its need depends on, and who decides.
func (d drawing) addFlow(step *graph.Step, t fsmspec.Task) {
	for _, o := range t.Outcomes {
		back := o.Back
		if back != 0 {
			back += d.base
		}
		step.Outcomes = append(step.Outcomes, graph.Outcome{Name: o.Name, Back: back, Max: o.Max, Then: o.Then, Stop: o.Stop})
		step.Gates = append(step.Gates, labels(o.Gates(), o.Name+": ")...)
	}
	for _, c := range t.When {
		step.When = append(step.When, graph.Condition{Step: d.base + c.Step, Outcomes: c.Outcomes})
	}
	step.Decides = decider(t.Decides)
	addOnly(step, t.Only)
	var names []string
	for _, v := range t.Set {
		names = append(names, v.Name)
	}
	step.Gates = append(step.Gates, givesWords(names, t.Within, "")...)
}

// decider returns who decides, "" for the agent.
func decider(d fsmspec.Decider) string {
	if d == fsmspec.ByAgent {
		return ""
	}
	return d.String()
}

// addOnly adds the calls that belong to a step.
func addOnly(step *graph.Step, rules []string) {
	if len(rules) > 0 {
		step.Gates = append(step.Gates, "only: "+strings.Join(rules, ", "))
	}
}

// givesWords describes the values that a step sets and its time limit.
func givesWords(names []string, within time.Duration, over string) (words []string) {
	if len(names) > 0 {
		words = append(words, "sets: "+strings.Join(names, ", "))
	}
	if within > 0 {
		words = append(words, strings.TrimSuffix("within: "+fsmspec.Duration(within)+", "+over, ", "))
	}
	return words
}

// parseSpec reads an fsm.json. The error for an invalid one is its first problem.
func parseSpec(s terminal.Streams, path string) (*fsmspec.Spec, error) {
	data, err := readSpec(s, path)
	if err != nil {
		return nil, err
	}
	spec, err := fsmspec.Parse(data)
	if invalid, ok := errors.AsType[*fsmspec.InvalidError](err); ok {
		return nil, command.Fail(command.ExitNo, fmt.Errorf("%s:%v", path, invalid.Problems[0]),
			"fsmtx validate "+shell.Join(path)+" lists every problem")
	}
	return spec, err
}

// titleOf returns the name of the skill that the file belongs to.
func titleOf(path string) string {
	if path == "-" {
		return ""
	}
	abs, err := filepath.Abs(path)
	if err != nil || filepath.Base(abs) != SpecName {
		return filepath.Base(path)
	}
	return filepath.Base(filepath.Dir(abs))
}

func stateOf(status string) graph.State {
	switch status {
	case "completed":
		return graph.Done
	case "in_progress":
		return graph.InProgress
	}
	return ""
}

// labels describes gates, those of an outcome with its name.
func labels(gates []fsmspec.Gate, outcome string) (words []string) {
	for _, g := range gates {
		words = append(words, outcome+g.Label())
	}
	return words
}

// graphOfSession returns the graph of the steps in a session's list or, if it has no
// workflow, of its tasks.
func graphOfSession(ctx context.Context, s terminal.Streams, session string) (*graph.Graph, error) {
	frame, err := command.FrameOf(ctx, s, session)
	if err != nil {
		return nil, err
	}
	title := "list " + tasklist.ShortName(s.Getenv, frame.List.Dir)
	now, err := frame.Now(ctx)
	if err == nil {
		err = tasklist.Interrupted(ctx, s.Getenv, frame.List.Dir)
	}
	if err != nil {
		return nil, err
	}
	if len(now.Steps) == 0 {
		list, err := tasks.Tasks(ctx, frame.List.Dir, nil)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			err := command.Fail(command.ExitNo, fmt.Errorf("the list %s has no tasks", frame.Session), "fsmtx graph PATH draws an fsm.json")
			return nil, command.OrThere(s, frame.List.Dir, "", err)
		}
		return graph.New(title, stepsOfTasks(list)), nil
	}
	var names []string
	var list []graph.Step
	for _, c := range now.Steps {
		if !slices.Contains(names, c.Workflow.Command) {
			names = append(names, c.Workflow.Command)
		}
		if now.Copied(c) { // these are counted
			continue
		}
		step := graph.Step{ID: c.ID, Subject: c.Subject, Description: fsmspec.WithoutEnds(c.Description), State: graph.State(now.Word(c)),
			BlockedBy: now.Waits(c), Gates: labels(c.Gates(), ""), Parent: c.PartOf()}
		if items, ok := now.Expansion(c); ok {
			n := now.OfItems(c)
			step.Items = &graph.Items{Count: len(items), Done: n.Done, Others: n.Others()}
		} else if c.Each != nil {
			step.Each = strings.TrimPrefix(c.Each.String(), "each ")
		}
		addProgress(&step, now, c)
		addOnly(&step, c.Only)
		if p := now.Parent(c.Workflow); p != nil && !p.Gone() {
			step.Parent = p.ID
			if len(step.BlockedBy) == 0 {
				step.BlockedBy = slices.Clone(p.BlockedBy)
			}
		}
		list = append(list, step)
	}
	for i, step := range list {
		list[i].BlockedBy = append(slices.Clone(step.BlockedBy), lastOf(list, step.ID)...)
	}
	g := graph.New(strings.Join(names, ", ")+", "+title, list)
	g.Count = now.Counted(state.Count.String)
	return g, nil
}

// addProgress adds how a step ended and can end.
func addProgress(step *graph.Step, now *state.State, c *state.Current) {
	step.Round, step.Rounds = c.Round, c.MaxRounds()
	if len(c.Outcomes) > 0 {
		step.Outcome = c.Outcome
	}
	for _, o := range now.Choosable(c) {
		declared := c.Declared(o.Name)
		step.Outcomes = append(step.Outcomes, graph.Outcome{Name: o.Name, Back: o.Back, Max: o.Max, Used: o.Used, Then: o.Then,
			Stop: declared.Stop})
		step.Gates = append(step.Gates, labels(declared.Gates(), o.Name+": ")...)
	}
	for _, w := range c.When {
		step.When = append(step.When, graph.Condition(w))
	}
	step.Decides = decider(c.Decides)
	var names []string
	for _, v := range c.Set {
		name := v.Name
		if value, ok := c.Values[name]; ok {
			name += " = " + value
		}
		names = append(names, name)
	}
	step.Gates = append(step.Gates, givesWords(names, c.Within, now.OverText(c))...)
}

func stepsOfTasks(list []tasks.Task) (all []graph.Step) {
	number := map[string]int64{}
	for i, t := range list {
		number[t.ID] = idOf(t.ID, i)
	}
	for _, t := range list {
		step := graph.Step{ID: number[t.ID], Subject: t.Subject, State: stateOf(t.Status)}
		for _, id := range t.BlockedBy {
			if n, known := number[id]; known {
				step.BlockedBy = append(step.BlockedBy, n)
			}
		}
		all = append(all, step)
	}
	return all
}

// idOf returns the id of a task as a number. For an id that is not a number it returns a
// negative number made from the task's place in the list.
func idOf(id string, place int) int64 {
	var n int64
	if _, err := fmt.Sscanf(id, "%d", &n); err != nil || fmt.Sprint(n) != id {
		return int64(-place - 1)
	}
	return n
}
