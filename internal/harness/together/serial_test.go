package together_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// workflow is what a list holds of workflows: the skill and the status of each
// task by its name. A status is "" where a client may have changed it.
type workflow map[string]tagged

type tagged struct{ skill, status string }

// doomed returns what a call would delete.
func (f workflow) doomed(c call) workflow {
	d := workflow{}
	for name, t := range f {
		if !c.narrow() || t.skill == c.skill {
			d[name] = t
		}
	}
	return d
}

// narrow tells a call that replaces its own skill's tasks only.
func (c call) narrow() bool { return c.scope == "skill" || c.agent }

// active reports whether somebody may be at work on the tasks.
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

// ordering looks for an order of calls, one after the other, that did what these did.
type ordering struct {
	statuses map[string][]string
	gone     map[string]bool // deleted by a client at some time
	loose    bool            // clients change statuses
	after    workflow
	refused  []outcome
	visited  []workflow
}

// serial reports whether the outcomes are those of some serial order. Ids only
// ever rise, so that those who created anything have one order; the others may
// come anywhere between.
func (o *ordering) serial(before workflow, outcomes []outcome) error {
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
	slices.SortFunc(creators, func(a, b outcome) int { return cmp.Compare(taskID(a.created[0]), taskID(b.created[0])) })
	if !o.search(before, creators, others) {
		return fmt.Errorf("no serial order leads to %v: %v, besides %v, refused %v", sorted(o.after), creators, others, o.refused)
	}
	return nil
}

func (o *ordering) search(now workflow, creators, others []outcome) bool {
	o.visited = append(o.visited, now)
	defer func() { o.visited = o.visited[:len(o.visited)-1] }()
	if len(creators)+len(others) == 0 {
		return o.ends(now)
	}
	if len(creators) > 0 && o.legal(now, creators[0]) && o.search(o.next(now, creators[0]), creators[1:], others) {
		return true
	}
	for i, c := range others {
		if o.legal(now, c) && o.search(o.next(now, c), creators, slices.Delete(slices.Clone(others), i, i+1)) {
			return true
		}
	}
	return false
}

// legal reports whether the call did in this state what it should.
func (o *ordering) legal(now workflow, c outcome) bool {
	doomed := now.doomed(c.call)
	if c.active == "refuse" && !o.loose && doomed.active() {
		return false
	}
	if len(c.created) != len(o.statuses[c.skill]) {
		return false
	}
	for _, name := range c.deleted {
		if _, ok := doomed[name]; !ok {
			return false
		}
		delete(doomed, name)
	}
	return o.allGone(doomed)
}

func (o *ordering) allGone(left workflow) bool {
	for name := range left {
		if !o.gone[name] {
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
		next[name] = tagged{c.skill, o.statuses[c.skill][i]}
	}
	return next
}

// ends reports whether the end is what the list holds, and every refusal had its
// reason at some time.
func (o *ordering) ends(now workflow) bool {
	left := workflow{}
	for name, t := range now {
		if _, ok := o.after[name]; !ok {
			left[name] = t
		}
	}
	for name, t := range o.after {
		if was, ok := now[name]; !ok || was.skill != t.skill {
			return false
		}
	}
	return o.allGone(left) && (o.loose || !slices.ContainsFunc(o.refused, o.unfounded))
}

func (o *ordering) unfounded(c outcome) bool {
	return !slices.ContainsFunc(o.visited, func(f workflow) bool { return f.doomed(c.call).active() })
}

// TestSerialOrder shows what the search takes for a serial order, and what not.
func TestSerialOrder(t *testing.T) {
	did := func(skill, scope string, created, deleted []string) outcome {
		return outcome{call: call{skill: skill, scope: scope}, committed: true, created: created, deleted: deleted}
	}
	names := func(from, to int) (list []string) {
		for n := from; n <= to; n++ {
			list = append(list, taskName(n))
		}
		return list
	}
	holds := func(skill string, list []string) workflow {
		f := workflow{}
		for _, name := range list {
			f[name] = tagged{skill: skill, status: "pending"}
		}
		return f
	}
	one, three := did("one", "", names(1, 1), nil), did("three", "", names(2, 4), names(1, 1))
	none := did("none", "", nil, names(2, 4))
	refused := outcome{call: call{skill: "one", active: "refuse"}, code: 2, stderr: "tasks are under way"}
	for name, c := range map[string]struct {
		outcomes []outcome
		after    workflow
		gone     map[string]bool
		serial   bool
	}{
		"one after the other":            {[]outcome{three, one}, holds("three", names(2, 4)), nil, true},
		"one that only deletes, last":    {[]outcome{none, three, one}, workflow{}, nil, true},
		"a file of the replaced is left": {[]outcome{three, one}, holds("three", names(1, 4)), nil, false},
		"a file is missing":              {[]outcome{three, one}, holds("three", names(2, 3)), nil, false},
		"a client deleted that file":     {[]outcome{three, one}, holds("three", names(2, 3)), map[string]bool{"4.json": true}, true},
		"not all created":                {[]outcome{did("three", "", names(1, 2), nil)}, holds("three", names(1, 2)), nil, false},
		"the first was not replaced":     {[]outcome{one, did("three", "", names(2, 4), nil)}, holds("three", names(2, 4)), nil, false},
		"nor had to be":                  {[]outcome{did("three", "skill", names(1, 3), nil)}, holds("three", names(1, 3)), nil, true},
		"another's was deleted":          {[]outcome{one, did("three", "skill", names(2, 4), names(1, 1))}, holds("three", names(2, 4)), nil, false},
		"refused for no reason":          {[]outcome{one, refused}, holds("one", names(1, 1)), nil, false},
	} {
		o := &ordering{statuses: plain, gone: c.gone, after: c.after}
		assert.Equal(t, c.serial, o.serial(workflow{}, c.outcomes) == nil, name)
	}
}
