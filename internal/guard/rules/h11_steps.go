package rules

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
)

// turnEnd returns the steps that "fsmtx hydrate" has put into the session's task list. It reads them only once.
func (c *call) turnEnd() gates.TurnEnd {
	if c.steps == nil {
		turnEnd := c.readTurnEnd()
		c.steps = &turnEnd
	}
	if steps := c.steps.Steps; len(steps) > 0 {
		done := 0
		for _, s := range steps {
			if s.Done {
				done++
			}
		}
		c.Fact("steps", fmt.Sprintf("%d of %d done", done, len(steps)))
	}
	return *c.steps
}

// readTurnEnd returns no steps on an error, which the step hook itself reports.
func (c *call) readTurnEnd() gates.TurnEnd {
	dir, err := tasklist.OfSession(func(name string) (string, bool) { return c.Env(name), c.Env(name) != "" }, c.Event.SessionID)
	if err != nil || c.Event.SessionID == "" {
		return gates.TurnEnd{}
	}
	frame := gates.Frame{Store: state.Store{List: tasks.List{Dir: dir}, Session: c.Event.SessionID}}
	turnEnd, err := frame.TurnEnd(context.Background())
	if err != nil || len(turnEnd.Steps) == 0 {
		return gates.TurnEnd{}
	}
	return turnEnd
}

// followSteps puts the phase of the current step in the place of the one in the state file,
// and the phases that the steps name in the place of the configured ones, where the session has
// a planning workflow in its list: what the steps show is on record, and the state file is the
// model's word.
func (c *call) followSteps(s *stateFile) {
	if !s.exists || c.config.always {
		return
	}
	c.readPluginName()
	phases, phase := c.config.phasesOf(c.turnEnd().Steps)
	if phase == "" {
		return
	}
	s.phase, s.byStep = phase, true
	c.config.phases, c.config.firstPhase, c.config.lastPhase = phases, phases[0], phases[len(phases)-1]
}

// own returns the steps of the plugin's workflow, and whether all of them are done.
func (config configuration) own(all []gates.StepAtTurnEnd) (own []gates.StepAtTurnEnd, done bool) {
	own = slices.DeleteFunc(slices.Clone(all), func(s gates.StepAtTurnEnd) bool { return !config.isCommand(s.Command) })
	return own, !slices.ContainsFunc(own, func(s gates.StepAtTurnEnd) bool { return !s.Done })
}

// phasesOf returns the phases that the steps of the plugin's planning workflow name, in their order
// and with the last phase behind them, and the phase of the current step: the last phase if every
// step is done. They are empty for a workflow that does not begin with the first phase.
func (config configuration) phasesOf(all []gates.StepAtTurnEnd) (phases []string, current string) {
	all, done := config.own(all)
	latest := ""
	for _, s := range all {
		phase := config.phaseOf(s.Subject)
		if phase != "" && !slices.Contains(phases, phase) && phase != config.lastPhase {
			phases = append(phases, phase)
		}
		if latest = cmp.Or(phase, latest); s.Current && current == "" {
			current = latest
		}
	}
	if len(phases) < 2 || !samePhase(phases[0], config.firstPhase) {
		return nil, ""
	}
	if phases = append(phases, config.lastPhase); done {
		current = config.lastPhase
	}
	return phases, current
}

// phaseOf returns the phase that a subject names, the first one if it names several: "Phase 6:
// validation of the plan" is VALIDATION.
func (config configuration) phaseOf(subject string) (found string) {
	best := -1
	text := " " + strings.Join(client.WordsOf(subject), " ") + " "
	for _, phase := range config.phases {
		at := strings.Index(text, " "+strings.Join(client.WordsOf(phase), " ")+" ")
		if at >= 0 && strings.TrimSpace(phase) != "" && (best < 0 || at < best) {
			best, found = at, phase
		}
	}
	return found
}

// stopLike lets the agent end where the step hook does: the hooks of one Stop must not
// contradict one another. It lets a turn end with a question, and sends an agent back only
// once while nothing changes.
func (f stopFacts) stopLike(v guard.Verdict) guard.Verdict {
	if len(f.steps.Steps) == 0 || f.always {
		return v.WithProgress(f.progress, f.asked)
	}
	if f.asked != "" {
		return guard.Pass(v.Row, "The agent asks the user: "+f.asked)
	}
	v = v.WithProgress(f.progress, "")
	if f.steps.SentBack {
		v = v.Stalled()
	}
	return v
}

// doneBySteps returns the phases that the steps of the plugin's workflow show to be done:
// those that the subjects of steps name, where each of these steps is done with evidence. If
// every step of the workflow is done, so are all phases.
func (config configuration) doneBySteps(all []gates.StepAtTurnEnd) (done []string) {
	all, allDone := config.own(all)
	if len(all) == 0 {
		return nil
	}
	if allDone {
		return config.phases
	}
	for _, phase := range config.phases {
		named, open := false, false
		for _, s := range all {
			if namesPhase(s.Subject, phase) {
				named, open = true, open || !s.Done
			}
		}
		if named && !open {
			done = append(done, phase)
		}
	}
	return done
}

// namesPhase reports whether a subject contains the words of a phase: "Phase 8: test
// strategy" names TEST_STRATEGY, "Test coverage" does not.
func namesPhase(subject, phase string) bool {
	words := func(text string) string { return " " + strings.Join(client.WordsOf(text), " ") + " " }
	return strings.TrimSpace(words(phase)) != "" && strings.Contains(words(subject), words(phase))
}
