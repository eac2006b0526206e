package hook

import (
	"context"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/rules"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/presence"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// stop sends the agent back to a step that is ready.
func (h *hook) stop(ctx context.Context) client.Answer {
	const what = "the workflow is not enforced at this stop"
	c := h.call
	x := gates.Stopping{
		Agent: c.AgentID, Background: c.BackgroundTasks, Crons: c.SessionCrons, Mode: gates.StopMode(h.flags.Stop),
		Planning: h.Planning, Message: c.Message, Turns: h.agent.Holds,
		Project: h.project(), Shown: true, Transcript: c.TranscriptPath, Prompt: c.PromptID,
		Words: func() client.Words { return rules.StopWords(h.streams.Env, guard.Project(h.streams.Env, c.Event)) },
	}
	if !h.agent.Session { // no transcript is read
		heard, err := h.Heard(c.SessionID)
		if err != nil {
			return h.failed(what, err)
		}
		x = gates.Stopping{Mode: x.Mode, Message: x.Message, Turns: x.Turns, Heard: &heard, Caller: c.SessionID}
	}
	if h.Observe != nil && h.Observe() {
		x.Mode = gates.StopOff
	}
	sentBack, person, err := h.Stop(ctx, x)
	switch {
	case err != nil:
		return h.failed(what, err)
	case sentBack == "":
		return h.troubled(person)
	case !h.agent.Session && person != "":
		person = "fsmtx: " + person
	}
	h.sentBack = true
	return client.SendBack(c.Name, sentBack, person)
}

// deeds tells the person what was decided in a terminal that the agent could have opened.
func (h *hook) deeds(ctx context.Context) client.Answer {
	if h.call.AgentID != "" || len(h.present.Deeds) == 0 || !h.fromClient() {
		return client.Answer{}
	}
	var lines []string
	for _, d := range presence.Take(ctx, &h.Store) {
		line := message.Sprintf("fsmtx: %s was run in a terminal that was opened after this session began (%s).", d.Line, d.Terminal)
		if d.Back != "" {
			line += " If that was not you, " + workflow.Outside + d.Back
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return client.Answer{}
	}
	return client.Tell(h.call.Name, "", message.ForPerson(strings.Join(lines, "\n")))
}

// withNews adds to an answer what the person has not been told yet of the session's steps. If there is nothing else to say, they
// are told of a list that was left.
func (h *hook) withNews(ctx context.Context, a client.Answer) client.Answer {
	a = client.Join(h.call.Name, h.deeds(ctx), a)
	if !h.agent.Session {
		return a
	}
	moment := h.call.Moment
	if h.call.AgentID == "" && slices.Contains([]agent.Moment{agent.After, agent.Failed, agent.Prompt, agent.Stop}, moment) {
		if text := h.News(ctx, moment == agent.Stop && !h.sentBack); text != "" {
			a = client.Join(h.call.Name, client.Tell(h.call.Name, "", text), a)
		}
		if text := h.Begun(ctx); text != "" {
			a = client.Join(h.call.Name, client.Tell(h.call.Name, "", notice(text)), a)
		}
	}
	if a != (client.Answer{}) || !slices.Contains([]agent.Moment{agent.Before, agent.Stop, agent.Start}, moment) {
		return a
	}
	trouble := message.ForPerson(h.left(ctx))
	h.noted(gates.Verdict{Trouble: trouble})
	return h.troubled(trouble)
}
