package hydrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// Nested says under which step a workflow came.
type Nested struct {
	ID       int64  // its number
	Step     string // its number and subject
	Skill    string // whose step it is
	Early    bool   // the step demands the skill and is not in progress, so the call does not count for it
	EndOuter string // the command that ends the other workflow
}

// planner returns what decides about the list: which tasks give way to the workflow, and the
// step that it comes under. It is called while the list is locked.
func (h *Hydration) planner(ctx context.Context) tasks.Planner {
	return func(snap fsmspec.Snapshot) (*fsmspec.Plan, error) {
		var err error
		h.others = nil
		if h.place, err = h.placeIn(ctx, snap); err != nil {
			return nil, err
		}
		policy, tags := h.policy, map[int64]string{}
		for _, e := range snap.Tasks {
			tags[e.Number] = e.Tag
		}
		if h.place.Parent != nil {
			policy.Scope, snap.Tasks = fsmspec.ScopeAll, tasksOf(snap.Tasks, h.place.Replaces)
		} else {
			snap.Tasks = tasksBeside(snap.Tasks, h.others)
		}
		plan, err := h.spec.Plan(h.request.Command, snap, policy)
		if err != nil {
			return nil, err
		}
		h.result.Lost = h.lostTo(plan, tags)
		if len(h.result.Lost) > 0 && !h.options.isOfClient() {
			return nil, fmt.Errorf("%w: %s", ErrReplaces, strings.Join(h.result.Lost, ", "))
		}
		return plan, nil
	}
}

// ErrReplaces is returned for a workflow that an agent begins by a command, a tool or an event of its own, and that would replace
// unfinished ones.
var ErrReplaces = errors.New("an agent cannot replace an unfinished workflow by itself")

// placeIn decides where the workflow comes. If no workflow has tasks in the list, nothing has to be read for that.
func (h *Hydration) placeIn(ctx context.Context, snap fsmspec.Snapshot) (state.Place, error) {
	command := h.request.tag()
	if len(snap.Tasks) == 0 {
		return state.Place{}, nil
	}
	now, err := (&state.Store{List: h.list}).Now(ctx)
	if err == nil && !h.options.Flat {
		err = unread(now)
	}
	if err != nil {
		return state.Place{}, err
	}
	h.state = now
	h.demanded = slices.ContainsFunc(now.Steps, func(c *state.Current) bool { return fsmspec.SameSkill(c.Skill, command) })
	if h.options.Mine != nil {
		mine := func(w *workflow.Workflow) bool { return w.Command == command || h.options.Mine(w.Command) }
		wait := waiting(now, command)
		h.others = openOf(now, func(w *workflow.Workflow) bool { return !mine(w) })
		now = now.Only(func(w *workflow.Workflow) bool { return mine(w) || wait[w] })
	}
	return now.Place(state.Calling{Command: command, Spec: h.result.Spec, Session: h.request.Session,
		Agent: h.request.Agent, Use: h.request.use(),
		Typed: h.request.Typed, Flat: h.options.Flat, Demands: h.spec.Skills()})
}

// waiting returns the workflows with a step in progress that demands the skill. Whoever calls the skill may
// have gone on with one of them by a command, which does not tell its session.
func waiting(s *state.State, skill string) map[*workflow.Workflow]bool {
	all := map[*workflow.Workflow]bool{}
	for _, c := range s.Steps {
		if !c.Done() && c.Status == fsmspec.InProgress.String() && fsmspec.SameSkill(c.Skill, skill) {
			all[c.Workflow] = true
		}
	}
	return all
}

// openOf returns the unfinished ones of the workflows that are wanted, each with all that are in one tree
// with it: what is finished there was done for what is not.
func openOf(s *state.State, wanted func(*workflow.Workflow) bool) []*workflow.Workflow {
	top := func(w *workflow.Workflow) *workflow.Workflow {
		if above := s.Above(w); len(above) > 0 {
			return above[len(above)-1].Workflow
		}
		return w
	}
	open := map[*workflow.Workflow]bool{}
	for _, c := range s.Steps {
		if !c.Done() && wanted(c.Workflow) {
			open[top(c.Workflow)] = true
		}
	}
	return slices.DeleteFunc(s.Workflows(), func(w *workflow.Workflow) bool { return !open[top(w)] })
}

// unread returns why a workflow in the list could not be read now, if the file system has failed: work on
// it may have begun, and would be replaced. A record that is damaged stays so, and is replaced.
func unread(s *state.State) error {
	for _, err := range s.Troubles {
		if _, failed := errors.AsType[syscall.Errno](err); failed {
			return fmt.Errorf("nothing was replaced: the state of the workflows in the list cannot be read: %w", err)
		}
	}
	return nil
}

// tasksOf returns the tasks that are steps of the workflows.
func tasksOf(all []fsmspec.Existing, workflows []*workflow.Workflow) []fsmspec.Existing {
	ids := stepsOf(workflows)
	return slices.DeleteFunc(slices.Clone(all), func(e fsmspec.Existing) bool { return !ids[e.ID] })
}

// tasksBeside returns the tasks that are not steps of the workflows.
func tasksBeside(all []fsmspec.Existing, workflows []*workflow.Workflow) []fsmspec.Existing {
	ids := stepsOf(workflows)
	return slices.DeleteFunc(slices.Clone(all), func(e fsmspec.Existing) bool { return ids[e.ID] })
}

func stepsOf(workflows []*workflow.Workflow) map[string]bool {
	ids := map[string]bool{}
	for _, w := range workflows {
		for _, s := range w.Steps {
			ids[strconv.FormatInt(s.ID, 10)] = true
		}
	}
	return ids
}

// tag returns the name of the skill as in the tag of its tasks.
func (r Request) tag() string { return strings.ToValidUTF8(r.Command, "\uFFFD") }

// nested describes the step that the workflow came under, nil if it came under none.
func (h *Hydration) nested() *Nested {
	p := h.place.Parent
	if p == nil || len(h.result.Created) == 0 {
		return nil
	}
	frame := gates.Frame{Store: state.Store{List: h.list,
		ListName: func() string { return tasklist.ShortName(h.env, h.list.Dir) }}}
	return &Nested{ID: p.ID, Step: p.Name(), Skill: p.Workflow.Command, Early: h.place.Early,
		EndOuter: frame.EndCommand(p)}
}

// lostTo returns which unfinished workflows the plan replaces, with how much of them is done. tags are those of the
// tasks in the list.
func (h *Hydration) lostTo(plan *fsmspec.Plan, tags map[int64]string) (texts []string) {
	for _, w := range h.place.Lost {
		ids := stepsOf([]*workflow.Workflow{w.Workflow})
		if slices.ContainsFunc(plan.Deletions(), func(d fsmspec.Deletion) bool { return ids[d.ID] }) {
			texts = append(texts, w.Text)
		}
	}
	for _, d := range plan.Deletions() {
		unknown := d.Status != fsmspec.Completed.String() && tags[d.Number] != h.request.tag() && h.state.Step(d.Number) == nil
		if text := state.Unrecorded(tags[d.Number]); unknown && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}
