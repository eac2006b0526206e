package command

import (
	"context"
	"slices"
	"time"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/recovery"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// claudeHook is one call of Claude Code's hook. Its list is the session's.
type claudeHook struct {
	streams terminal.Streams
	flags   eventFlags
	policy  fsmspec.Policy
	event   *event.Event
	begun   time.Time
}

// run does what is due at the event in one order: recover, reconcile and hydrate the list, judge,
// tell. The answers of the parts are one answer.
func (h claudeHook) run(ctx context.Context) error {
	var recovered event.Answer
	if h.flags.does(recovers) && h.event.Name == event.SessionStart {
		ctx, stop := Interruptible(ctx)
		defer stop()
		recovered = recovery.Answer(recoverEvent(ctx, h.streams, h.event, h.flags.recovery))
		if text := programs.Mismatch(h.streams.Env("CLAUDE_PLUGIN_ROOT"), ownPath(), programs.GetBuild().Version); text != "" {
			recovered = event.Join(h.event.Name, recovered, event.Notice(text))
		}
	}
	log, done := newDecisionLog(h.streams, h.flags.Hydrate.Log), hydrated{nothing: true}
	if h.flags.does(takesUp) && h.hydrates() {
		done = hydrateFlags{h.flags.Hydrate}.do(ctx, h.streams, h.event, h.policy)
		done.log(h.begun, log)
	}
	before := event.Join(h.event.Name, recovered, done.answer)
	done.answer = event.Join(h.event.Name, before, h.judged(ctx, log))
	if done.answer.Exit == event.ExitBlock && before.Exit != event.ExitBlock {
		done.notes = nil // the model would read them
	}
	return done.finish(h.streams, log)
}

// hydrates reports whether the event may change what the list should have.
func (h claudeHook) hydrates() bool {
	switch h.event.Name {
	case event.PostToolUse:
		return h.event.ToolName == "Skill" || h.event.ToolName == ""
	case event.UserPromptExpansion, "":
		return true
	}
	return hydrate.IsCheck(h.event)
}

// decides reports whether the rules about steps have something to say at the event.
func (h claudeHook) decides() bool {
	switch h.event.Name {
	case event.TaskCompleted, event.UserPromptSubmit, event.Stop, event.SubagentStop, event.SessionStart, event.PostToolUseFailure:
		return true
	case event.PreToolUse:
		return !slices.Contains([]string{"TaskCreate", "TaskGet", "TaskList"}, h.event.ToolName)
	case event.PostToolUse:
		return h.event.ToolName != "Skill" && h.event.ToolName != ""
	}
	return false
}

// judged returns the answer of the rules about steps. Unless a check may run, which has a time
// limit of its own, the answer comes in time: the client does not report that it has ended a hook
// (fact 46, client 2.1.329).
func (h claudeHook) judged(ctx context.Context, log *decisionLog) event.Answer {
	if !h.flags.does(judges) || h.flags.Steps == "off" || !h.decides() {
		return event.Answer{}
	}
	SurviveBrokenPipe(h.streams)
	if h.event.Name == event.TaskCompleted || h.event.ToolName == "TaskUpdate" || h.event.ToolName == "Bash" {
		return stepFlags{h.flags.Step}.judge(ctx, h.streams, h.event, log)
	}
	limit := time.Duration(settings.TimeLimit(0)) * time.Second
	a, err := hydrate.InTime(ctx, limit-time.Second, limit, func(ctx context.Context) (event.Answer, error) {
		return stepFlags{h.flags.Step}.judge(ctx, h.streams, h.event, log), nil
	})
	if err != nil {
		return notEnforced(err)
	}
	return a
}
