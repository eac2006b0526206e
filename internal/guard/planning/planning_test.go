package planning

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/guard"
)

func config(t *testing.T) frontmatter.Value {
	data, err := Files.ReadFile("config/planning-config.yaml")
	require.NoError(t, err)
	v, err := frontmatter.Parse(data)
	require.NoError(t, err)
	return v
}

func TestEveryGuardHasItsHook(t *testing.T) {
	hooks := Hooks("program")
	require.Len(t, hooks, 14)
	for i, g := range guard.All() {
		assert.Equal(t, []string{"guard", g.ID}, hooks[i].Args)
		assert.Equal(t, g.Event, hooks[i].Event)
		assert.Equal(t, "program", hooks[i].Command)
		assert.Positive(t, hooks[i].Timeout)
	}
}

// what the client matches, by the whole name.
func TestMatchersMatchWhatTheyShould(t *testing.T) {
	for id, names := range map[string]map[string]bool{
		"H01": {"AskUserQuestion": true},
		"H02": {"Write": true, "Edit": true, "NotebookEdit": true, "Read": false},
		"H03": {"mcp__context7__a": true, "mcp__Ref__b": true, "mcp__plugin_product-planning_tavily__c": true, "mcp__myRef__x": false},
		"H05": {"Write": true, "Edit": true},
	} {
		g, ok := guard.Find(id)
		require.True(t, ok)
		whole := regexp.MustCompile("^(?:" + g.Matcher + ")$")
		for name, want := range names {
			assert.Equal(t, want, whole.MatchString(name), "%s %s", id, name)
		}
	}
}

func TestTheConfigurationNamesEverySwitchAndItIsOn(t *testing.T) {
	flags := config(t).At("feature_flags")
	for _, g := range guard.All() {
		if g.Flag == "" {
			continue
		}
		on, ok := flags.At(g.Flag, "enabled").Bool()
		assert.True(t, ok && on, g.ID)
	}
	on, ok := flags.At("hooks_enforcement", "enabled").Bool()
	assert.True(t, ok && on)
}

func TestSkillFilesIsOneHook(t *testing.T) {
	hooks := SkillFiles("program")
	require.Len(t, hooks, 1)
	assert.Equal(t, "Read|Glob|Grep", hooks[0].Matcher)
}
