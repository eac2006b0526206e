package rules

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/guard"
)

func TestDefaults(t *testing.T) {
	assert.Equal(t, Config{
		SessionCalls: 25, PhaseCalls: 10, WarnPercent: 80, Servers: []string{"context7", "ref", "tavily"},
		Overlap: 0.6, SubsetOverlap: 0.5, FirstPhase: "SETUP", LastPhase: "COMPLETION",
		MinTasks: 5, MinPhases: 2, TestPercent: 80, MinElements: 3, StepsPerUAT: 3, MinWords: 100,
		Required: []string{"design.md", "plan.md", "tasks.md", "test-plan.md"}, RedVerdict: "RED",
		StopWords: []string{"stop", "quit", "abort", "exit"}, KeepGoing: []string{"not", "don't", "dont", "never", "without"}, MaxStopWords: 8,
	}, defaults)
}

func TestWrongValuesAreTheDefault(t *testing.T) {
	assert.Equal(t, defaults, configFrom(t, `research_mcp: {budget: {total_calls_per_session: "30", total_calls_per_phase: -1, warn_at_percentage: [80]}}
feature_flags:
  hooks_immutable_guard: {keyword_overlap_threshold: 1.5}
  hooks_agent_validation: {tdd_min_coverage: null}
  s1_self_critique: {enabled: "true"}
`))
}

func TestEveryKeyIsRead(t *testing.T) {
	want := defaults
	want.SessionCalls, want.PhaseCalls, want.WarnPercent, want.Overlap, want.TestPercent, want.SelfCritique = 0, 4, 50, 1, 0, true
	assert.Equal(t, want, configFrom(t, `research_mcp: {budget: {total_calls_per_session: 0, total_calls_per_phase: 4, warn_at_percentage: 50}}
feature_flags:
  hooks_immutable_guard: {keyword_overlap_threshold: 1}
  hooks_agent_validation: {tdd_min_coverage: 0}
  s1_self_critique: {enabled: true}
`))
}

// written is the configuration that is put into a plugin.
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

// The table of keys in docs/guards.md, the written configuration and the code's
// defaults are one list.
func TestEveryDocumentedKeyIsWrittenWithItsDefault(t *testing.T) {
	data, err := os.ReadFile("../../../docs/guards.md")
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
		assert.Equal(t, value, written(t).At(strings.Split(key, ".")...).String(), key)
	}
	assert.Equal(t, 9, keys)
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
