package tasks

import (
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/txn"
)

// lineage tells what came of what in a history. A call of a skill creates tasks. Under these come the copies for items and the calls of
// other skills, each as a change of its own, and an undo is of the change that it undoes.
type lineage struct {
	history []txn.Entry
	labels  []Label
	above   []int          // the index of the change that each change came under, or that it undoes; -1 if there is none
	creator map[string]int // the index of the change that created a task first, by the name of its file
}

func lineageOf(history []txn.Entry) lineage {
	r := lineage{history, make([]Label, len(history)), make([]int, len(history)), map[string]int{}}
	changes := map[string]int{}
	for i, e := range history {
		l := &r.labels[i]
		_ = json.Unmarshal([]byte(e.Label), l, jsonx.Tolerant) // a change of another program is a call of its own
		above, known := changes[l.Undo]
		if l.Undo == "" && max(l.Step, l.Under) != 0 {
			above, known = r.creator[Form.Name(message.Itoa(max(l.Step, l.Under)))]
		}
		if r.above[i] = -1; known {
			r.above[i] = above
		}
		changes[e.ID] = i
		for _, f := range e.Created {
			if _, known := r.creator[f.Name]; !known && l.Undo == "" {
				r.creator[f.Name] = i
			}
		}
	}
	return r
}

// root returns the index of the call that everything above change i comes of.
func (r lineage) root(i int) int {
	for r.above[i] >= 0 {
		i = r.above[i]
	}
	return i
}

// of reports whether change i is the call, or came of it. An undo comes of nothing.
func (r lineage) of(i, call int) bool {
	for i >= 0 && i != call && r.labels[i].Undo == "" {
		i = r.above[i]
	}
	return i == call
}

// out returns the names of the tasks that change i has taken out of the list, also those of a continuation whose files were gone.
func (r lineage) out(i int) (names []string) {
	for _, f := range r.history[i].Deleted {
		names = append(names, f.Name)
	}
	if l := r.labels[i]; l.With != "" && l.To != "" {
		for _, id := range l.Steps {
			names = append(names, Form.Name(message.Itoa(id)))
		}
	}
	return names
}

// hasLeft reports whether the tasks of a call are out of the list because its workflow goes on in another one.
func (r lineage) hasLeft(call int) (left bool) {
	has := func(name string) bool {
		return slices.ContainsFunc(r.history[call].Created, func(f txn.EntryFile) bool { return f.Name == name })
	}
	for i := call + 1; i < len(r.history); i++ {
		switch {
		case slices.ContainsFunc(r.out(i), has):
			left = r.labels[i].With != ""
		case slices.ContainsFunc(r.history[i].Created, func(f txn.EntryFile) bool { return has(f.Name) }):
			left = false
		}
	}
	return left
}

// index returns that of the change with an id, -1 if there is none.
func (r lineage) index(id string) int {
	return slices.IndexFunc(r.history, func(e txn.Entry) bool { return e.ID == id })
}

// calls returns the calls whose tasks a change has brought into the list: its own, or those that an undo has brought back.
func (r lineage) calls(i int) (all []int) {
	if r.labels[i].Undo == "" {
		return []int{i}
	}
	for _, f := range r.history[i].Created {
		if c, known := r.creator[f.Name]; known && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}

// cameOf reports whether change i is one of the calls, or came of one.
func (r lineage) cameOf(i int, calls []int) bool {
	return slices.ContainsFunc(calls, func(call int) bool { return r.of(i, call) })
}

// Undone maps the id of each change that is undone to the id of the undo: the changes that were undone themselves, and those that came
// of them before. An undo that was itself undone has no effect.
func Undone(history []txn.Entry) map[string]string {
	undone := map[string]string{}
	for _, e := range slices.Backward(history) {
		if undone[e.ID] != "" {
			continue
		}
		if id := Undoes(e.Label); id != "" && undone[id] == "" {
			undone[id] = e.ID
		}
	}
	if len(undone) == 0 {
		return undone
	}
	r := lineageOf(history)
	for id, by := range undone {
		call, last := r.index(id), r.index(by)
		if call < 0 || r.labels[call].Undo != "" {
			continue
		}
		for i := call + 1; i < last; i++ {
			if r.labels[i].Undo == "" && r.of(i, call) && undone[history[i].ID] == "" {
				undone[history[i].ID] = by
			}
		}
	}
	return undone
}

// Undoes returns the id of the change that a change with this label undid, "" if it is
// not an undo.
func Undoes(label string) string { return jsonx.StringMember([]byte(label), "undo") }
