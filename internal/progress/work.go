package progress

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/presence"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// ErrRefused is returned for a call that names no open step of the list.
var ErrRefused = errors.New("refused")

// refusal is an ErrRefused with the text for the agent.
type refusal string

func (r refusal) Error() string        { return string(r) }
func (r refusal) Is(target error) bool { return target == ErrRefused }

// Work is one step of a list that an agent works on.
type Work struct {
	*gates.Frame
	Way
	Step      *state.Current
	Undecided bool     // a person decides how the step, which is open, ends, and has not
	Choices   []string // outcomes that can be chosen now, if Undecided
	chosen    string   // how they have decided that it ends
}

// On returns the work on the step with the number.
//
// Errors: ErrRefused, and those of state.Load.
func (w Way) On(ctx context.Context, f *gates.Frame, step int64) (*Work, error) {
	s, err := f.Now(ctx)
	if err != nil {
		return nil, err
	}
	c, elsewhere := s.Step(step), s.Departed.Of(strconv.FormatInt(step, 10))
	switch {
	case elsewhere != "":
		return nil, refusal(fmt.Sprintf("#%d is not decided about in this list: %s", step, elsewhere))
	case len(s.Steps) == 0:
		return nil, refusal(w.message(s))
	case c == nil:
		return nil, refusal(fmt.Sprintf("#%d is not a step of the workflow; its steps are %s", step, state.Names(s.Steps)))
	case c.Gone() && !s.HasOpen():
		return nil, refusal(s.HowEnded(step) + ": " + w.message(s))
	case c.Gone():
		return nil, refusal(s.HowEnded(step))
	}
	work := &Work{Frame: f, Way: w, Step: c, Undecided: s.Undecided(c) && !c.Done(), chosen: s.Choice(c)}
	work.Way.NoChecks = f.NoChecks
	if work.Undecided {
		work.Choices = s.Offered(c)
	}
	return work, nil
}

// Result is what came of an update.
type Result struct {
	gates.Verdict
	Back bool   // the step's outcome leads back
	Text string // for the agent; of a refusal its reason
}

// Update sets the status of the step if its gates allow that. The update's Task is filled in.
func (o *Work) Update(ctx context.Context, u gates.Update) Result {
	u.Task = strconv.FormatInt(o.Step.ID, 10)
	return o.Told(ctx, u, o.Frame.Update(ctx, u))
}

// Answered applies the person's answer to the question about an update; see gates.Frame.Answered. The
// update's Task is filled in.
func (o *Work) Answered(ctx context.Context, u gates.Update, yes bool, how state.How) Result {
	u.Task = strconv.FormatInt(o.Step.ID, 10)
	return o.Told(ctx, u, o.Frame.Answered(context.WithoutCancel(ctx), u, yes, how))
}

// Told returns the result of an update for its verdict, with the text for the agent.
func (o *Work) Told(ctx context.Context, u gates.Update, v gates.Verdict) (r Result) {
	r = Result{Verdict: v}
	o.SayLater(context.WithoutCancel(ctx), v.Trouble)
	defer func() {
		if v.Told != "" && v.Turn == nil && v.Allowed() {
			r.Text = string(v.Told) + "\n" + r.Text
		}
		r.Text = o.Spoken(r.Text) // what is ready now is described as the list has it
	}()
	switch {
	case v.Decision == state.Ask && o.Via.Who == state.ThePerson:
		r.Text = message.Sprintf("%s needs a yes:\n%s\nTo give it: fsmtx step done %d%s --because \"...\"%s", o.Step.Name(),
			message.Lines(v.Reason), o.Step.ID, state.OutcomeFlag(v.Outcome), o.ListFlag())
	case v.Decision == state.Ask:
		r.Text = message.Sprintf("%s needs the approval of a person, and %s:\n%s\nTell them. They can give it in a terminal "+
			"outside the client: fsmtx step done %d%s --because \"...\"%s",
			o.Step.Name(), map[bool]string{true: "nobody has answered here", false: "a command cannot ask one"}[o.Kind == Tools],
			message.Lines(v.Reason), o.Step.ID, state.OutcomeFlag(v.Outcome), o.ListFlag())
	case !v.Allowed():
		r.Text = v.Reason
	case v.Turn != nil:
		r.Back, r.Text = true, string(v.Turn.Text)+o.toThePerson(v)
	case u.Status == workflow.Completed:
		r.Text = o.after(ctx, v.NotEnforced(), o.toThePerson(v))
	default:
		r.Text = o.Step.Name() + " is in progress." + o.toThePerson(v) + " " + o.toComplete(o.Step, o.chosen)
	}
	return r
}

// after returns how the step has ended, what of it was not enforced, then more, then the state of the workflow.
func (o *Work) after(ctx context.Context, gaps, more string) string {
	s, err := o.Now(context.WithoutCancel(ctx))
	if err != nil {
		return o.Step.Name() + " is done" + gaps + "." + more
	}
	if o.Step.Done() { // it was before, and nothing was decided now
		gaps = state.WordsOf(s.GapsOf(o.Step.ID))
	}
	sentence := s.HowEnded(o.Step.ID) + gaps + "." + more
	if returned := s.Returned(o.Step.ID); returned != "" {
		return sentence + " " + returned
	}
	text := o.Way.Report(s)
	for _, differs := range s.Differs() { // what the person is told just now is not said twice
		if what, _, _ := strings.Cut(differs, ": "); strings.Contains(more, message.Words(what)) {
			text = strings.Replace(text, " "+differs, "", 1)
		}
	}
	return sentence + " " + text
}

// toThePerson returns what the person has to know. An agent whose client has no hook to tell them is asked to pass it on.
func (o *Work) toThePerson(v gates.Verdict) string {
	text := message.Words(string(message.Join(v.Beside, v.Trouble)))
	switch {
	case text == "":
		return ""
	case o.Via.Who == state.ThePerson:
		return " " + text + "."
	case o.Session != "" && presence.Hooked(o.List.Dir):
		return " The person is told: " + text + "."
	}
	return " Tell the person: " + text + "."
}
