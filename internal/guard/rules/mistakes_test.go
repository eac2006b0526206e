package rules

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/guard"
)

// mistakesIn returns what is wrong in a project's or a plugin's configuration.
func mistakesIn(t *testing.T, file, text string) (all []string) {
	t.Helper()
	root := t.TempDir()
	path := filepath.Join(root, file)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	read := guard.ProjectConfig
	if file == guard.ConfigFile {
		read = guard.PluginConfig
	}
	for _, m := range Mistakes(read(root)) {
		assert.Equal(t, path, m.File)
		all = append(all, strings.TrimPrefix(m.String(), path))
	}
	return all
}

func TestMistakesInTheConfiguration(t *testing.T) {
	for text, want := range map[string][]string{
		"":                           nil,
		"workflow:\n  binds: always": nil,
		"research_mcp:\n  budget:\n    total_calls_per_session: \"5\"\n": {`:3: research_mcp.budget.total_calls_per_session: got "5", ` +
			`want a whole number from 0 on; it is ignored`},
		"research_mcp:\n  budget:\n\n    total_cals_per_session: 5\n": {`:4: research_mcp.budget.total_cals_per_session: nothing reads this ` +
			`key (did you mean "total_calls_per_session"?)`},
		"\n\nreserch_mcp: {budget: {total_calls_per_phase: 5}}\n": {`:3: reserch_mcp: nothing reads this key (did you mean "research_mcp"?)`},
		"workflow: {binds: sometimes, phases: SETUP, specs_dir: ../x}": {`:1: workflow.binds: got "sometimes", ` +
			`want planning or always; it is ignored`,
			`:1: workflow.specs_dir: got "../x", want a directory in the project; it is ignored`,
			`:1: workflow.phases: got "SETUP", want a list of texts; it is ignored`},
		"workflow:\n  phases: [SETUP, [PLAN]]": {":2: workflow.phases: got a list, want a list of texts; it is ignored"},
		"workflow:\n  agents:\n    other: none\n    tech-lead: H7\n": {
			`:4: workflow.agents.tech-lead: got "H7", want H07, H08, H09, H10 or none; it is ignored`},
		"workflow:\n  agents: {}": {":2: workflow.agents: got an empty mapping, " +
			"want a mapping; each value H07, H08, H09, H10 or none; it is ignored"},
		"workflow: {}": nil,
		"workflow: 5":  {":1: workflow: got 5, want a mapping; it is ignored"},
		"feature_flags:\n  hooks_budget_tracker:\n    enabled: yes\n": {
			`:3: feature_flags.hooks_budget_tracker.enabled: got "yes", want true or false; it is ignored`},
		"feature_flags:\n  hooks_budget_traker:\n    enabled: false\n": {
			`:2: feature_flags.hooks_budget_traker: nothing reads this key (did you mean "hooks_budget_tracker"?)`},
		"feature_flags:\n  hooks_enforcement:\n    max_consecutive_blocks: -1\n": {
			":3: feature_flags.hooks_enforcement.max_consecutive_blocks: got -1, want a whole number from 0 on; it is ignored"},
		"feature_flags:\n  hooks_enforcement: {log_location: logs}\n": {
			`:2: feature_flags.hooks_enforcement.log_location: got "logs", want an absolute path with {session_id} in ` +
				`the file's name; it is ignored`},
		"feature_flags:\n  hooks_agent_validation: {test_ids: [UT], min_words: 5}\n": {
			":2: feature_flags.hooks_agent_validation.test_ids: got a list, want a list of 4 texts; it is ignored"},
		"feature_flags:\n  hooks_stop_guard: {description: text, rollback: text, requires: [hooks_enforcement], reads_from: x}\n": nil,
		"workflow:\n  plugin: mine\n": nil,
		"other: 1\n":                  {":1: other: nothing reads this key"},
	} {
		assert.Equal(t, want, mistakesIn(t, guard.ProjectConfigFile, text), text)
	}
	assert.Empty(t, mistakesIn(t, guard.ConfigFile, "other: {settings: [of, the, plugin]}\nfeature_flags: {s7_mine: {enabled: true}}\n"),
		"a plugin has settings of its own")
	assert.Equal(t, []string{`:1: workflw: nothing reads this key (did you mean "workflow"?)`},
		mistakesIn(t, guard.ConfigFile, "workflw: {binds: always}\n"))
	broken := mistakesIn(t, guard.ProjectConfigFile, "workflow:\n  binds: always\n bad\n")
	require.Len(t, broken, 1)
	assert.Regexp(t, `^:[234]: the file is not used: it is not valid YAML: `, broken[0])
}

// TestTheWrittenConfigurationHasNoMistakes: nor do the defaults.
func TestTheWrittenConfigurationHasNoMistakes(t *testing.T) {
	text, err := os.ReadFile("config/planning-config.yaml")
	require.NoError(t, err)
	assert.Empty(t, mistakesIn(t, guard.ProjectConfigFile, string(text)))
	assert.Empty(t, Mistakes(guard.Config{}))
}
