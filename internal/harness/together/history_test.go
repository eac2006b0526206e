package together_test

import (
	"fmt"
	"slices"
	"sync"

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
	mu       sync.Mutex
	tasks    map[int]*clientTask
	given    []int        // IDs
	deleting map[int]bool // tasks of skills whose deletion was ordered
	deleted  map[int]bool // and reported

	oneDelete sync.Mutex // see worker.delete
}

// clientTask is a task that a client created.
type clientTask struct {
	subject       string
	updates       int
	torn, deleted bool
}

func newLedger() *ledger {
	return &ledger{tasks: map[int]*clientTask{}, deleting: map[int]bool{}, deleted: map[int]bool{}}
}
