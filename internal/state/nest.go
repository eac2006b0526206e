package state

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/locator"
)

// maxDepth is how many skills may be open one within the other. A further one comes under the
// step that the deepest is under.
const maxDepth = 3

// Calling is a call of a skill that has a workflow.
type Calling struct {
	Command string // the name of the skill
	Spec    string // path of its file; empty if it is not known
	Session string
	Agent   string // id of the subagent that called it; empty for the session's own agent
	Use     string // identifies the call; empty if unknown
	Typed   bool   // a person typed it
	Flat    bool   // it replaces what is there in any case

	Demands []string // the skills that its workflow demands
}

// Place is where the workflow of a skill that is called comes into a list. Without a Parent
// it replaces what is there.
type Place struct {
	Parent *Current // the step that it comes under; nil if it is under none

	// Early says that Parent demands the skill and is not in progress, so that this call does not count for it.
	Early bool

	// Replaces are the workflows that give way to one under Parent: earlier ones of the same
	// skill under that step, and what is under them.
	Replaces []*workflow.Workflow

	// Lost are the workflows that are not finished and give way to one without a Parent, begun or
	// not. Those that the session itself has begun of the same skill start over and are not among them.
	Lost []Lost
}

// Lost is an unfinished workflow that gives way to one of another skill or session.
type Lost struct {
	*workflow.Workflow
	Text string // its name, and how many of its steps are done
}

// ErrOpenAbove is returned for a skill that is called within its own workflow: in a step of a
// skill that its workflow has called.
var ErrOpenAbove = errors.New("the skill is open already")

// ErrCircle is returned for a skill whose workflow demands one within which it is called: that
// step could never be completed.
var ErrCircle = errors.New("the skills demand each other")

// Place decides where the workflow of a skill comes. It comes under the step that is worked
// on, if another skill's workflow has begun and is not finished: under the step in progress
// that the same agent started last, else under the one that was started last, else, unless a
// person typed the skill, under the first step that can be started. Of each of these a step that
// demands the skill, and for which it was not called yet, goes first; of those that can be
// started also if work on its workflow has not begun.
//
// Errors: ErrOpenAbove, ErrCircle.
func (s *State) Place(c Calling) (Place, error) {
	at := s.workedOn(c)
	if at == nil || c.Flat {
		return Place{Lost: s.lostTo(c)}, nil
	}
	open := s.callsAbove(at)
	for i, w := range open {
		switch {
		case w.Command != c.Command:
		case i > 0:
			return Place{}, fmt.Errorf("%s: %w: %s of it has led to %s, and a skill cannot be inside itself. Go on with %s",
				message.Quote(c.Command), ErrOpenAbove, s.stepIn(w, at).Name(), open[0].Title(), at.Name())
		case s.Parent(w) == nil:
			return Place{Lost: s.lostTo(c)}, nil // it starts over, or another one of its name takes its place
		default:
			at = s.Parent(w)
		}
	}
	for len(s.callsAbove(at)) >= maxDepth {
		at = s.Parent(s.callsAbove(at)[0])
	}
	for _, w := range s.callsAbove(at) {
		if i := slices.IndexFunc(c.Demands, func(d string) bool { return fsmspec.SameSkill(d, w.Command) }); i >= 0 {
			return Place{}, fmt.Errorf("%s: %w: a step of it demands the skill %s, and this call comes from within that skill",
				message.Quote(c.Command), ErrCircle,
				message.Quote(c.Demands[i]))
		}
	}
	return Place{Parent: at, Early: c.demandedBy(at) && !at.Called && !s.underWay(at), Replaces: s.startedOver(at, c)}, nil
}

// workedOn returns the step that is worked on when a skill is called, or nil.
func (s *State) workedOn(c Calling) *Current {
	var demanding, begun, started, wanting []*Current
	for _, b := range s.Steps {
		if b.Done() || b.Unread || !c.demandedBy(b) && !s.begun(b.Workflow) {
			continue
		}
		if b.Status == workflow.InProgress {
			started = append(started, b)
			if s.wants(b, c) {
				wanting = append(wanting, b)
			}
		}
		switch {
		case len(s.OpenBlockers(b)) > 0:
		case c.demandedBy(b):
			demanding = append(demanding, b)
		default:
			begun = append(begun, b)
		}
	}
	for _, by := range []*Calling{&c, nil} {
		if at := cmp.Or(s.startedLast(wanting, by), s.startedLast(started, by)); at != nil {
			return at
		}
	}
	if begun = append(demanding, begun...); len(begun) > 0 && !c.Typed {
		return begun[0]
	}
	return nil
}

// demandedBy reports whether a step demands the skill.
func (c Calling) demandedBy(b *Current) bool {
	return b.Skill != "" && fsmspec.SameSkill(b.Skill, c.Command)
}

// begun reports whether work on a workflow has begun: a step of it was started, even if it is pending
// again, or was completed since it came into the list. That is known only if it is on record.
func (s *State) begun(w *workflow.Workflow) bool {
	return slices.ContainsFunc(s.In(w), func(c *Current) bool {
		switch {
		case c.Unread || c.Gone() || c.NotNeeded:
			return false
		case c.Status == workflow.InProgress || s.wasStarted(c):
			return true
		}
		return c.Step.Status != fsmspec.Completed && (c.Done() || c.Status == workflow.Completed)
	})
}

// wasStarted reports whether a start of the step was let through, and has not lapsed.
func (s *State) wasStarted(c *Current) bool {
	lapsed := false
	for _, e := range slices.Backward(s.Evidence) {
		switch {
		case e.Step != c.ID:
		case e.From == workflow.InProgress, e.To == workflow.InProgress && e.Lets() && !lapsed:
			return true
		case e.Verdict == Lapsed:
			lapsed = true
		}
	}
	return false
}

// startedLast returns the step that was started last: by the same agent if by is not nil.
func (s *State) startedLast(started []*Current, by *Calling) (last *Current) {
	var at time.Time
	for _, c := range started {
		e, known := s.start(c)
		if by != nil && (!known || e.Agent != by.Agent || e.By.Session != "" && e.By.Session != by.Session) {
			continue
		}
		if last == nil || !e.Time.Before(at) {
			last, at = c, e.Time
		}
	}
	return last
}

// start returns the decision by which a step that is in progress was started. It is unknown
// for one that was hydrated so, or that was started in another way.
func (s *State) start(c *Current) (Evidence, bool) {
	return s.lastOf(c.ID, func(e Evidence) bool { return e.Lets() && e.To == workflow.InProgress && e.From != workflow.InProgress })
}

// OfSkill returns the workflow of the skill to which a workflow belongs: parts and copies have
// come with it.
func (s *State) OfSkill(w *workflow.Workflow) *workflow.Workflow {
	for w.Part && s.Parent(w) != nil {
		w = s.Parent(w).Workflow
	}
	return w
}

// callsAbove returns the workflows of the skills within which a step is, the innermost first.
func (s *State) callsAbove(c *Current) (all []*workflow.Workflow) {
	for c != nil {
		w := s.OfSkill(c.Workflow)
		if slices.Contains(all, w) {
			break
		}
		all, c = append(all, w), s.Parent(w)
	}
	return all
}

// stepIn returns the step of a skill's workflow within which another step is.
func (s *State) stepIn(w *workflow.Workflow, c *Current) *Current {
	for p := c; p != nil; p = s.Parent(p.Workflow) {
		if c = p; s.OfSkill(p.Workflow) == w {
			break
		}
	}
	return c
}

// startedOver returns the workflows that give way to a skill that is called under a step:
// those of the same skill that are finished, or that the same agent called; and what is under
// them.
func (s *State) startedOver(at *Current, c Calling) (all []*workflow.Workflow) {
	for _, w := range s.under[at.ID] {
		if w.Command == c.Command && !w.Part && (s.Finished(w) || w.Session == c.Session && w.Agent == c.Agent) {
			all = append(all, w)
			all = append(all, s.below(w)...)
		}
	}
	return all
}

// isNamesakeOf reports whether the workflow has the name of the one that is called and is another one: a workflow is its file. The file
// at the same place in another work tree of the repository is the same.
func (c Calling) isNamesakeOf(w *workflow.Workflow) bool {
	return w.Command == c.Command && c.Spec != "" && w.Spec != "" && !SameFile(c.Spec, w.Spec)
}

// SameFile reports whether two paths are those of one file, or of the same one in two work trees of a repository.
func SameFile(a, b string) bool {
	if a == b || safefile.Same(a, b) {
		return true
	}
	thereA, repositoryA, _ := client.Repository(locator.OS{}, safefile.Resolve(filepath.Dir(a)))
	thereB, repositoryB, _ := client.Repository(locator.OS{}, safefile.Resolve(filepath.Dir(b)))
	if thereA == "" || repositoryA == "" || repositoryA != repositoryB || thereA == thereB {
		return false
	}
	inA, errA := filepath.Rel(thereA, safefile.Resolve(a))
	inB, errB := filepath.Rel(thereB, safefile.Resolve(b))
	return errA == nil && errB == nil && inA == inB
}

// below returns the workflows under the steps of a workflow, directly or not.
func (s *State) below(w *workflow.Workflow) (all []*workflow.Workflow) {
	for _, c := range s.In(w) {
		for _, u := range s.under[c.ID] {
			all = append(append(all, u), s.below(u)...)
		}
	}
	return all
}

// Unrecorded says that nothing is on record of a workflow whose open tasks have this tag.
func Unrecorded(tag string) string { return tag + " (nothing is on record of it)" }

// lostTo returns the workflows of other skills, and of other sessions, that are not finished; with them also that of the skill itself, if
// some of it is done.
func (s *State) lostTo(c Calling) (all []Lost) {
	var again []Lost
	for _, w := range s.Workflows() {
		another := c.isNamesakeOf(w)
		own := w.Command == c.Command && !another && (w.Session == "" || w.Session == c.Session)
		n := s.CountIn(w)
		if own && n.Open == n.All() || w.Part || s.Finished(w) {
			continue
		}
		name := w.Command
		if another {
			name = message.Sprintf("%s of %s", name, w.Spec)
		}
		if one := (Lost{w, fmt.Sprintf("%s (%s)", name, n.Short())}); own {
			again = append(again, one)
		} else {
			all = append(all, one)
		}
	}
	if len(all) == 0 { // it only begins anew
		return nil
	}
	return append(all, again...)
}
