package hook

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// complete makes the client ask the person when the agent's shell is about to complete a step that they
// have to approve. The other gates are evaluated first: if one denies, the call is refused, and nobody is asked. After
// a yes the command completes the step without evaluating them again.
func (h *hook) complete(ctx context.Context, line string, calls []Invocation) client.Answer {
	for _, call := range calls {
		if call.Rule.Command != "complete" || call.Fails || !h.isAboutOwnList(call) {
			continue
		}
		step := h.awaiting(ctx, call.Args)
		if step == nil {
			continue
		}
		v, a := h.askAbout(ctx, completion{step, call, line})
		h.noted(v)
		if a != (client.Answer{}) {
			return a
		}
	}
	return h.letThrough(line)
}

// completion is a call of "fsmtx complete" for a step that a person has to approve.
type completion struct {
	step  *state.Current
	call  Invocation
	whole string // line of the shell
}

// awaiting returns the step that the command completes if it is open and a person has to approve it, and otherwise nil.
func (h *hook) awaiting(ctx context.Context, args []string) *state.Current {
	n, err := strconv.ParseInt(strings.TrimPrefix(args[0], "#"), 10, 64)
	if err != nil {
		return nil
	}
	s, err := h.Now(ctx)
	if err != nil {
		return nil // the command says it
	}
	if c := s.Step(n); c != nil && !c.Done() && c.NeedsPerson() {
		return c
	}
	return nil
}

// askAbout evaluates the gates of a completion. The answer is empty if the command itself is to decide.
func (h *hook) askAbout(ctx context.Context, one completion) (gates.Verdict, client.Answer) {
	refuse := func(why, reason string) (gates.Verdict, client.Answer) {
		v := gates.Verdict{Decision: state.Deny, Step: one.step.ID, Why: why, Reason: reason}
		return v, client.Refuse(message.ForAgent(reason))
	}
	name, line := one.step.Name(), one.call.line
	if one.call.hidden { // its words are not those of the line
		line = fmt.Sprintf("fsmtx complete %d", one.step.ID)
	}
	if _, alone := shell.Call(one.whole); !alone {
		return refuse("not a call of its own", message.Sprintf("%s needs the approval of a person. Run %s as a call of its own, "+
			"in literal words, so that the client can ask them", name, line))
	}
	if who := h.who(); !who.FromClient() {
		return refuse("not from the client", "this event does not come from the client, so nobody is asked: "+who.Why)
	}
	frame := *h.Frame
	frame.Via = state.By{Who: state.TheAgent, How: state.ByCommand}
	v := frame.Question(ctx, h.updateOf(one))
	switch v.Decision {
	case state.Deny:
		return v, client.Refuse(message.ForAgent(v.Reason))
	case state.Ask:
		return h.offer(ctx, one, v)
	}
	return v, h.troubled(v.Trouble)
}

// updateOf returns the update that the command makes.
func (h *hook) updateOf(one completion) gates.Update {
	flags, e := one.call.Flags, h.call
	u := gates.Update{Task: strconv.FormatInt(one.step.ID, 10), Status: workflow.Completed, Agent: e.AgentID, Cwd: e.Cwd, Use: e.ToolUseID,
		Calls: client.Transcript(e.TranscriptPath)}
	u.Outcome, _ = flags.GetString("outcome")
	u.Note, _ = flags.GetString("note")
	if len(one.call.Values) > 0 {
		u.Values, _ = json.Marshal(one.call.Values, jsonx.Tolerant, json.Deterministic(true)) // possible for any texts
	}
	return u
}

// offer returns the question, of which a yes counts for this call.
func (h *hook) offer(ctx context.Context, one completion, v gates.Verdict) (gates.Verdict, client.Answer) {
	if hook := h.newAnswerer(ctx); hook != "" {
		v = gates.Verdict{Decision: state.Deny, Step: v.Step, Why: "a new hook may answer for the person", Reason: state.NotByPerson(hook,
			fmt.Sprintf("fsmtx step done %d%s --because \"...\"%s", one.step.ID, state.OutcomeFlag(v.Outcome), h.ListFlag()))}
		return v, client.Refuse(message.ForAgent(v.Reason))
	}
	if err := h.grant(ctx, one.call); err != nil {
		v.Trouble = unasked(one.step.Name(), err).Trouble
		return v, h.troubled(v.Trouble)
	}
	return v, client.Join(h.call.Name, h.troubled(v.Trouble), client.Ask(message.ForBoth(v.Reason), nil))
}
