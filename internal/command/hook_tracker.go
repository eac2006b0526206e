package command

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/agent/tracker"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/steps"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/visible"
)

// tracked returns the reply with the steps shown in the agent's own task list, if it has one. What
// cannot be shown refuses nothing.
func (h *agentHook) tracked(ctx context.Context, r agent.Reply) agent.Reply {
	if h.own == "" {
		return r
	}
	all, err := tasks.Tasks(ctx, h.List.Dir)
	if err == nil {
		err = tracker.Show(h.own, all)
	}
	return h.troubled(r, "the task tracker does not show the state of the steps", err)
}

// trackerLimit is less than what the frame keeps for itself: the hook of a tool has no time for a
// check, which the command runs.
const trackerLimit = time.Second

// updated decides about a change of a step in the agent's own task list: it goes through the same
// gates as the commands, and changes the project's list. A task of the agent's own is let through.
func (h *agentHook) updated(ctx context.Context, u agent.TaskUpdate) agent.Reply {
	n, err := strconv.ParseInt(u.ID, 10, 64)
	if err != nil || h.own == "" {
		return agent.Reply{}
	}
	s, err := steps.LoadNow(ctx, h.List.Dir)
	if err != nil || s.Step(n) == nil {
		return h.troubled(agent.Reply{}, "a change in the task tracker is not judged", err)
	}
	frame := *h.Frame
	frame.Apply, frame.Limit = true, trackerLimit
	way := progress.Way{Program: ownPath()}
	verb := "complete"
	if u.Status == progress.Started {
		verb = "start"
	}
	by := way.Command(verb, u.ID)
	on, err := way.On(ctx, &frame, n, "")
	if errors.Is(err, progress.ErrRefused) {
		return agent.Reply{Deny: err.Error()}
	}
	if err != nil {
		return h.troubled(agent.Reply{}, "a change in the task tracker is not judged", err)
	}
	done := on.Update(ctx, steps.Update{Status: u.Status, Subject: u.Subject, Description: u.Description, AddBlockedBy: u.After,
		Cwd: h.call.Cwd})
	switch {
	case done.Why == steps.DoesNotFit:
		return agent.Reply{Deny: visible.Sprintf("%s has commands that may run longer than this hook may. Run in the shell: %s",
			on.Step.Name(), by)}
	case !done.Allowed() && verb == "complete" && len(on.Step.Outcomes)+len(on.Step.Set) > 0:
		return agent.Reply{Deny: visible.Sprintf("%s\nThe tracker has no metadata: %s says it with --outcome NAME and --set NAME=VALUE",
			visible.Lines(done.Text), by)}
	case !done.Allowed():
		return agent.Reply{Deny: done.Text}
	}
	return agent.Reply{}
}
