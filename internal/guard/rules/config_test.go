package rules

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/guard"
)

func TestDefaults(t *testing.T) {
	assert.Equal(t, configuration{
		plugin: "product-planning", branchPrefix: "feature/", specsDir: "specs",
		names: fileNames{
			state: stateName, lock: lockName, audit: auditName, spec: specName,
			tasks: "tasks.md", testPlan: "test-plan.md", testCases: "test-cases", constitution: "constitution.md",
		},
		phases: defaultPhases, firstPhase: "SETUP", lastPhase: "COMPLETION",
		artifacts: defaultArtifacts, required: []string{"design.md", "plan.md", "tasks.md", "test-plan.md"},
		failing: []string{"RED"}, agents: defaultAgents, servers: []string{"context7", "Ref", "tavily"},
		staleMinutes: 120, keepDays: 30,
		stop:         client.DefaultWords(),
		sessionCalls: 25, phaseCalls: 10, warnPercent: 80,
		thresholds: thresholds{0.6, 0.5, 0.7},
		minTasks:   5, minPhases: 2, testPercent: 80, testIDs: []string{"UT", "INT", "E2E", "UAT"},
		minElements: 3, stepsPerUAT: 3, minWords: 100, judges: []string{"*-judge"},
	}, defaults)
}

func TestWrongValuesAreTheDefault(t *testing.T) {
	assert.Equal(t, defaults, configFrom(t,
		`research_mcp: {budget: {total_calls_per_session: "30", total_calls_per_phase: -1, warn_at_percentage: [80]}}
feature_flags:
  hooks_immutable_guard: {keyword_overlap_threshold: 1.5}
  hooks_agent_validation: {tdd_min_coverage: null, test_ids: [UT], judges: x, min_words: many}
  s1_self_critique: {enabled: "true"}
workflow: {binds: sometimes, plugin: a/b, specs_dir: ../x, files: {state: a/b, lock: .., spec: ""}, phases: SETUP, agents: H07, lock_stale_after_minutes: 0, stop_request: {words: [[stop]], before: {a: b}}}
`))
}

// TestTheFirstAndTheLastPhase are those of the list.
func TestTheFirstAndTheLastPhase(t *testing.T) {
	config := configFrom(t, "workflow: {phases: [draft, review, done]}\n")
	assert.Equal(t, [2]string{"draft", "done"}, [2]string{config.firstPhase, config.lastPhase})
	assert.True(t, config.isLast("Done"))
	assert.False(t, config.isLast("COMPLETION"))
	assert.NotPanics(t, func() { configFrom(t, "workflow: {phases: []}\n") })
}

// Changing any key of the file changes the configuration.
func TestEveryKeyIsRead(t *testing.T) {
	changed := map[string]string{
		"workflow.binds":               "always",
		"workflow.plugin":              "other",
		"workflow.branch_prefix":       "topic/",
		"workflow.specs_dir":           "docs/plans",
		"workflow.files.state":         "a",
		"workflow.files.lock":          "a",
		"workflow.files.audit":         "a",
		"workflow.files.spec":          "a",
		"workflow.files.tasks":         "a",
		"workflow.files.test_plan":     "a",
		"workflow.files.test_cases":    "a",
		"workflow.files.constitution":  "a",
		"workflow.phases":              "[a, b]",
		"workflow.artifacts":           "{a: b}",
		"workflow.required_artifacts":  "[]",
		"workflow.failing_verdicts":    "[FAIL]",
		"workflow.agents":              "{a: H08}",
		"workflow.stop_request.words":  "[a]",
		"workflow.stop_request.before": "[a]",
		"workflow.stop_request.after":  "[a]",
		"research_mcp.servers":         "[a]",

		"workflow.lock_stale_after_minutes":                              "1",
		"workflow.keep_session_files_days":                               "1",
		"research_mcp.budget.total_calls_per_session":                    "0",
		"research_mcp.budget.total_calls_per_phase":                      "0",
		"research_mcp.budget.warn_at_percentage":                         "0",
		"feature_flags.s1_self_critique.enabled":                         "true",
		"feature_flags.hooks_immutable_guard.keyword_overlap_threshold":  "1",
		"feature_flags.hooks_immutable_guard.subset_overlap_threshold":   "1",
		"feature_flags.hooks_immutable_guard.question_overlap_threshold": "1",
		"feature_flags.hooks_agent_validation.tdd_min_coverage":          "0",
		"feature_flags.hooks_agent_validation.min_tasks":                 "0",
		"feature_flags.hooks_agent_validation.min_phases":                "0",
		"feature_flags.hooks_agent_validation.test_ids":                  "[a, b, c, d]",
		"feature_flags.hooks_agent_validation.min_blueprint_elements":    "0",
		"feature_flags.hooks_agent_validation.steps_per_uat":             "0",
		"feature_flags.hooks_agent_validation.min_words":                 "0",
		"feature_flags.hooks_agent_validation.judges":                    "[]",
	}
	for key, value := range changed {
		assert.NotEqual(t, defaults, configFrom(t, nested(key, value)), key)
	}
	for _, top := range []string{"workflow", "research_mcp", "feature_flags"} {
		for _, m := range keysBelow(top, written(t).At(top)) {
			if strings.HasSuffix(m, ".enabled") && !strings.Contains(m, "s1_") || strings.Contains(m, "hooks_enforcement.") {
				continue // switches and keys of the frame
			}
			assert.Contains(t, changed, m)
		}
	}
}

// nested returns YAML with one value.
func nested(key, value string) string {
	names := strings.Split(key, ".")
	return strings.Join(names, ": {") + ": " + value + strings.Repeat("}", len(names)-1) + "\n"
}

// keysBelow returns the keys of all settings below a key. A mapping that is itself the
// value of a setting is one setting.
func keysBelow(key string, v frontmatter.Value) []string {
	if len(v.Members()) == 0 || key == "workflow.artifacts" || key == "workflow.agents" {
		return []string{key}
	}
	var all []string
	for _, m := range v.Members() {
		all = append(all, keysBelow(key+"."+m.Key, m.Value)...)
	}
	return all
}

// written returns the configuration that is written into a plugin.
func written(t *testing.T) frontmatter.Value {
	data, err := Files.ReadFile(guard.ConfigFile)
	require.NoError(t, err)
	v, err := frontmatter.Parse(data)
	require.NoError(t, err)
	return v
}

func TestTheWrittenConfigurationIsTheDefaults(t *testing.T) {
	assert.Equal(t, defaults, configOf(guard.ConfigOf(written(t))))
}

// The table of keys in docs/internals/guards.md, the written configuration and the code's
// defaults are one list.
func TestEveryDocumentedKeyIsWrittenWithItsDefault(t *testing.T) {
	data, err := os.ReadFile("../../../docs/internals/guards.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(data), "\n| Key | Default | |\n| --- | --- | --- |\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	keys := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		key, value := strings.Trim(cells[1], " `"), strings.TrimSpace(cells[2])
		if strings.Contains(key, "<switch>") {
			continue // TestTheWrittenConfigurationHasEverySwitch
		}
		keys++
		if value != "see the file" {
			assert.Equal(t, value, written(t).At(strings.Split(key, ".")...).String(), key)
		}
		assert.False(t, written(t).At(strings.Split(key, ".")...).Null(), key)
	}
	assert.Equal(t, 42, keys)
}

func TestTheWrittenConfigurationHasEverySwitch(t *testing.T) {
	for _, r := range All() {
		if r.Flag == "" {
			continue
		}
		on, ok := written(t).At("feature_flags", r.Flag, "enabled").Bool()
		assert.True(t, ok && on, r.ID)
	}
}
