package hook

import (
	"context"
	"strings"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/guard/rules"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
)

// prompt records what a prompt of the person says and ends. In Claude Code the transcript has what it says.
func (h *hook) prompt(ctx context.Context) client.Answer {
	var err error
	switch {
	case h.agent.Session: // it may come while the agent works (fact 42)
		if err = h.Lapse(ctx, gates.Pause{Calls: client.Transcript(h.call.TranscriptPath)}); err != nil {
			return h.troubled(message.ForPerson(message.Sprintf("it could not be recorded which updates were stopped: %v", err)))
		}
	case h.call.Prompt != "" && !strings.Contains(h.call.Prompt, gates.GoOn):
		// Qwen Code sends an event before each request; Gemini and Qwen Code also with the text that sends the agent back.
		err = h.hear(ctx)
	}
	return h.failed("what the person said could not be kept", err)
}

// failed reports an error of this program, if it is one, to the person.
func (h *hook) failed(what string, err error) client.Answer {
	if err == nil {
		return client.Answer{}
	}
	return h.troubled(message.ForPerson(message.Sprintf("%s: %v", what, err)))
}

func (h *hook) hear(ctx context.Context) error {
	s, err := h.Now(ctx)
	if err != nil || len(s.Steps) == 0 {
		return err
	}
	if err := h.BeginTurn(ctx, gates.Stopping{Caller: h.call.SessionID}); err != nil {
		return err
	}
	return h.Hear(ctx, h.call.SessionID, func(before state.Heard) state.Heard {
		return gates.Hears(before, s, h.call.Prompt, rules.StopWords(h.streams.Env, h.call.Cwd))
	})
}

// joins records that the session works the workflows of a skill; an empty name stands for one that is not known.
func (h *hook) joins(ctx context.Context, skill string) error {
	return h.Hear(ctx, h.call.SessionID, func(before state.Heard) state.Heard { return before.Calls(skill) })
}

// endGrants removes the grants of calls that are over. It ignores errors: a grant is checked
// again when it is used.
func (h *hook) endGrants(ctx context.Context) {
	c := h.call
	between := c.Moment == agent.Stop || c.Moment == agent.Start
	_ = h.EndGrants(ctx, state.Seen{Session: c.SessionID, Agent: c.AgentID, Use: c.ToolUseID, Between: between})
}
