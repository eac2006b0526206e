package fsmspec

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Len returns the number of tasks.
func (s *Spec) Len() int { return len(s.tasks) }

// Tasks returns the tasks in the order of the file.
func (s *Spec) Tasks() []Task {
	tasks := make([]Task, len(s.tasks))
	for i, t := range s.tasks {
		tasks[i] = t.Task
		tasks[i].Blocks = slices.Clone(t.Blocks)
		tasks[i].BlockedBy = slices.Clone(t.BlockedBy)
	}
	return tasks
}

// Warnings returns what is odd about the file though it is valid, in its order:
// unknown fields, dependencies that are cycles or stated twice, a task that
// blocks itself or is in progress while another blocks it, a tag of its own. At
// most 100 cycles are named; without one of the references that close them,
// there would be fewer.
func (s *Spec) Warnings() []Problem { return slices.Clone(s.warnings) }

// Plan says what a list must lose and gain to hold the workflow as command made
// it. Actual ids are local ones above the largest number the list has given,
// counted before anything is deleted. The error is an *ActiveError or wraps
// ErrIDTooLarge. What is no UTF-8 in command becomes U+FFFD.
func (s *Spec) Plan(command string, list Snapshot, policy Policy) (*Plan, error) {
	command = strings.ToValidUTF8(command, "\uFFFD")
	doomed := policy.doomed(command, list.Tasks)
	if policy.Active == ActiveRefuse && active(doomed) {
		return nil, &ActiveError{doomed}
	}
	base := max(list.MaxID, list.HighWater)
	plan := &Plan{tasks: s.tasks, base: base, from: list.HighWater, mark: list.HighWater}
	for _, t := range s.tasks {
		if t.ID > MaxID-base {
			return nil, fmt.Errorf("%s: its id would be %d above %d, the largest that the task list has given: %w",
				called(t.ID, t.Subject), t.ID, base, ErrIDTooLarge)
		}
		creation, err := t.create(base, command)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", called(t.ID, t.Subject), err)
		}
		plan.creations = append(plan.creations, creation)
	}
	for _, e := range doomed {
		plan.deletions = append(plan.deletions, Deletion{e.Name, e.Subject, e.Status})
	}
	plan.raise(list.MaxID)
	return plan, nil
}

// raise lifts the mark if the list would otherwise forget its largest number,
// which the client then would give again.
func (p *Plan) raise(largest int64) {
	if len(p.creations) > 0 {
		return
	}
	for _, d := range p.deletions {
		if n, ok := number(d.Name); ok && n >= largest {
			p.mark = max(p.mark, n)
		}
	}
}

// doomed returns what a plan deletes, by number, then by name; names without a
// number come last.
func (p Policy) doomed(command string, tagged []Existing) []Existing {
	var doomed []Existing
	for _, e := range tagged {
		if p.Scope == ScopeAll || e.Tag == command {
			doomed = append(doomed, e)
		}
	}
	slices.SortFunc(doomed, func(a, b Existing) int {
		return cmp.Or(cmp.Compare(rank(a.Name), rank(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return doomed
}

func rank(name string) int64 {
	if n, ok := number(name); ok {
		return n
	}
	return math.MaxInt64
}

// number is what the client counts a file name as: its leading digits.
func number(name string) (int64, bool) {
	digits := name[:len(name)-len(strings.TrimLeft(name, "0123456789"))]
	if digits == "" {
		return 0, false
	}
	n, _ := strconv.ParseInt(digits, 10, 64) // the largest int64 if it is larger
	return n, true
}

// active reports whether somebody may be at work on the tasks: one is in
// progress, or some are further than others.
func active(tasks []Existing) bool {
	return slices.ContainsFunc(tasks, func(e Existing) bool {
		return e.Status == InProgress || e.Status != tasks[0].Status
	})
}

// Error names every task, as #ID "subject" (status).
func (e *ActiveError) Error() string {
	names := make([]string, len(e.Tasks))
	for i, t := range e.Tasks {
		names[i] = fmt.Sprintf("#%s %s (%s)", oneLine(strings.TrimSuffix(t.Name, ".json")), quoted(t.Subject), cmp.Or(oneLine(t.Status), "no status"))
	}
	return "tasks about to be deleted are under way: " + strings.Join(names, ", ")
}

// Deletions returns the files that must go, by number, then by name.
func (p *Plan) Deletions() []Deletion { return slices.Clone(p.deletions) }

// Creations returns the files that must come, in the order of fsm.json.
func (p *Plan) Creations() []Creation { return slices.Clone(p.creations) }

// HighWater returns the high-water mark that the list must have before the
// deletions, and whether it is higher than the one it had.
func (p *Plan) HighWater() (mark int64, raise bool) { return p.mark, p.mark > p.from }

// Empty reports whether there is nothing to delete and nothing to create.
func (p *Plan) Empty() bool { return len(p.deletions) == 0 && len(p.creations) == 0 }
