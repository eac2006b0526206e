package rules

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/guard"
)

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
	changed := map[string]string{"workflow.binds": "always", "workflow.agents": "{a: H08}",
		"feature_flags.hooks_agent_validation.test_ids": "[a, b, c, d]"}
	for _, top := range []string{"workflow", "research_mcp", "feature_flags"} {
		for _, key := range keysBelow(top, written(t).At(top)) {
			if strings.HasSuffix(key, ".enabled") && !strings.Contains(key, "s1_") || strings.Contains(key, "hooks_enforcement.") {
				continue // switches and keys of the frame
			}
			assert.NotEqual(t, defaults, configFrom(t, nested(key, cmp.Or(changed[key], other(written(t).At(strings.Split(key, ".")...))))), key)
		}
	}
}

// other returns another value of the kind of v.
func other(v frontmatter.Value) string {
	_, isNumber := v.Number()
	on, isBool := v.Bool()
	switch {
	case isNumber:
		return "1"
	case isBool:
		return fmt.Sprint(!on)
	case v.Items() != nil:
		return "[a]"
	case v.Members() != nil:
		return "{a: b}"
	}
	return "a"
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
	return must(frontmatter.Parse(must(Files.ReadFile(guard.ConfigFile))))
}

func TestTheWrittenConfigurationIsTheDefaults(t *testing.T) {
	assert.Equal(t, defaults, configOf(guard.ConfigOf(written(t))))
}

// The table of keys in docs/internals/guards.md, the written configuration and the code's
// defaults are one list.
func TestEveryDocumentedKeyIsWrittenWithItsDefault(t *testing.T) {
	data := must(os.ReadFile("../../../docs/internals/guards.md"))
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

// TestTheNameOfThePlugin: the configuration's comes before the manifest's, and that before the default.
func TestTheNameOfThePlugin(t *testing.T) {
	v := configFrom(t, "workflow:\n  plugin: mine\n")
	assert.Equal(t, "mine", v.plugin)
	none := guard.Config{}
	assert.Equal(t, "theirs", defaults.withPlugin("theirs", none).plugin)
	assert.Equal(t, defaultPlugin, defaults.withPlugin("", none).plugin)
	assert.Equal(t, defaultPlugin, defaults.withPlugin("a/b", none).plugin)
}
