package fsmspec

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
)

// Plan returns the tasks to delete and to create, so that the list has the workflow, tagged
// with command. The base of the new ids is the largest id that the list has ever had,
// including those of tasks to be deleted. Invalid UTF-8 in command becomes U+FFFD.
//
// Errors: *ActiveError, ErrIDTooLarge.
func (s *Spec) Plan(command string, list Snapshot, policy Policy) (*Plan, error) {
	command = strings.ToValidUTF8(command, "\uFFFD")
	replaced := policy.replaced(command, list.Tasks)
	if policy.Active == ActiveRefuse && underWay(replaced) {
		return nil, &ActiveError{replaced}
	}
	base := max(list.MaxID, list.HighWater)
	if top := s.steps.numbers(); top > 0 && top > MaxID-base {
		return nil, fmt.Errorf("%w, and new ids follow the largest one in the task list: %s", ErrIDTooLarge, list.lower(MaxID-top))
	}
	plan := &Plan{oldHighWater: list.HighWater, highWater: list.HighWater, base: base}
	plan.values = shown(s.Initial(policy.Args))
	plan.create(s.Levels(base), command, plan.values)
	plan.deletions = replaced
	plan.raiseHighWater(list.MaxID)
	return plan, nil
}

// numbers returns how many numbers a level takes: those up to its largest local id, and then
// those of the parts of its tasks.
func (l level) numbers() int64 {
	n := l.largestID()
	for _, s := range l.steps {
		if s.task.Each == nil {
			n += s.parts.numbers()
		}
	}
	return n
}

// largestID returns the largest local id of the level, 0 if it has no tasks.
func (l level) largestID() (largest int64) {
	for _, s := range l.steps {
		largest = max(largest, s.task.ID)
	}
	return largest
}

// Level is the tasks of a plan that are of one array of the file, with numbers of the list.
type Level struct {
	Parent int64   // of the task that consists of them; 0 for the outermost level
	Tasks  []Task  // in the order of the file
	InTurn []int64 // tasks of the copy before this one that come before the tasks without BlockedBy

	base   int64     // number = base + local id
	after  []int64   // tasks of other levels that come before those without BlockedBy
	behind [][]int64 // by task: those of other levels that come before it
	steps  []step
	item   bool // it is a copy
}

// name is what a stop in this level ends.
func (l Level) name() string {
	switch {
	case l.item:
		return "this item"
	case l.Parent != 0:
		return fmt.Sprintf("the parts of #%d", l.Parent)
	}
	return "the workflow"
}

// Levels returns the tasks of the file with numbers of the list, which follow base: the outermost level, then those of the parts of
// its tasks. What is done for the lines of a task is not there: the lines are not known yet.
//
// The parts of a task come after what it comes after, and it comes after the last of them.
func (s *Spec) Levels(base int64) []Level { return s.steps.place(nil, Level{base: base}) }

// place adds a level, then those below, each with the numbers that follow.
func (l level) place(all []Level, at Level) []Level {
	at.steps, at.behind = l.steps, make([][]int64, len(l.steps))
	next := at.base + l.largestID()
	bases := make([]int64, len(l.steps)) // of the parts
	for i, s := range l.steps {
		t := s.task
		if t.Each != nil && t.Each.Itself {
			t = t.join()
		}
		if len(t.BlockedBy) == 0 {
			at.behind[i] = slices.Clone(at.after)
		}
		if bases[i] = next; t.Each == nil {
			at.behind[i] = append(at.behind[i], numbersOf(next, s.parts.last())...)
			next += s.parts.numbers()
		}
		at.Tasks = append(at.Tasks, t.numbered(at.base, at.name()))
	}
	all = append(all, at)
	for i, s := range l.steps {
		if len(s.parts.steps) == 0 || s.task.Each != nil {
			continue
		}
		below := Level{Parent: at.Tasks[i].ID, base: bases[i], after: numbersOf(at.base, s.task.BlockedBy)}
		if len(s.task.BlockedBy) == 0 {
			below.after = at.after
		}
		all = s.parts.place(all, below)
	}
	return all
}

// numbered returns the task with numbers of the list and the description that it has there. level is what a stop ends.
func (t Task) numbered(base int64, level string) Task {
	t.ID += base
	var before []int64
	for _, id := range t.BlockedBy {
		if !slices.Contains(t.Circular, id) {
			before = append(before, base+id)
		}
	}
	t.Blocks, t.BlockedBy, t.Circular = numbersOf(base, t.Blocks), before, numbersOf(base, t.Circular)
	t.Outcomes, t.When = slices.Clone(t.Outcomes), slices.Clone(t.When)
	for i := range t.Outcomes {
		if t.Outcomes[i].Back != 0 {
			t.Outcomes[i].Back += base
		}
	}
	for i := range t.When {
		t.When[i].Step += base
	}
	t.Description = t.shown(level)
	return t
}

// create adds the tasks of levels, with these values in their texts unless they are nil.
func (p *Plan) create(levels []Level, command string, values map[string]string) {
	p.levels = append(p.levels, levels...)
	for _, l := range levels {
		for i, t := range l.Tasks {
			p.creations = append(p.creations, newCreation(t, l.steps[i], l.base, l.behind[i], command, values))
		}
	}
}

// Tasks returns the tasks to create as the list has them, in the order of Creations: with the values in their texts, and with those of
// other levels that come before in BlockedBy.
func (p *Plan) Tasks() (all []Task) {
	for _, l := range p.levels {
		for i, t := range l.Tasks {
			c := &p.creations[len(all)]
			t.Subject, t.Description, t.ActiveForm = c.Subject, c.Description, c.ActiveForm
			t.BlockedBy = slices.Concat(t.BlockedBy, l.behind[i])
			all = append(all, t)
		}
	}
	return all
}

// PartOf returns, for each of the tasks to create, the number of the task that it is a part of, or 0.
func (p *Plan) PartOf() (ids []int64) {
	for _, l := range p.levels {
		for range l.Tasks {
			ids = append(ids, l.Parent)
		}
	}
	return ids
}

// Base returns what is added to the ids of the file.
func (p *Plan) Base() int64 { return p.base }

// lower returns what a person must do so that the base of new ids is at most limit.
func (s Snapshot) lower(limit int64) string {
	var steps []string
	if s.MaxID > limit {
		steps = append(steps, "move "+cmp.Or(message.Line(s.MaxName), "the task with the largest number")+" out of the list")
	}
	if s.HighWater > limit {
		steps = append(steps, "delete "+cmp.Or(message.Line(s.MarkName), "the high-water mark")+", whose number is too large")
	}
	return strings.Join(steps, " and ")
}

// raiseHighWater raises the mark if the plan deletes the task with the largest number and
// creates none: otherwise that number would be used again. Numbers above MaxID
// are not ids. If the list has a task with such a number, the largest id is not known, so
// the mark is raised to every deleted id.
func (p *Plan) raiseHighWater(largest int64) {
	if len(p.creations) > 0 {
		return
	}
	for _, d := range p.deletions {
		if d.Number <= MaxID && (d.Number >= largest || largest > MaxID) {
			p.highWater = max(p.highWater, d.Number)
		}
	}
}

// replaced returns the tasks that a plan deletes, by number, then by id. Those
// without a number come last.
func (p Policy) replaced(command string, tagged []Existing) []Existing {
	var replaced []Existing
	for _, e := range tagged {
		if p.Scope == ScopeAll || e.Tag == command {
			replaced = append(replaced, e)
		}
	}
	order := func(e Existing) int64 {
		if e.Number == 0 {
			return math.MaxInt64
		}
		return e.Number
	}
	slices.SortFunc(replaced, func(a, b Existing) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a.ID, b.ID))
	})
	return replaced
}

// underWay reports whether work on the tasks has begun and not ended: a task is in progress,
// or not all have the same status.
func underWay(tasks []Existing) bool {
	return slices.ContainsFunc(tasks, func(e Existing) bool {
		return e.Status == InProgress.String() || e.Status != tasks[0].Status
	})
}

// maxNamed is how many tasks an ActiveError names. The number of all is in its text.
const maxNamed = 20

// Error lists the tasks as #ID "subject" (status), and says how many there are if they are more
// than maxNamed.
func (e *ActiveError) Error() string {
	named := e.Tasks[:min(len(e.Tasks), maxNamed)]
	names := make([]string, len(named))
	for i, t := range named {
		names[i] = fmt.Sprintf("#%s %s (%s)", message.Line(t.ID), quoted(t.Subject), cmp.Or(message.Line(t.Status), "no status"))
	}
	if more := len(e.Tasks) - len(named); more > 0 {
		return fmt.Sprintf("%d tasks about to be deleted are under way: %s and %d more", len(e.Tasks), strings.Join(names, ", "), more)
	}
	return "tasks about to be deleted are under way: " + strings.Join(names, ", ")
}

// newCreation returns what is created for the task t of a level, with the values in its texts unless they are nil. after are those of
// other levels that come before it.
func newCreation(t Task, s step, base int64, after []int64, command string, values map[string]string) Creation {
	c := Creation{
		ID: t.ID, Subject: t.Subject, Description: t.Description, ActiveForm: t.ActiveForm, Owner: t.Owner, Status: t.Status,
		Blocks: t.Blocks, BlockedBy: append(numbersOf(base, s.task.BlockedBy), after...), Metadata: s.metadata(command),
	}
	if values != nil {
		c.Subject, c.Description, c.ActiveForm = FillLine(c.Subject, values), Fill(c.Description, values), FillLine(c.ActiveForm, values)
	}
	return c
}

// metadata returns the metadata of a task of the step, with the tag.
func (s *step) metadata(command string) string {
	b := append([]byte("{"), s.members...)
	b = append(appendQuoted(b, Tag), ':')
	return string(append(appendQuoted(b, command), '}'))
}

// numbersOf returns the actual ids of local ones.
func numbersOf(base int64, local []int64) (ids []int64) {
	for _, id := range local {
		ids = append(ids, base+id)
	}
	return ids
}
