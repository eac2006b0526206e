package rules

import "github.com/fsmtx/fsmtx/internal/guard"

// Config holds every number and word that a rule decides by. Those with a key are
// read from the plugin's configuration; the others are fixed for now.
type Config struct {
	SessionCalls int      // research calls for each session
	PhaseCalls   int      // research calls for each phase
	WarnPercent  int      // share of either limit, in percent, at which a warning is given
	Servers      []string // MCP servers that count as research, in lower case

	Overlap       float64 // share of a decision's words that makes a question match it, 0 < x ≤ 1
	SubsetOverlap float64 // the same for a question that has no other words

	FirstPhase string // until it is over, spec.md may change
	LastPhase  string // in which the workflow is complete

	MinTasks     int  // of tasks.md
	MinPhases    int  // of tasks.md
	TestPercent  int  // tasks that must name a test, in percent
	SelfCritique bool // tasks.md must have a self-critique section

	MinElements  int      // of a blueprint's five
	StepsPerUAT  int      // Given, When and Then for each UAT id
	MinWords     int      // of another agent's answer
	Required     []string // artifacts without which a turn does not end
	RedVerdict   string   // of a gate that failed
	StopWords    []string // in a message that asks to stop
	KeepGoing    []string // words that make such a message no request to stop
	MaxStopWords int      // words of such a message
}

func configOf(c guard.Config) Config {
	return Config{
		SessionCalls: c.Int("research_mcp.budget.total_calls_per_session", 0, 25),
		PhaseCalls:   c.Int("research_mcp.budget.total_calls_per_phase", 0, 10),
		WarnPercent:  c.Int("research_mcp.budget.warn_at_percentage", 0, 80),
		Servers:      []string{"context7", "ref", "tavily"},

		Overlap:       c.Share("feature_flags.hooks_immutable_guard.keyword_overlap_threshold", 0.6),
		SubsetOverlap: 0.5,

		FirstPhase: "SETUP",
		LastPhase:  "COMPLETION",

		MinTasks:     5,
		MinPhases:    2,
		TestPercent:  c.Int("feature_flags.hooks_agent_validation.tdd_min_coverage", 0, 80),
		SelfCritique: c.Bool("feature_flags.s1_self_critique.enabled", false),

		MinElements: 3,
		StepsPerUAT: 3,
		MinWords:    100,

		Required:     []string{"design.md", "plan.md", "tasks.md", "test-plan.md"},
		RedVerdict:   "RED",
		StopWords:    []string{"stop", "quit", "abort", "exit"},
		KeepGoing:    []string{"not", "don't", "dont", "never", "without"},
		MaxStopWords: 8,
	}
}
