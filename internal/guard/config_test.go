package guard

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/frontmatter"
)

func config(t *testing.T, text string) Config {
	v, err := frontmatter.Parse([]byte(text))
	require.NoError(t, err)
	return ConfigOf(v)
}

func TestASwitchTurnsARuleOff(t *testing.T) {
	rule := Rule{Flag: "hooks_own"}
	for text, want := range map[string]string{
		"x: 1": "",
		"feature_flags: {hooks_own: {enabled: true}}":                                         "",
		"feature_flags: {hooks_own: {enabled: false}}":                                        "hooks_own",
		"feature_flags: {hooks_own: {enabled: \"false\"}}":                                    "",
		"feature_flags: {hooks_own: {enabled: 0}}":                                            "",
		"feature_flags: {hooks_own: false}":                                                   "",
		"feature_flags: {hooks_other: {enabled: false}}":                                      "",
		"feature_flags: {hooks_enforcement: {enabled: false}}":                                "hooks_enforcement",
		"feature_flags: {hooks_enforcement: {enabled: false}, hooks_own: {enabled: true}}":    "hooks_enforcement",
		"feature_flags: {\"\": {enabled: false}, hooks_enforcement: {enabled: true}, a: [1]}": "",
	} {
		assert.Equal(t, want, config(t, text).switchedOff(rule), text)
	}
	assert.Empty(t, config(t, `feature_flags: {"": {enabled: false}}`).switchedOff(Rule{}), "a rule without a switch of its own")
	assert.NotEmpty(t, config(t, "feature_flags: {hooks_enforcement: {enabled: false}}").switchedOff(Rule{}))
}

func TestValuesOfTheWrongTypeOrOutOfRangeAreTheDefault(t *testing.T) {
	c := config(t, `a: {int: 7, neg: -1, text: "7", frac: 1.5, list: [7], big: 99999999999999999999, yes: true, word: "true", none: , zero: 0, one: 1, nan: .nan}`)
	for key, want := range map[string]int{"a.int": 7, "a.zero": 0, "a.neg": 42, "a.text": 42, "a.frac": 42, "a.list": 42, "a.big": 42, "a.yes": 42, "a.none": 42, "a.missing": 42, "missing.too": 42, "a": 42, "a.int.deeper": 42} {
		assert.Equal(t, want, c.Int(key, 0, 42), key)
	}
	assert.Equal(t, 42, c.Int("a.zero", 1, 42), "below the least")
	for key, want := range map[string]float64{"a.one": 1, "a.zero": 0.6, "a.neg": 0.6, "a.frac": 0.6, "a.int": 0.6, "a.nan": 0.6, "a.text": 0.6, "a.missing": 0.6} {
		assert.InDelta(t, want, c.Share(key, 0.6), 0, key)
	}
	for key, want := range map[string]bool{"a.yes": true, "a.word": false, "a.int": false, "a.missing": false} {
		assert.Equal(t, want, c.Bool(key, false), key)
	}
	assert.True(t, c.Bool("a.word", true))
}

func TestDefaultsOfTheFrame(t *testing.T) {
	assert.Equal(t, 3, Config{}.breakerThreshold())
	assert.Equal(t, 3, Config{}.maxBlocks())
	c := config(t, "feature_flags: {hooks_enforcement: {circuit_breaker_threshold: 0, max_consecutive_blocks: 0}}")
	assert.Equal(t, 3, c.breakerThreshold(), "a breaker that is always open would switch every rule off")
	assert.Equal(t, 0, c.maxBlocks())
}

func TestAConfigurationThatCannotBeReadIsTheDefaults(t *testing.T) {
	b := newBench(t, nil)
	assert.Equal(t, Config{}, readConfig(""))
	assert.Equal(t, Config{}, readConfig(t.TempDir()))
	assert.Equal(t, Config{}, readConfig(b.plugin(t, "feature_flags: [")))
	assert.NotEqual(t, Config{}, readConfig(b.plugin(t, "a: 1")))
}
