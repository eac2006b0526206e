package rules

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/guard"
)

// Config holds every number and name that a rule decides by, each read from the
// configuration.
type Config struct {
	Always       bool   // the rules bind everywhere, not only where planning is under way
	Plugin       string // name of the workflow's plugin, the prefix of its agents and commands
	BranchPrefix string // of the branch of a feature
	SpecsDir     string // where the feature directories are
	Names        Names

	Phases []string // in order; empty if any name is a phase
	First  string   // phase in which spec.md may still change
	Last   string   // phase in which the workflow is complete

	Artifacts []guard.Pair // that a workflow leaves, with the phase that makes them
	Required  []string     // artifacts without which a turn does not end
	Failing   []string     // verdicts of a gate that has failed

	Agents  []guard.Pair // name of an agent without the plugin's, id of its rule or "none"
	Servers []string     // MCP servers that count as research

	StaleMinutes int // after which a lock without a sign of its holder's life is stale
	KeepDays     int // after which the files of a session are removed

	Stop StopWords

	SessionCalls int // research calls for each session
	PhaseCalls   int // research calls for each phase
	WarnPercent  int // share of either limit, in percent, at which a warning is given

	Overlap  float64 // share of a decision's words that makes a question match it, 0 < x ≤ 1
	Subset   float64 // the same for a question that has no other words
	Question float64 // share of a question's words that must be about the decision

	MinTasks     int      // of tasks.md
	MinPhases    int      // of tasks.md
	TestPercent  int      // tasks that must name a test, in percent
	TestIDs      []string // what the ids of tests begin with: unit, integration, end-to-end, acceptance
	SelfCritique bool     // tasks.md must have a self-critique section
	MinElements  int      // of a blueprint's five
	StepsPerUAT  int      // Given, When and Then for each UAT id
	MinWords     int      // of another agent's answer
	Judges       []string // agents whose verdict may be short; * stands for any letters
}

// Names are the names of files and directories in the feature directory.
type Names struct {
	State, Lock, Audit, Spec, Tasks, TestPlan, TestCases, Constitution string
}

// StopWords tell a request to stop from other messages.
type StopWords struct {
	Words  []string // that stop
	Before []string // that may come before one, out of politeness
	After  []string // that may follow one which does not begin the message
}

// The ids of tests by their place in Config.TestIDs.
const (
	unitTest = iota
	integrationTest
	endToEndTest
	acceptanceTest
	testKinds
)

const (
	flags      = "feature_flags."
	validation = flags + "hooks_agent_validation."
	overlaps   = flags + "hooks_immutable_guard."
	budgetKeys = "research_mcp.budget."
	names      = "workflow.files."
	stopKeys   = "workflow.stop_request."
)

func configOf(c guard.Config) Config {
	config := Config{
		Always:       c.Text("workflow.binds", "planning", isBinding) == "always",
		Plugin:       c.Text("workflow.plugin", defaultPlugin, isName),
		BranchPrefix: c.Text("workflow.branch_prefix", "feature/", anything),
		SpecsDir:     c.Text("workflow.specs_dir", "specs", filepath.IsLocal),
		Names: Names{
			State:        c.Text(names+"state", ".planning-state.local.md", isName),
			Lock:         c.Text(names+"lock", ".planning.lock", isName),
			Audit:        c.Text(names+"audit", ".planning-audit.log", isName),
			Spec:         c.Text(names+"spec", "spec.md", isName),
			Tasks:        c.Text(names+"tasks", "tasks.md", isName),
			TestPlan:     c.Text(names+"test_plan", "test-plan.md", isName),
			TestCases:    c.Text(names+"test_cases", "test-cases", isName),
			Constitution: c.Text(names+"constitution", "constitution.md", isName),
		},
		Phases:       c.Texts("workflow.phases", defaultPhases),
		First:        "SETUP",
		Last:         "COMPLETION",
		Artifacts:    c.Pairs("workflow.artifacts", defaultArtifacts),
		Required:     c.Texts("workflow.required_artifacts", []string{"design.md", "plan.md", "tasks.md", "test-plan.md"}),
		Failing:      c.Texts("workflow.failing_verdicts", []string{"RED"}),
		Agents:       c.Pairs("workflow.agents", defaultAgents),
		Servers:      c.Texts("research_mcp.servers", []string{"context7", "Ref", "tavily"}),
		StaleMinutes: c.Int("workflow.lock_stale_after_minutes", 1, 120),
		KeepDays:     c.Int("workflow.keep_session_files_days", 1, 30),
		Stop: StopWords{
			Words:  c.Words(stopKeys+"words", stopWords()),
			Before: c.Words(stopKeys+"before", stopBefore()),
			After:  c.Words(stopKeys+"after", stopAfter()),
		},
		SessionCalls: c.Int(budgetKeys+"total_calls_per_session", 0, 25),
		PhaseCalls:   c.Int(budgetKeys+"total_calls_per_phase", 0, 10),
		WarnPercent:  c.Int(budgetKeys+"warn_at_percentage", 0, 80),
		Overlap:      c.Share(overlaps+"keyword_overlap_threshold", 0.6),
		Subset:       c.Share(overlaps+"subset_overlap_threshold", 0.5),
		Question:     c.Share(overlaps+"question_overlap_threshold", 0.7),
		MinTasks:     c.Int(validation+"min_tasks", 0, 5),
		MinPhases:    c.Int(validation+"min_phases", 0, 2),
		TestPercent:  c.Int(validation+"tdd_min_coverage", 0, 80),
		TestIDs:      c.Texts(validation+"test_ids", []string{"UT", "INT", "E2E", "UAT"}),
		SelfCritique: c.Bool(flags+"s1_self_critique.enabled", false),
		MinElements:  c.Int(validation+"min_blueprint_elements", 0, 3),
		StepsPerUAT:  c.Int(validation+"steps_per_uat", 0, 3),
		MinWords:     c.Int(validation+"min_words", 0, 100),
		Judges:       c.Texts(validation+"judges", []string{"*-judge"}),
	}
	if len(config.Phases) > 0 {
		config.First, config.Last = config.Phases[0], config.Phases[len(config.Phases)-1]
	}
	if len(config.TestIDs) != testKinds {
		config.TestIDs = []string{"UT", "INT", "E2E", "UAT"}
	}
	return config
}

var (
	// defaultPhases are the phases of the workflow. The requirements name the first, the
	// last and four between; the others make the artifacts that they require.
	defaultPhases = []string{"SETUP", "RESEARCH", "CLARIFICATION", "ARCHITECTURE", "THINKDEEP", "PLAN", "VALIDATION", "TEST_STRATEGY", "TEST_COVERAGE", "TASKS", "COMPLETION"}

	defaultArtifacts = []guard.Pair{
		{Name: "research.md", Value: "RESEARCH"},
		{Name: "design.minimal.md", Value: "ARCHITECTURE"},
		{Name: "design.clean.md", Value: "ARCHITECTURE"},
		{Name: "design.pragmatic.md", Value: "ARCHITECTURE"},
		{Name: "design.md", Value: "ARCHITECTURE"},
		{Name: "plan.md"},
		{Name: "test-plan.md"},
		{Name: "tasks.md"},
	}

	defaultAgents = []guard.Pair{{Name: "tech-lead", Value: "H07"}, {Name: "software-architect", Value: "H08"}, {Name: "qa-strategist", Value: "H09"}}
)

// defaultPlugin is the name of the plugin without a configuration and a manifest.
const defaultPlugin = "product-planning"

// named returns the configuration with the plugin's name, unless it has another.
func (config Config) named(plugin string, c guard.Config) Config {
	if c.Text("workflow.plugin", "", isName) == "" && isName(plugin) {
		config.Plugin = plugin
	}
	return config
}

func anything(string) bool { return true }

func isBinding(s string) bool { return s == "planning" || s == "always" }

// isName reports whether s can name a file in a directory, or a plugin.
func isName(s string) bool { return filepath.IsLocal(s) && filepath.Base(s) == s && s != "." }

// isLast reports whether the workflow is complete in the phase.
func (config Config) isLast(phase string) bool { return samePhase(phase, config.Last) }

// position returns the place of a phase in the order, -1 for one that is not known.
func (config Config) position(phase string) int {
	return slices.IndexFunc(config.Phases, func(p string) bool { return samePhase(p, phase) })
}

// knows reports whether the phase has a name that the workflow has, or any if none are
// configured.
func (config Config) knows(phase string) bool {
	return len(config.Phases) == 0 || config.position(phase) >= 0
}

// samePhase compares names without regard to case and to what separates their words.
func samePhase(a, b string) bool { return strings.EqualFold(phaseKey(a), phaseKey(b)) }

func phaseKey(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == ' ' {
			return -1
		}
		return r
	}, s)
}

// agent returns the full name of an agent of the plugin.
func (config Config) agent(name string) string { return config.Plugin + ":" + name }

// agentsOf returns the full names of the agents that a rule of their own judges.
func (config Config) agentsOf(id string) []string {
	var all []string
	for _, a := range config.Agents {
		if strings.EqualFold(a.Value, id) {
			all = append(all, config.agent(a.Name))
		}
	}
	return all
}

// ruleOf returns the id of the rule that judges an agent by its full name, H10 for an
// agent of the plugin that is not configured, "none" or "" if none does.
func (config Config) ruleOf(agent string) string {
	name, ours := strings.CutPrefix(agent, config.Plugin+":")
	if !ours {
		return ""
	}
	for _, a := range config.Agents {
		if a.Name == name {
			return a.Value
		}
	}
	return genericRule
}

// isJudge reports whether the agent, by its full name, gives verdicts.
func (config Config) isJudge(agent string) bool {
	name := strings.TrimPrefix(agent, config.Plugin+":")
	return slices.ContainsFunc(config.Judges, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}
