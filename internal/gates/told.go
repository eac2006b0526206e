package gates

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// Begun returns for the person what tellChanged does of what the agent has begun: of a call of the skill they were told at once.
func (f *Frame) Begun(ctx context.Context) message.ForPerson {
	s, err := f.Now(ctx)
	if err != nil {
		return ""
	}
	return f.tellChanged(ctx, s, true)
}

// tellChanged returns for the person, once each, which workflows have replaced unfinished ones, and which definitions have
// changed without a word to them: a command or a tool of the agent has begun the workflow, whose answer reaches the agent alone. With
// unsaid it is only the latter.
func (f *Frame) tellChanged(ctx context.Context, s *state.State, unsaid bool) (text message.ForPerson) {
	for _, c := range s.Changed {
		if (c.Text != "" || !unsaid) && !f.AlreadyTold(ctx, fmt.Sprintf("changed/%d", c.At)) {
			what := message.ForPerson(c.Text)
			if len(c.Lost) > 0 {
				undo := ""
				history, _ := f.History()
				list := f.List
				list.Changed = s.Rewritten()
				if flags, ok := list.HowToUndo(history, c.ID); ok {
					undo = workflow.Outside + strings.Join(append([]string{fmt.Sprintf("fsmtx undo%s %d", f.ListFlag(), c.At)}, flags...), " ")
				}
				if what != "" {
					what += "; "
				}
				what += message.ForPerson(workflow.HasReplaced(c.Command, c.Lost, undo))
			}
			text = message.Join(text, what)
		}
	}
	return text
}

// unrecordedTask returns the verdict on an update of a task that is tagged and not on record. It is not
// enforced; the person is told once a session. beside says that other steps of the list are on record.
func (f *Frame) unrecordedTask(ctx context.Context, t *state.Tagged, beside bool) Verdict {
	what := message.ForPerson(fmt.Sprintf("#%s %s is marked as a step of the workflow %s, but nothing about it is on record in %s, ",
		t.ID, message.Quote(t.File.Subject), message.Quote(t.Tag), state.StateDir(f.List.Dir)))
	switch {
	case beside && f.AlreadyTold(ctx, f.Session+"/marked"), !beside && f.AlreadyTold(ctx, f.Session):
		return Verdict{}
	case beside:
		return Verdict{Trouble: what + "so it is not enforced; the steps that are on record are. " +
			"The agent may have marked it, or an older fsmtx put it there"}
	}
	return Verdict{Trouble: what + "so the steps of this list are not enforced. An older fsmtx put it there, or the record was removed. " +
		"To have its steps enforced, " + state.Remedy}
}

// tellMissing returns for the person which steps of the session's workflows are missing, once a session
// as long as no further one is, or that nothing about its steps is on record. At its stop there may be no other
// occasion.
func (f *Frame) tellMissing(ctx context.Context, s *state.State, x Stopping) message.ForPerson {
	if x.Agent != "" || x.Heard != nil && !x.Heard.Works {
		return ""
	}
	if len(s.Steps) == 0 {
		if all, err := s.TaggedTasks(f.List.Dir); err == nil && len(all) > 0 {
			return f.unrecordedTask(ctx, &all[0], false).Trouble
		}
		return ""
	}
	if len(s.Missing()) == 0 {
		return ""
	}
	remedy := "Invoke" + strings.TrimPrefix(state.Remedy, "invoke")
	if x.Heard == nil {
		s = f.own(s, x.Transcript, x.Prompt)
	} else { // there, a skill that is invoked again goes on
		s, remedy = s.OnlyCalled(x.Heard.Called), "Begin it again, with fsmtx begin or the tool workflow_begin, to have all its steps"
	}
	gone := s.Missing()
	if len(gone) == 0 {
		return ""
	}
	if back := s.BringsBack(gone[0]); back != "" && x.Heard == nil {
		remedy = back + " brings them back, in a terminal, not with !"
	}
	if f.AlreadyTold(ctx, fmt.Sprintf("%s/gone/%d-%d", cmp.Or(x.Caller, f.Session), len(gone), gone[len(gone)-1].ID)) {
		return ""
	}
	return message.ForPerson((&state.State{Steps: gone}).Commands() + ": " + state.ErrMissing.Error() + ": " + state.Names(gone) + ". " +
		remedy)
}

// Left returns for the person, once a session, which workflows are open in another list than that of the frame, which
// the client was given while they were under way, and their skills.
func (f *Frame) Left(ctx context.Context, dir string) (open string, skills []string) {
	if dir == f.List.Dir {
		return "", nil
	}
	s, err := state.LoadNow(ctx, dir)
	there := *f
	there.List.Dir = dir
	if err != nil || !s.HasOpen() || there.AlreadyTold(ctx, f.Session+"/left") {
		return "", nil
	}
	for _, w := range s.Workflows() {
		if s.Parent(w) == nil && len(s.OpenIn(w)) > 0 {
			skills = append(skills, w.Command)
		}
	}
	return s.Summary(), skills
}
