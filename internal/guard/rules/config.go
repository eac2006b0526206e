package rules

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/turn"
	"github.com/fsmtx/fsmtx/internal/guard"
)

// Config holds every configurable number and name that the rules use.
type Config struct {
	Always       bool   // the rules bind everywhere, not only where planning is under way
	Plugin       string // name of the workflow's plugin, the prefix of its agents and commands
	BranchPrefix string // of the branch of a feature
	SpecsDir     string // directory of the feature directories, relative to the project
	Names        Names

	Phases []string // in order; if empty, any name is a phase
	First  string   // the phase in which spec.md may still change
	Last   string   // the phase in which the workflow is complete

	Artifacts []guard.Pair // files of a complete workflow, with the phase that makes each
	Required  []string     // artifacts without which a turn does not end
	Failing   []string     // verdicts of a gate that has failed

	Agents  []guard.Pair // an agent's name without the plugin's, and the id of its rule or "none"
	Servers []string     // MCP servers whose calls count as research

	StaleMinutes int // a lock whose session was inactive for so long is stale
	KeepDays     int // session files older than this are removed

	Stop turn.Words // the built-in words and those of the files

	SessionCalls int // research calls for each session
	PhaseCalls   int // research calls for each phase
	WarnPercent  int // percentage of either limit from which on H03 warns

	Overlap  float64 // share of a decision's words from which on a question matches it, 0 < x ≤ 1
	Subset   float64 // the same for a question that has no other words
	Question float64 // share of a question's words that must be about the decision

	MinTasks     int      // in tasks.md
	MinPhases    int      // in tasks.md
	TestPercent  int      // percentage of the tasks that must name a test
	TestIDs      []string // prefixes of test ids: unit, integration, end-to-end, acceptance
	SelfCritique bool     // tasks.md must have a self-critique section
	MinElements  int      // of the five elements of a blueprint
	StepsPerUAT  int      // Given, When and Then for each UAT id
	MinWords     int      // in the answer of an agent that H10 judges
	Judges       []string // agents whose verdict may be short; * matches any letters
}

// Names are the names of files and directories in the feature directory.
type Names struct {
	State, Lock, Audit, Spec, Tasks, TestPlan, TestCases, Constitution string
}

// The kinds of tests, as indexes of Config.TestIDs.
const (
	unitTest = iota
	integrationTest
	endToEndTest
	acceptanceTest
	testKinds
)

// Prefixes of keys.
const (
	flagKeys   = "feature_flags."
	agentKeys  = flagKeys + "hooks_agent_validation."
	matchKeys  = flagKeys + "hooks_immutable_guard."
	budgetKeys = "research_mcp.budget."
	fileKeys   = "workflow.files."
	stopKeys   = "workflow.stop_request."
)

// configOf reads the configuration. It does not read the plugin's name from its manifest.
func configOf(c guard.Config) Config {
	config := Config{
		Always:       c.Text("workflow.binds", bindsPlanning, bindingForm) == bindsAlways,
		Plugin:       c.Text("workflow.plugin", defaultPlugin, nameForm),
		BranchPrefix: c.Text("workflow.branch_prefix", "feature/", anyForm),
		SpecsDir:     c.Text("workflow.specs_dir", "specs", guard.Form{Want: "a directory in the project", Fits: filepath.IsLocal}),
		Names: Names{
			State:        c.Text(fileKeys+"state", ".planning-state.local.md", nameForm),
			Lock:         c.Text(fileKeys+"lock", ".planning.lock", nameForm),
			Audit:        c.Text(fileKeys+"audit", ".planning-audit.log", nameForm),
			Spec:         c.Text(fileKeys+"spec", "spec.md", nameForm),
			Tasks:        c.Text(fileKeys+"tasks", "tasks.md", nameForm),
			TestPlan:     c.Text(fileKeys+"test_plan", "test-plan.md", nameForm),
			TestCases:    c.Text(fileKeys+"test_cases", "test-cases", nameForm),
			Constitution: c.Text(fileKeys+"constitution", "constitution.md", nameForm),
		},
		Phases:       c.Texts("workflow.phases", defaultPhases),
		First:        "SETUP",
		Last:         "COMPLETION",
		Artifacts:    c.Pairs("workflow.artifacts", defaultArtifacts, anyPair),
		Required:     c.Texts("workflow.required_artifacts", []string{"design.md", "plan.md", "tasks.md", "test-plan.md"}),
		Failing:      c.Texts("workflow.failing_verdicts", []string{"RED"}),
		Agents:       c.Pairs("workflow.agents", defaultAgents, rulePair),
		Servers:      c.Texts("research_mcp.servers", []string{"context7", "Ref", "tavily"}),
		StaleMinutes: c.Int("workflow.lock_stale_after_minutes", 1, 120),
		KeepDays:     c.Int("workflow.keep_session_files_days", 1, 30),
		Stop: turn.DefaultWords().With(turn.Words{
			Stop:   c.Words(stopKeys+"words", nil),
			Before: c.Words(stopKeys+"before", nil),
			After:  c.Words(stopKeys+"after", nil),
		}),
		SessionCalls: c.Int(budgetKeys+"total_calls_per_session", 0, 25),
		PhaseCalls:   c.Int(budgetKeys+"total_calls_per_phase", 0, 10),
		WarnPercent:  c.Int(budgetKeys+"warn_at_percentage", 0, 80),
		Overlap:      c.Share(matchKeys+"keyword_overlap_threshold", 0.6),
		Subset:       c.Share(matchKeys+"subset_overlap_threshold", 0.5),
		Question:     c.Share(matchKeys+"question_overlap_threshold", 0.7),
		MinTasks:     c.Int(agentKeys+"min_tasks", 0, 5),
		MinPhases:    c.Int(agentKeys+"min_phases", 0, 2),
		TestPercent:  c.Int(agentKeys+"tdd_min_coverage", 0, 80),
		TestIDs:      c.TextsOf(agentKeys+"test_ids", testKinds, []string{"UT", "INT", "E2E", "UAT"}),
		SelfCritique: c.Bool(flagKeys+"s1_self_critique.enabled", false),
		MinElements:  c.Int(agentKeys+"min_blueprint_elements", 0, 3),
		StepsPerUAT:  c.Int(agentKeys+"steps_per_uat", 0, 3),
		MinWords:     c.Int(agentKeys+"min_words", 0, 100),
		Judges:       c.Texts(agentKeys+"judges", []string{"*-judge"}),
	}
	if len(config.Phases) > 0 {
		config.First, config.Last = config.Phases[0], config.Phases[len(config.Phases)-1]
	}
	return config
}

// StopWords returns the words by which a person asks to stop in a project, for those who
// have to read them as the guards do.
func StopWords(env func(string) string, project string) turn.Words {
	return configOf(guard.ReadConfig(env, project)).Stop
}

var (
	// defaultPhases are the phases of the workflow. The requirements name the first, the
	// last and four between them; the others make the artifacts that the requirements name.
	defaultPhases = []string{"SETUP", "RESEARCH", "CLARIFICATION", "ARCHITECTURE", "THINKDEEP", "PLAN", "VALIDATION", "TEST_STRATEGY",
		"TEST_COVERAGE", "TASKS", "COMPLETION"}

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

	defaultAgents = []guard.Pair{{Name: "tech-lead", Value: "H07"}, {Name: "software-architect", Value: "H08"},
		{Name: "qa-strategist", Value: "H09"}}
)

// defaultPlugin is the name of the plugin if neither the configuration nor a manifest has
// one.
const defaultPlugin = "product-planning"

// withPlugin returns the configuration with this name of the plugin, unless c sets another.
func (config Config) withPlugin(plugin string, c guard.Config) Config {
	if c.Text("workflow.plugin", "", nameForm) == "" && isName(plugin) {
		config.Plugin = plugin
	}
	return config
}

// The forms of texts.
var (
	anyForm     = guard.Form{Want: "a text", Fits: func(string) bool { return true }}
	nameForm    = guard.Form{Want: "a name without a directory", Fits: isName}
	bindingForm = guard.Form{Want: bindsPlanning + " or " + bindsAlways, Fits: isBinding}
	anyPair     = guard.Form{Want: "a text", Fits: func(string) bool { return true }}
	rulePair    = guard.Form{Want: "H07, H08, H09, H10 or none", Fits: judges}
)

// judges reports whether a text is the id of a rule that judges agents, or none.
func judges(id string) bool {
	return slices.Contains([]string{"", "H07", "H08", "H09", "H10", "NONE"}, strings.ToUpper(id))
}

// Mistakes returns what is wrong in the files of a configuration.
func Mistakes(c guard.Config) []guard.Mistake {
	return c.Mistakes(All(), func(c guard.Config) {
		configOf(c)
		c.Text("workflow.plugin", "", nameForm)
	})
}

func isBinding(s string) bool { return s == bindsPlanning || s == bindsAlways }

// isName reports whether s can name a file in a directory, or a plugin.
func isName(s string) bool { return filepath.IsLocal(s) && filepath.Base(s) == s && s != "." }

// isLast reports whether phase is the one in which the workflow is complete.
func (config Config) isLast(phase string) bool { return samePhase(phase, config.Last) }

// position returns the index of a phase in the order, -1 for an unknown phase.
func (config Config) position(phase string) int {
	return slices.IndexFunc(config.Phases, func(p string) bool { return samePhase(p, phase) })
}

// knows reports whether the workflow has the phase. If no phases are configured, it has any.
func (config Config) knows(phase string) bool {
	return len(config.Phases) == 0 || config.position(phase) >= 0
}

// samePhase compares names of phases. Case, "-", "_" and spaces do not matter.
func samePhase(a, b string) bool { return strings.EqualFold(phaseKey(a), phaseKey(b)) }

// phaseKey removes the characters that do not matter in the name of a phase.
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

// agentsOf returns the full names of the agents that are configured for the rule with that
// id.
func (config Config) agentsOf(id string) []string {
	var all []string
	for _, a := range config.Agents {
		if strings.EqualFold(a.Value, id) {
			all = append(all, config.agent(a.Name))
		}
	}
	return all
}

// ruleOf returns the id of the rule that judges the agent with that full name. It returns
// H10 for an agent of the plugin that is not configured, "none" for one that is configured
// not to be judged, and "" for any other agent.
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

// isJudge reports whether the agent with that full name is one of the configured judges.
func (config Config) isJudge(agent string) bool {
	name := strings.TrimPrefix(agent, config.Plugin+":")
	return slices.ContainsFunc(config.Judges, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}
