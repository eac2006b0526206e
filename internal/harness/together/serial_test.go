package together_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// workflow holds the tasks of skills in a list by file name.
type workflow map[string]skillTask

type skillTask struct{ skill, status string }

// replacedBy returns the tasks that a call would delete.
func (f workflow) replacedBy(c call) workflow {
	d := workflow{}
	for name, t := range f {
		if !c.ownSkillOnly() || t.skill == c.skill {
			d[name] = t
		}
	}
	return d
}

// ownSkillOnly reports whether the call replaces only the tasks of its own skill.
func (c call) ownSkillOnly() bool { return c.scope == "skill" || c.agent }

// active reports whether work on the tasks has begun: one is in progress, or their
// statuses differ.
func (f workflow) active() bool {
	status := ""
	for _, t := range f {
		if t.status == "in_progress" || status != "" && t.status != status {
			return true
		}
		status = t.status
	}
	return false
}

// ordering searches for a serial order of calls that has the same outcomes.
type ordering struct {
	deletable    map[string]bool // tasks that a client may have deleted at any time
	statusesVary bool            // clients change statuses
	after        workflow
	refused      []outcome
	visited      []workflow // the states of the order that is being tried
}

// check returns an error unless some serial order has these outcomes. IDs only rise,
// so calls that created tasks have one order; the other calls may come anywhere.
func (o *ordering) check(before workflow, outcomes []outcome) error {
	var creators, others []outcome
	for _, c := range outcomes {
		switch {
		case c.refused():
			o.refused = append(o.refused, c)
		case c.committed && len(c.created) > 0:
			creators = append(creators, c)
		case c.committed:
			others = append(others, c)
		}
	}
	slices.SortFunc(creators, func(a, b outcome) int {
		return cmp.Compare(worlds.TaskNumber(a.created[0]), worlds.TaskNumber(b.created[0]))
	})
	if !o.search(before, creators, others) {
		return fmt.Errorf("no serial order leads to %v: %v, besides %v, refused %v", worlds.Names(o.after), creators, others, o.refused)
	}
	return nil
}

func (o *ordering) search(now workflow, creators, others []outcome) bool {
	o.visited = append(o.visited, now)
	defer func() { o.visited = o.visited[:len(o.visited)-1] }()
	if len(creators)+len(others) == 0 {
		return o.matches(now)
	}
	if len(creators) > 0 && o.allowed(now, creators[0]) && o.search(o.next(now, creators[0]), creators[1:], others) {
		return true
	}
	for i, c := range others {
		if o.allowed(now, c) && o.search(o.next(now, c), creators, slices.Delete(slices.Clone(others), i, i+1)) {
			return true
		}
	}
	return false
}

// allowed reports whether the call's outcome is right for this state.
func (o *ordering) allowed(now workflow, c outcome) bool {
	remaining := now.replacedBy(c.call)
	if c.active == "refuse" && !o.statusesVary && remaining.active() {
		return false
	}
	if len(c.created) != len(skills[c.skill]) {
		return false
	}
	for _, name := range c.deleted {
		if _, ok := remaining[name]; !ok {
			return false
		}
		delete(remaining, name)
	}
	return o.allDeletable(remaining)
}

func (o *ordering) allDeletable(tasks workflow) bool {
	for name := range tasks {
		if !o.deletable[name] {
			return false
		}
	}
	return true
}

func (o *ordering) next(now workflow, c outcome) workflow {
	next := workflow{}
	for name, t := range now {
		if !slices.Contains(c.deleted, name) {
			next[name] = t
		}
	}
	for i, name := range c.created {
		next[name] = skillTask{c.skill, skills[c.skill][i]}
	}
	return next
}

// matches reports whether the state is what the list holds after all calls, and every
// refusal was justified in some state before.
func (o *ordering) matches(now workflow) bool {
	missing := workflow{}
	for name, t := range now {
		if _, ok := o.after[name]; !ok {
			missing[name] = t
		}
	}
	for name, t := range o.after {
		if was, ok := now[name]; !ok || was.skill != t.skill {
			return false
		}
	}
	return o.allDeletable(missing) && (o.statusesVary || !slices.ContainsFunc(o.refused, o.unjustified))
}

func (o *ordering) unjustified(c outcome) bool {
	return !slices.ContainsFunc(o.visited, func(f workflow) bool { return f.replacedBy(c.call).active() })
}

func TestOrderingAcceptsOnlySerialOrders(t *testing.T) {
	did := func(skill, scope string, created, deleted []string) outcome {
		return outcome{call: call{skill: skill, scope: scope}, committed: true, created: created, deleted: deleted}
	}
	names := func(from, to int) (names []string) {
		for n := from; n <= to; n++ {
			names = append(names, worlds.TaskName(n))
		}
		return names
	}
	holds := func(skill string, names []string) workflow {
		f := workflow{}
		for _, name := range names {
			f[name] = skillTask{skill: skill, status: "pending"}
		}
		return f
	}
	one, three := did("one", "", names(1, 1), nil), did("three", "", names(2, 4), names(1, 1))
	none := did("none", "", nil, names(2, 4))
	refused := outcome{call: call{skill: "one", active: "refuse"}, code: 2, stderr: "tasks are under way"}
	for name, c := range map[string]struct {
		outcomes []outcome
		after    workflow
		deleted  map[string]bool // by clients
		serial   bool
	}{
		"one after the other":                  {[]outcome{three, one}, holds("three", names(2, 4)), nil, true},
		"a call that only deletes comes last":  {[]outcome{none, three, one}, workflow{}, nil, true},
		"a replaced task is left":              {[]outcome{three, one}, holds("three", names(1, 4)), nil, false},
		"a task is missing":                    {[]outcome{three, one}, holds("three", names(2, 3)), nil, false},
		"a client deleted that task":           {[]outcome{three, one}, holds("three", names(2, 3)), map[string]bool{"4.json": true}, true},
		"only some tasks are created":          {[]outcome{did("three", "", names(1, 2), nil)}, holds("three", names(1, 2)), nil, false},
		"the first workflow is not replaced":   {[]outcome{one, did("three", "", names(2, 4), nil)}, holds("three", names(2, 4)), nil, false},
		"a workflow in the scope of one skill": {[]outcome{did("three", "skill", names(1, 3), nil)}, holds("three", names(1, 3)), nil, true},
		"another skill's task is deleted": {[]outcome{one, did("three", "skill", names(2, 4), names(1, 1))},
			holds("three", names(2, 4)), nil, false},
		"refused without active tasks": {[]outcome{one, refused}, holds("one", names(1, 1)), nil, false},
	} {
		o := &ordering{deletable: c.deleted, after: c.after}
		assert.Equal(t, c.serial, o.check(workflow{}, c.outcomes) == nil, name)
	}
}
