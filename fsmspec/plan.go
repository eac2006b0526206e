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
	plan := &Plan{oldHighWater: list.HighWater, highWater: list.HighWater}
	plan.values = shown(s.Initial(policy.Args))
	plan.create(s.steps, command, Level{Base: base}, plan.values)
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

// Level is the tasks of a plan that are of one array of the file.
type Level struct {
	Parent int64  // actual id of the task that consists of them; 0 for the outermost level
	Base   int64  // actual id = Base + local id
	Tasks  []Task // in the order of the file

	After  []int64 // actual ids of tasks of other levels that come before the tasks without BlockedBy
	InTurn []int64 // those of After that are the last of the copy before this one

	item bool // it is a copy
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

// Flat returns the tasks to create as if they were of one level: their ids and
// those that they name are actual ones less the base of the outermost level, and BlockedBy has
// the tasks of other levels that come before, too. The texts are those that the list shows.
func (p *Plan) Flat() (all []Task) {
	for _, l := range p.levels {
		base := p.levels[0].Base
		for _, t := range l.Tasks {
			c := &p.creations[len(all)]
			t.ID, t.Subject, t.Description, t.ActiveForm = c.ID-base, c.Subject, c.Description, c.ActiveForm
			t.Blocks, t.BlockedBy = numbersOf(-base, c.Blocks), numbersOf(-base, c.BlockedBy)
			t.Skill, t.Parts = "", nil
			all = append(all, t)
		}
	}
	return all
}

// PartOf returns, for each of the tasks to create, the actual id of the task that it is a part
// of, or 0.
func (p *Plan) PartOf() (ids []int64) {
	for _, l := range p.levels {
		for range l.Tasks {
			ids = append(ids, l.Parent)
		}
	}
	return ids
}

// create adds the tasks of a level, with these values in their texts unless they are nil, then
// those of the levels below, each with the numbers that follow. What is done for the lines of a
// task is not created: the lines are not known yet.
//
// The parts of a task come after what it comes after, and it comes after the last of them.
func (p *Plan) create(l level, command string, at Level, values map[string]string) {
	at.Tasks = l.tasks()
	for i := range at.Tasks {
		at.Tasks[i].becomeJoin()
		at.Tasks[i].Flow.level = at.name()
	}
	p.levels = append(p.levels, at)
	next := at.Base + l.largestID()
	bases := make([]int64, len(l.steps)) // of the parts
	for i, s := range l.steps {
		var after []int64
		if len(s.task.BlockedBy) == 0 {
			after = slices.Clone(at.After)
		}
		if bases[i] = next; s.task.Each == nil {
			after = append(after, numbersOf(next, s.parts.last())...)
			next += s.parts.numbers()
		}
		p.creations = append(p.creations, newCreation(at.Tasks[i], at.Base, after, s.metadata(command), values))
	}
	for i, s := range l.steps {
		if len(s.parts.steps) == 0 || s.task.Each != nil {
			continue
		}
		below := Level{Parent: at.Base + s.task.ID, Base: bases[i], After: numbersOf(at.Base, s.task.BlockedBy)}
		if len(s.task.BlockedBy) == 0 {
			below.After = at.After
		}
		p.create(s.parts, command, below, values)
	}
}

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

// newCreation returns what is created for the task t of a level, with the values in its texts
// unless they are nil.
func newCreation(t Task, base int64, after []int64, metadata string, values map[string]string) Creation {
	c := Creation{
		ID: base + t.ID, Subject: t.Subject, Description: t.Shown(base), ActiveForm: t.ActiveForm, Owner: t.Owner, Status: t.Status,
		Blocks: numbersOf(base, t.Blocks), BlockedBy: append(numbersOf(base, t.BlockedBy), after...), Metadata: metadata,
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
