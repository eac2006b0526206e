package together_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// history is all that happened to a list: what it held before, who did what, and
// what it holds after.
type history struct {
	statuses      map[string][]string
	before, after map[string]file
	outcomes      []outcome
	ledger        *ledger // nil if no client was there
	killed        bool    // hooks were
}

// violations holds the history against every promise; none is the good answer.
func (h *history) violations() []string {
	return slices.Concat(h.failures(), h.ids(), h.untouched(), h.byHand(), h.comebacks(), h.halves(), h.disorder())
}

// failures are hooks that failed though nothing asked them to.
func (h *history) failures() (list []string) {
	for _, o := range h.outcomes {
		if o.code != 0 && !o.ended() && !o.refused() {
			list = append(list, fmt.Sprintf("a hook failed: %s", o))
		}
		if o.code == 0 && o.told == nil && o.stdout != "{\"continue\": true}\n" {
			list = append(list, fmt.Sprintf("a hook answered %q", o.stdout))
		}
	}
	return list
}

// ids are those that were given twice.
func (h *history) ids() (list []string) {
	given := map[string]string{}
	give := func(name, who string) {
		if first, ok := given[name]; ok {
			list = append(list, fmt.Sprintf("%s was given to %s and to %s", name, first, who))
		}
		given[name] = who
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
			give(taskName(id), "a client")
		}
	}
	return list
}

// untouched are the user's tasks that nobody had a reason to touch and somebody did.
func (h *history) untouched() (list []string) {
	for name, f := range h.before {
		v, err := f.task()
		if err == nil && v.Metadata.FSM == nil && !h.isClients(name) && h.after[name] != f {
			list = append(list, fmt.Sprintf("%s was %v and is %v", name, f, h.after[name]))
		}
	}
	return list
}

func (h *history) isClients(name string) bool {
	return h.ledger != nil && h.ledger.tasks[taskID(name)] != nil
}

// byHand are tasks of clients that are lost, or updates of them that are.
func (h *history) byHand() (list []string) {
	if h.ledger == nil {
		return nil
	}
	for id, want := range h.ledger.tasks {
		f, there := h.after[taskName(id)]
		got, err := f.task()
		switch count := countOf(got.Description); {
		case want.deleted && there:
			list = append(list, fmt.Sprintf("task %d was deleted and is back", id))
		case want.deleted:
		case !there:
			list = append(list, fmt.Sprintf("task %d, created by a client, is lost", id))
		case want.torn:
		case err != nil:
			list = append(list, fmt.Sprintf("task %d is broken: %v: %q", id, err, f.text))
		case got.Subject != want.subject || got.Metadata.FSM != nil:
			list = append(list, fmt.Sprintf("task %d is %q and was %q", id, got.Subject, want.subject))
		case count != want.count:
			list = append(list, fmt.Sprintf("task %d counts %d updates of %d", id, count, want.count))
		}
	}
	return list
}

// comebacks are a workflow's tasks that a client deleted and that are there. A
// rollback may restore one; that is not promised against.
func (h *history) comebacks() (list []string) {
	if h.ledger == nil || h.killed {
		return nil
	}
	for id := range h.ledger.deleted {
		if _, there := h.after[taskName(id)]; there {
			list = append(list, fmt.Sprintf("task %d, deleted by a client, is back", id))
		}
	}
	return list
}

// halves are hydrations of which a part only could be seen when they had
// returned, and which no other one was replacing.
func (h *history) halves() (list []string) {
	if h.killed {
		return nil
	}
	for _, o := range h.outcomes {
		for _, name := range o.created {
			if o.committed && !slices.Contains(o.names, name) && !h.replaced(name) && !h.gone()[name] {
				list = append(list, fmt.Sprintf("%s was not there when its hook had returned: %s", name, o))
			}
		}
	}
	return list
}

func (h *history) replaced(name string) bool {
	return slices.ContainsFunc(h.outcomes, func(o outcome) bool { return o.committed && slices.Contains(o.deleted, name) })
}

// gone are the tasks that a client has, or may have, deleted.
func (h *history) gone() map[string]bool {
	gone := map[string]bool{}
	if h.ledger != nil {
		for id := range h.ledger.doomed {
			gone[taskName(id)] = true
		}
	}
	return gone
}

// disorder is the want of a serial order, or a file that is nobody's.
func (h *history) disorder() (list []string) {
	after, strays := h.workflow(h.after)
	o := &ordering{statuses: h.statuses, gone: h.gone(), loose: h.ledger != nil, after: after}
	before, _ := h.workflow(h.before)
	if err := o.serial(before, h.outcomes); err != nil {
		strays = append(strays, err.Error())
	}
	return strays
}

// workflow returns what of the files was made by skills, and what is unknown.
func (h *history) workflow(files map[string]file) (f workflow, strays []string) {
	f = workflow{}
	for name, x := range files {
		v, err := x.task()
		_, old := h.before[name]
		switch {
		case err == nil && v.Metadata.FSM != nil:
			f[name] = tagged{*v.Metadata.FSM, v.Status}
		case !old && !h.isClients(name):
			strays = append(strays, fmt.Sprintf("%s is nobody's: %q", name, x.text))
		}
	}
	return f, strays
}

// ledger is what clients were told to do and said they did.
type ledger struct {
	mu      sync.Mutex
	tasks   map[int]*manual
	given   []int
	doomed  map[int]bool // a deletion of it was begun
	deleted map[int]bool // and done

	deleting sync.Mutex // is held by the client that deletes
}

// manual is a task that a client created.
type manual struct {
	subject       string
	count         int // updates
	torn, deleted bool
}

func newLedger() *ledger {
	return &ledger{tasks: map[int]*manual{}, doomed: map[int]bool{}, deleted: map[int]bool{}}
}

// leftovers checks that the list is left as whoever comes next needs it: no
// fresh lock, nothing to recover, nothing that belongs elsewhere.
func (w *world) leftovers(t *testing.T) (list []string) {
	t.Helper()
	for _, name := range w.locks(t) {
		if age := age(w.at(name)); age < stale {
			list = append(list, fmt.Sprintf("%s is still held, for %v", name, age))
		}
	}
	if found, _ := filepath.Glob(filepath.Join(w.sibling(), "journal")); len(found) > 0 {
		list = append(list, "there is something to recover")
	}
	return list
}
