//go:build unix

package together_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// history is everything that happened to a list: what it held before, what each
// process did, and what it holds after.
type history struct {
	before, after map[string]worlds.File
	outcomes      []outcome
	ledger        *ledger // nil without clients
	killed        bool    // some hooks were killed or interrupted
}

// violations compares the history with every promise. Each violation is one line.
func (h *history) violations() []string {
	return slices.Concat(h.failedHooks(), h.reusedIDs(), h.changedManualTasks(), h.lostWrites(),
		h.resurrectedTasks(), h.partialHydrations(), h.orderViolations())
}

// failedHooks finds hooks that failed without a reason.
func (h *history) failedHooks() (found []string) {
	for _, o := range h.outcomes {
		if o.code != 0 && !o.interrupted() && !o.refused() {
			found = append(found, fmt.Sprintf("a hook failed: %s", o))
		}
		if o.code == 0 && o.script == nil && o.stdout != "{\"continue\": true}\n" {
			found = append(found, fmt.Sprintf("a hook replied %q", o.stdout))
		}
	}
	return found
}

// reusedIDs finds IDs that were given twice.
func (h *history) reusedIDs() (found []string) {
	owners := map[string]string{}
	give := func(name, owner string) {
		if first, ok := owners[name]; ok {
			found = append(found, fmt.Sprintf("%s was given to %s and to %s", name, first, owner))
		}
		owners[name] = owner
	}
	for name := range h.before {
		give(name, "the list before")
	}
	for _, o := range h.outcomes {
		if o.committed {
			for _, name := range o.created {
				give(name, o.call.String())
			}
		}
	}
	if h.ledger != nil {
		for _, id := range h.ledger.given {
			give(worlds.TaskName(id), "a client")
		}
	}
	return found
}

// changedManualTasks finds tasks of the user that no client changed and that are not
// as they were.
func (h *history) changedManualTasks() (found []string) {
	for name, f := range h.before {
		v, err := parseTask(f)
		if err == nil && v.Metadata.FSM == nil && !h.createdByClient(name) && h.after[name] != f {
			found = append(found, fmt.Sprintf("%s was %v and is %v", name, f, h.after[name]))
		}
	}
	return found
}

func (h *history) createdByClient(name string) bool {
	return h.ledger != nil && h.ledger.tasks[worlds.TaskNumber(name)] != nil
}

// lostWrites finds tasks of clients, and updates of them, that are lost.
func (h *history) lostWrites() (found []string) {
	if h.ledger == nil {
		return nil
	}
	for id, want := range h.ledger.tasks {
		f, exists := h.after[worlds.TaskName(id)]
		got, err := parseTask(f)
		switch count := countOf(got.Description); {
		case want.deleted && exists:
			found = append(found, fmt.Sprintf("task %d was deleted and exists", id))
		case want.deleted:
		case !exists:
			found = append(found, fmt.Sprintf("task %d, created by a client, is lost", id))
		case want.torn:
		case err != nil:
			found = append(found, fmt.Sprintf("task %d is broken: %v: %q", id, err, f.Text))
		case got.Subject != want.subject || got.Metadata.FSM != nil:
			found = append(found, fmt.Sprintf("task %d has subject %q, want %q", id, got.Subject, want.subject))
		case count != want.updates:
			found = append(found, fmt.Sprintf("task %d has %d of %d updates", id, count, want.updates))
		}
	}
	return found
}

// resurrectedTasks finds tasks of skills that a client deleted and that exist. A
// rollback may restore one, which the crash contract allows.
func (h *history) resurrectedTasks() (found []string) {
	if h.ledger == nil || h.killed {
		return nil
	}
	for id := range h.ledger.deleted {
		if _, exists := h.after[worlds.TaskName(id)]; exists {
			found = append(found, fmt.Sprintf("task %d, deleted by a client, exists", id))
		}
	}
	return found
}

// partialHydrations finds tasks that were missing when their hook had returned, and
// that no other process removed.
func (h *history) partialHydrations() (found []string) {
	if h.killed {
		return nil
	}
	for _, o := range h.outcomes {
		for _, name := range o.created {
			if o.committed && !slices.Contains(o.names, name) && !h.replaced(name) && !h.deletedByClient()[name] {
				found = append(found, fmt.Sprintf("%s was missing when its hook had returned: %s", name, o))
			}
		}
	}
	return found
}

func (h *history) replaced(name string) bool {
	return slices.ContainsFunc(h.outcomes, func(o outcome) bool { return o.committed && slices.Contains(o.deleted, name) })
}

// deletedByClient returns the tasks of skills that a client deleted or tried to delete.
func (h *history) deletedByClient() map[string]bool {
	names := map[string]bool{}
	if h.ledger != nil {
		for id := range h.ledger.deleting {
			names[worlds.TaskName(id)] = true
		}
	}
	return names
}

// orderViolations finds files that no process created, and reports if no serial order
// of the calls leads to what the list holds.
func (h *history) orderViolations() (found []string) {
	after, found := h.workflow(h.after)
	o := &ordering{deletable: h.deletedByClient(), statusesVary: h.ledger != nil, after: after}
	before, _ := h.workflow(h.before)
	if err := o.check(before, h.outcomes); err != nil {
		found = append(found, err.Error())
	}
	return found
}

// workflow returns the tasks of skills among the files, and the files of unknown
// origin.
func (h *history) workflow(files map[string]worlds.File) (f workflow, unknown []string) {
	f = workflow{}
	for name, file := range files {
		v, err := parseTask(file)
		_, old := h.before[name]
		switch {
		case err == nil && v.Metadata.FSM != nil:
			f[name] = skillTask{*v.Metadata.FSM, v.Status}
		case !old && !h.createdByClient(name):
			unknown = append(unknown, fmt.Sprintf("%s was created by no process: %q", name, file.Text))
		}
	}
	return f, unknown
}

// ledger records what clients were ordered to do and reported as done.
type ledger struct {
	tasks    map[int]*clientTask
	given    []int        // IDs
	deleting map[int]bool // tasks of skills whose deletion was ordered
	deleted  map[int]bool // and reported
}

// clientTask is a task that a client created.
type clientTask struct {
	subject       string
	updates       int
	torn, deleted bool
}

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

// countOf returns the number of updates that the description of a task says.
func countOf(description string) int {
	rest, _ := strings.CutPrefix(description, "count=")
	digits, _, _ := strings.Cut(rest, " ")
	n, _ := strconv.Atoi(digits)
	return n
}

func TestOrderingAcceptsOnlySerialOrders(t *testing.T) {
	tasks := func(from, to int) (names []string) {
		for n := from; n <= to; n++ {
			names = append(names, worlds.TaskName(n))
		}
		return names
	}
	did := func(skill, scope string, created, deleted []string) outcome {
		return outcome{call: call{skill: skill, scope: scope}, committed: true, created: created, deleted: deleted}
	}
	one, three, none := did("one", "", tasks(1, 1), nil), did("three", "", tasks(2, 4), tasks(1, 1)), did("none", "", nil, tasks(2, 4))
	refused := outcome{call: call{skill: "one", active: "refuse"}, code: 2, stderr: "tasks are under way"}
	for name, c := range map[string]struct {
		outcomes []outcome
		skill    string // whose tasks are there in the end
		after    []string
		deleted  string // by a client
		serial   bool
	}{
		"one after the other":                  {[]outcome{three, one}, "three", tasks(2, 4), "", true},
		"a call that only deletes comes last":  {[]outcome{none, three, one}, "", nil, "", true},
		"a replaced task is left":              {[]outcome{three, one}, "three", tasks(1, 4), "", false},
		"a task is missing":                    {[]outcome{three, one}, "three", tasks(2, 3), "", false},
		"a client deleted that task":           {[]outcome{three, one}, "three", tasks(2, 3), "4.json", true},
		"only some tasks are created":          {[]outcome{did("three", "", tasks(1, 2), nil)}, "three", tasks(1, 2), "", false},
		"the first workflow is not replaced":   {[]outcome{one, did("three", "", tasks(2, 4), nil)}, "three", tasks(2, 4), "", false},
		"a workflow in the scope of one skill": {[]outcome{did("three", "skill", tasks(1, 3), nil)}, "three", tasks(1, 3), "", true},
		"another skill's task is deleted": {
			[]outcome{one, did("three", "skill", tasks(2, 4), tasks(1, 1))}, "three", tasks(2, 4), "", false,
		},
		"refused without active tasks": {[]outcome{one, refused}, "one", tasks(1, 1), "", false},
	} {
		o := &ordering{deletable: map[string]bool{c.deleted: true}, after: workflow{}}
		for _, name := range c.after {
			o.after[name] = skillTask{skill: c.skill, status: "pending"}
		}
		assert.Equal(t, c.serial, o.check(workflow{}, c.outcomes) == nil, name)
	}
}
