package rules

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/steps"
)

func TestPhasesThatStepsShowToBeDone(t *testing.T) {
	step := func(subject string, done bool) steps.Stood {
		return steps.Stood{Command: "product-planning:plan", Subject: subject, Done: done}
	}
	foreign := steps.Stood{Command: "release", Subject: "Research"}
	for name, c := range map[string]struct {
		steps []steps.Stood
		want  []string
	}{
		"no steps":                       {nil, nil},
		"of another skill":               {[]steps.Stood{{Command: "release", Subject: "Research", Done: true}}, nil},
		"named, in any spelling":         {[]steps.Stood{step("Phase 2: Research", true), step("Phase 8: test strategy", true), step("Tasks", false)}, []string{"RESEARCH", "TEST_STRATEGY"}},
		"not every step of it is done":   {[]steps.Stood{step("Research the market", true), step("Research the code", false)}, nil},
		"a part of a word, or of a name": {[]steps.Stood{step("Researching", true), step("Test plans", true), step("Tasks", false)}, nil},
		"every step":                     {[]steps.Stood{step("Think", true), step("Write", true), foreign}, defaults.Phases},
	} {
		assert.Equal(t, c.want, defaults.doneBySteps(c.steps), name)
	}
}

func TestStepsEndTheWorkflowOfH11b(t *testing.T) {
	for name, c := range map[string]struct {
		phase string
		done  []string
		row   int
	}{
		"all phases":                        {"PLAN", defaults.Phases, 9},
		"all but the last, which is a word": {"TEST_COVERAGE", []string{"TEST_COVERAGE", "TASKS"}, 9},
		"one is left":                       {"TEST_STRATEGY", []string{"TEST_STRATEGY", "TASKS"}, 8},
		"only earlier ones":                 {"TASKS", []string{"SETUP"}, 8},
		"none, at the last but one":         {"TASKS", nil, 8},
	} {
		assert.Equal(t, c.row, workflowFacts{inPhase(c.phase), c.done}.decide(defaults).Row, name)
	}
	assert.Contains(t, workflowFacts{inPhase("TEST_STRATEGY"), []string{"TASKS"}}.decide(defaults).Message, "Missing phases: TEST_COVERAGE, COMPLETION.")
	red := inPhase("PLAN")
	red.Gates = []Gate{{Verdict: "RED"}}
	assert.Equal(t, 5, workflowFacts{red, defaults.Phases}.decide(defaults).Row, "a failed gate comes first")
}

func TestPhasesOfSteps(t *testing.T) {
	config := defaults
	config.Plugin = "product-planning"
	step := func(subject string, done, current bool) steps.Stood {
		return steps.Stood{Command: "product-planning:planning", Subject: subject, Done: done, Current: current}
	}
	setup, research := step("Phase 1: setup", true, false), step("Phase 2: research", false, true)
	for name, c := range map[string]struct {
		steps   []steps.Stood
		phases  []string
		current string
	}{
		"none":                       {nil, nil, ""},
		"another skill's":            {[]steps.Stood{{Command: "x:planning", Subject: "Setup"}, {Command: "x:planning", Subject: "Research", Current: true}}, nil, ""},
		"not from the first phase":   {[]steps.Stood{research, step("Tasks", false, false)}, nil, ""},
		"the current step names one": {[]steps.Stood{setup, research}, []string{"SETUP", "RESEARCH", "COMPLETION"}, "RESEARCH"},
		"it names none":              {[]steps.Stood{setup, step("Research", true, false), step("Settle it", false, true)}, []string{"SETUP", "RESEARCH", "COMPLETION"}, "RESEARCH"},
		"several in one subject":     {[]steps.Stood{setup, step("Phase 6: validation of the plan", false, true)}, []string{"SETUP", "VALIDATION", "COMPLETION"}, "VALIDATION"},
		"all done":                   {[]steps.Stood{setup, step("Tasks", true, false)}, []string{"SETUP", "TASKS", "COMPLETION"}, "COMPLETION"},
	} {
		phases, current := config.phasesOf(c.steps)
		assert.Equal(t, c.phases, phases, name)
		assert.Equal(t, c.current, current, name)
	}
}
