package workflow

import (
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/message"
)

// The workflows of a list are a tree: a workflow may be under a step of another one, its
// [Workflow.Parent]. Three things are workflows under a step: a skill that was called while
// the step was worked on, the parts of which a step consists, and the copies of a step, one
// for each item. They differ only in how they come into the list:
//
//   - A skill that is called has a transaction of its own, so it has a record of its own. It
//     belongs to the round of its parent in which it was called ([Workflow.Round]).
//   - Parts come with the workflow of their parent, in one transaction and one record: they
//     are in [Workflow.Under] of it. They have no round: each round of the parent opens all
//     of them again.
//   - Copies come in one transaction. Its record is a Workflow without steps, whose Under are
//     the copies, each with its [Workflow.Item]. They belong to the round in which they came.
//
// Each of them has its own machine, its own ids ([fsmspec.Task.Local]) and its own outcomes; a stop
// in one ends only that one. Steps of all workflows have different numbers in the list, so
// the evidence needs no more than the number.
//
// What follows is the same for all of them. A step under which a workflow is unfinished
// cannot be completed, not even to go back, and is not ready: the work is inside. The steps
// of a workflow are ready only while the steps before its parent are done. When the parent
// ends in another way, because a person says so or its workflow is ended, or when it comes
// round again, what is still open under it is not needed any more.

// All returns the workflow, unless it has no steps, and those that came with it, each after
// the one that it is under. They share what is said once, in w.
func (w *Workflow) All() (list []*Workflow) {
	if len(w.Steps) > 0 {
		list = append(list, w)
	}
	for i := range w.Under {
		u := &w.Under[i]
		u.Values = w.Values
		u.Expands = w.Expands
		u.Version, u.Command, u.Spec, u.SHA256, u.Session, u.Agent = w.Version, w.Command, w.Spec, w.SHA256, w.Session, w.Agent
		u.Dir, u.Inode, u.Repo, u.Began, u.With, u.Over = w.Dir, w.Inode, w.Repo, w.Began, w.With, w.Over
		u.Part = true
		list = append(list, u.All()...)
	}
	return list
}

// CameWith reports whether the workflow is not a skill that was called, but parts or a copy of
// the step that it is under: then the list shows that they wait for each other.
func (w *Workflow) CameWith() bool { return w.Part }

// Last returns the numbers of the steps that no other step of the workflow comes after.
func (w *Workflow) Last() (ids []int64) {
	for _, b := range w.Steps {
		if !slices.ContainsFunc(w.Steps, func(o fsmspec.Task) bool { return slices.Contains(o.BlockedBy, b.ID) }) {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// Title returns what a workflow is called beside the others under the same step.
func (w *Workflow) Title() string {
	switch {
	case w.Item != "":
		return "the item " + message.Quote(w.Item)
	case w.Part:
		return "the parts of #" + message.Itoa(w.Parent)
	}
	return "the workflow of " + message.Clip(message.Words(w.Command), message.MaxSubject)
}

// TitleIs begins a sentence: "The parts of #3 are".
func (w *Workflow) TitleIs() string {
	n := 1
	if w.Item == "" && w.Part {
		n = 2
	}
	return "T" + strings.TrimPrefix(w.Title(), "t") + " " + message.IsOrAre(n)
}

// Level names what an outcome with a stop ends: the innermost of item, parts and workflow.
func (w *Workflow) Level() string {
	if w.Item == "" && !w.Part {
		return "the workflow"
	}
	return w.Title()
}

// Outside comes before a command that the client shows to a person: in its own shell, to which ! leads, it would count as the agent's.
const Outside = "in a terminal, not with !: "

// HasReplaced says of a workflow which ones it has replaced, by their texts. undo is the command that brings these back; empty if there is
// none.
func HasReplaced(command string, lost []string, undo string) string {
	text := message.Clip(message.Words(command), message.MaxSubject) + " has replaced " + message.Words(message.Sentence(lost))
	if undo == "" {
		return text
	}
	return text + "; " + undo + map[bool]string{true: " brings them back", false: " brings it back"}[len(lost) > 1]
}

// OurVariable reports whether commands of the workflow get a variable of that name from it, so
// that one from elsewhere must not reach them.
func (w *Workflow) OurVariable(name string) bool {
	name, ok := strings.CutPrefix(name, "FSM_")
	if !ok {
		return false
	}
	name = strings.ToLower(name)
	n, outcome := strings.CutPrefix(name, "outcome_")
	_, isVar := w.Vars[name]
	return name == fsmspec.Args || name == fsmspec.Round || name == fsmspec.Item || isVar ||
		outcome && strings.Trim(n, "0123456789") == "" ||
		slices.ContainsFunc(w.Steps, func(s fsmspec.Task) bool {
			return slices.ContainsFunc(s.Set, func(v fsmspec.Value) bool { return v.Name == name })
		})
}

// InPaths reports whether a path of the workflow names the value.
func (w *Workflow) InPaths(name string) bool {
	return slices.ContainsFunc(w.Steps, func(s fsmspec.Task) bool {
		return slices.ContainsFunc(s.Paths(), func(path string) bool { return slices.Contains(fsmspec.Named(path), name) })
	})
}
