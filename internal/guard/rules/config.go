package rules

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
)

// configuration holds every configurable number and name that the rules use.
type configuration struct {
	always       bool   // the rules bind everywhere, not only where planning is under way
	plugin       string // name of the workflow's plugin, the prefix of its agents and commands
	branchPrefix string // of the branch of a feature
	specsDir     string // directory of the feature directories, relative to the project
	names        fileNames

	phases     []string // in order; if empty, any name is a phase
	firstPhase string   // the phase in which spec.md may still change
	lastPhase  string   // the phase in which the workflow is complete

	artifacts []guard.Pair // files of a complete workflow, with the phase that makes each
	required  []string     // artifacts without which a turn does not end
	failing   []string     // verdicts of a gate that has failed

	agents  []guard.Pair // an agent's name without the plugin's, and the id of its rule or "none"
	servers []string     // MCP servers whose calls count as research

	staleMinutes int // a lock whose session was inactive for so long is stale
	keepDays     int // session files older than this are removed

	stop client.Words // the built-in words and those of the files

	sessionCalls int // research calls for each session
	phaseCalls   int // research calls for each phase
	warnPercent  int // percentage of either limit from which on H03 warns

	thresholds

	minTasks     int      // in tasks.md
	minPhases    int      // in tasks.md
	testPercent  int      // percentage of the tasks that must name a test
	testIDs      []string // prefixes of test ids: unit, integration, end-to-end, acceptance
	selfCritique bool     // tasks.md must have a self-critique section
	minElements  int      // of the five elements of a blueprint
	stepsPerUAT  int      // Given, When and Then for each UAT id
	minWords     int      // in the answer of an agent that H10 judges
	judges       []string // agents whose verdict may be short; * matches any letters
}

// fileNames are the names of files and directories in the feature directory.
type fileNames struct {
	state, lock, audit, spec, tasks, testPlan, testCases, constitution string
}

// The kinds of tests, as indexes of configuration.testIDs.
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
func configOf(c guard.Config) configuration {
	config := configuration{
		always:       c.Text("workflow.binds", bindsPlanning, isBinding) == bindsAlways,
		plugin:       c.Text("workflow.plugin", defaultPlugin, isName),
		branchPrefix: c.Text("workflow.branch_prefix", "feature/", anyText),
		specsDir:     c.Text("workflow.specs_dir", "specs", filepath.IsLocal),
		names: fileNames{
			state:        c.Text(fileKeys+"state", ".planning-state.local.md", isName),
			lock:         c.Text(fileKeys+"lock", ".planning.lock", isName),
			audit:        c.Text(fileKeys+"audit", ".planning-audit.log", isName),
			spec:         c.Text(fileKeys+"spec", "spec.md", isName),
			tasks:        c.Text(fileKeys+"tasks", "tasks.md", isName),
			testPlan:     c.Text(fileKeys+"test_plan", "test-plan.md", isName),
			testCases:    c.Text(fileKeys+"test_cases", "test-cases", isName),
			constitution: c.Text(fileKeys+"constitution", "constitution.md", isName),
		},
		phases:       c.Texts("workflow.phases", defaultPhases),
		firstPhase:   "SETUP",
		lastPhase:    "COMPLETION",
		artifacts:    c.Pairs("workflow.artifacts", defaultArtifacts),
		required:     c.Texts("workflow.required_artifacts", []string{"design.md", "plan.md", "tasks.md", "test-plan.md"}),
		failing:      c.Texts("workflow.failing_verdicts", []string{"RED"}),
		agents:       c.Pairs("workflow.agents", defaultAgents),
		servers:      c.Texts("research_mcp.servers", []string{"context7", "Ref", "tavily"}),
		staleMinutes: c.Int("workflow.lock_stale_after_minutes", 1, 120),
		keepDays:     c.Int("workflow.keep_session_files_days", 1, 30),
		stop: client.DefaultWords().With(client.Words{
			Stop:   c.Words(stopKeys+"words", nil),
			Before: c.Words(stopKeys+"before", nil),
			After:  c.Words(stopKeys+"after", nil),
		}),
		sessionCalls: c.Int(budgetKeys+"total_calls_per_session", 0, 25),
		phaseCalls:   c.Int(budgetKeys+"total_calls_per_phase", 0, 10),
		warnPercent:  c.Int(budgetKeys+"warn_at_percentage", 0, 80),
		thresholds: thresholds{
			overlap:  c.Share(matchKeys+"keyword_overlap_threshold", 0.6),
			subset:   c.Share(matchKeys+"subset_overlap_threshold", 0.5),
			question: c.Share(matchKeys+"question_overlap_threshold", 0.7),
		},
		minTasks:     c.Int(agentKeys+"min_tasks", 0, 5),
		minPhases:    c.Int(agentKeys+"min_phases", 0, 2),
		testPercent:  c.Int(agentKeys+"tdd_min_coverage", 0, 80),
		testIDs:      c.TextsOf(agentKeys+"test_ids", testKinds, []string{"UT", "INT", "E2E", "UAT"}),
		selfCritique: c.Bool(flagKeys+"s1_self_critique.enabled", false),
		minElements:  c.Int(agentKeys+"min_blueprint_elements", 0, 3),
		stepsPerUAT:  c.Int(agentKeys+"steps_per_uat", 0, 3),
		minWords:     c.Int(agentKeys+"min_words", 0, 100),
		judges:       c.Texts(agentKeys+"judges", []string{"*-judge"}),
	}
	if len(config.phases) > 0 {
		config.firstPhase, config.lastPhase = config.phases[0], config.phases[len(config.phases)-1]
	}
	return config
}

// StopWords returns the words by which a person asks to stop in a project, for those who
// have to read them as the guards do.
func StopWords(env func(string) string, project string) client.Words {
	return configOf(guard.ReadConfig(env, project)).stop
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
func (config configuration) withPlugin(plugin string, c guard.Config) configuration {
	if c.Text("workflow.plugin", "", isName) == "" && isName(plugin) {
		config.plugin = plugin
	}
	return config
}

func anyText(string) bool { return true }

func isBinding(s string) bool { return s == bindsPlanning || s == bindsAlways }

// isName reports whether s can name a file in a directory, or a plugin.
func isName(s string) bool { return filepath.IsLocal(s) && filepath.Base(s) == s && s != "." }

// isLast reports whether phase is the one in which the workflow is complete.
func (config configuration) isLast(phase string) bool { return samePhase(phase, config.lastPhase) }

// position returns the index of a phase in the order, -1 for an unknown phase.
func (config configuration) position(phase string) int {
	return slices.IndexFunc(config.phases, func(p string) bool { return samePhase(p, phase) })
}

// knows reports whether the workflow has the phase. If no phases are configured, it has any.
func (config configuration) knows(phase string) bool {
	return len(config.phases) == 0 || config.position(phase) >= 0
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
func (config configuration) agent(name string) string { return config.plugin + ":" + name }

// agentsOf returns the full names of the agents that are configured for the rule with that
// id.
func (config configuration) agentsOf(id string) []string {
	var all []string
	for _, a := range config.agents {
		if strings.EqualFold(a.Value, id) {
			all = append(all, config.agent(a.Name))
		}
	}
	return all
}

// ruleOf returns the id of the rule that judges the agent with that full name. It returns
// H10 for an agent of the plugin that is not configured, "none" for one that is configured
// not to be judged, and "" for any other agent.
func (config configuration) ruleOf(agent string) string {
	name, ours := strings.CutPrefix(agent, config.plugin+":")
	if !ours {
		return ""
	}
	for _, a := range config.agents {
		if a.Name == name {
			return a.Value
		}
	}
	return genericRule
}

// isJudge reports whether the agent with that full name is one of the configured judges.
func (config configuration) isJudge(agent string) bool {
	name := strings.TrimPrefix(agent, config.plugin+":")
	return slices.ContainsFunc(config.judges, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}
