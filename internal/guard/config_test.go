package guard

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/frontmatter"
)

func configFrom(t *testing.T, text string) Config {
	return ConfigOf(must(frontmatter.Parse([]byte(text))))
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
		assert.Equal(t, want, configFrom(t, text).switchedOff(rule), text)
	}
	assert.Empty(t, configFrom(t, `feature_flags: {"": {enabled: false}}`).switchedOff(Rule{}), "a rule without a switch of its own")
	assert.NotEmpty(t, configFrom(t, "feature_flags: {hooks_enforcement: {enabled: false}}").switchedOff(Rule{}))
}

func TestValuesOfTheWrongTypeOrOutOfRangeAreTheDefault(t *testing.T) {
	c := configFrom(t, `a: {int: 7, neg: -1, text: "7", frac: 1.5, list: [7], big: 99999999999999999999, yes: true, word: "true", none: , `+
		`zero: 0, one: 1, nan: .nan}`)
	for key, want := range map[string]int{"a.int": 7, "a.zero": 0, "a.neg": 42, "a.text": 42, "a.frac": 42, "a.list": 42, "a.big": 42,
		"a.yes": 42, "a.none": 42, "a.missing": 42, "missing.too": 42, "a": 42, "a.int.deeper": 42} {
		assert.Equal(t, want, c.Int(key, 0, 42), key)
	}
	assert.Equal(t, 42, c.Int("a.zero", 1, 42), "below the least")
	for key, want := range map[string]float64{"a.one": 1, "a.zero": 0.6, "a.neg": 0.6, "a.frac": 0.6, "a.int": 0.6, "a.nan": 0.6,
		"a.text": 0.6, "a.missing": 0.6} {
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
	c := configFrom(t, "feature_flags: {hooks_enforcement: {circuit_breaker_threshold: 0, max_consecutive_blocks: 0}}")
	assert.Equal(t, 3, c.breakerThreshold(), "a breaker that is always open would switch every rule off")
	assert.Equal(t, 0, c.maxBlocks())
}

func TestAnUnreadableConfigurationMeansTheDefaults(t *testing.T) {
	b := newBench(t, nil)
	assert.Equal(t, 42, ReadConfig(b.getenv, "").Int("a", 0, 42))
	assert.Equal(t, 42, ReadConfig(b.getenv, t.TempDir()).Int("a", 0, 42))
	b.plugin(t, "feature_flags: [")
	assert.Equal(t, 42, ReadConfig(b.getenv, "").Int("a", 0, 42))
	b.plugin(t, "a: 1")
	assert.Equal(t, 1, ReadConfig(b.getenv, "").Int("a", 0, 42))
}

// newProject creates a project with a configuration of its own.
func newProject(t *testing.T, text string) (project string) {
	project = t.TempDir()
	file := filepath.Join(project, projectConfigFile)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return project
}

func TestTheProjectsFileTakesPrecedence(t *testing.T) {
	b := newBench(t, nil)
	b.plugin(t, "a: {one: 1, two: 2, list: [x]}\nb: 5")
	project := newProject(t, "a: {one: 7, two: [], list: []}")
	c := ReadConfig(b.getenv, project)
	assert.Equal(t, 7, c.Int("a.one", 0, 42))
	assert.Equal(t, 2, c.Int("a.two", 0, 42), "a value of the wrong type does not hide the plugin's")
	assert.Empty(t, c.Texts("a.list", []string{"y"}), "an empty list is a list")

	broken := ReadConfig(b.getenv, newProject(t, "a: ["))
	assert.Equal(t, 1, broken.Int("a.one", 0, 42))
	assert.Regexp(t, `planning-config.yaml:1: the file is not used: it is not valid YAML`, broken.Mistakes()[0].String())
	assert.Empty(t, c.Mistakes())
}

func TestTextsListsAndPairs(t *testing.T) {
	c := configFrom(t, "a: {text: ' x  y ', empty: '', list: [one, 2, [3]], none: [[1]], pairs: {b: 1, a: }, names: [p, q]}")
	fits := func(string) bool { return true }
	assert.Equal(t, "x  y", c.Text("a.text", "-", fits))
	assert.Equal(t, "-", c.Text("a.empty", "-", fits))
	assert.Equal(t, "-", c.Text("a.list", "-", fits))
	assert.Equal(t, "-", c.Text("a.text", "-", func(string) bool { return false }))
	assert.Equal(t, []string{"one", "2"}, c.Texts("a.list", nil))
	assert.Equal(t, []string{"-"}, c.Texts("a.none", []string{"-"}))
	assert.Equal(t, []string{"-"}, c.Texts("a.text", []string{"-"}))
	assert.Equal(t, []string{"one", "2"}, c.Words("a.list", nil))
	assert.Equal(t, []string{"x", "y"}, c.Words("a.text", nil))
	assert.Equal(t, []string{"-"}, c.Words("a.none", []string{"-"}))
	assert.Equal(t, []Pair{{"b", "1"}, {"a", ""}}, c.Pairs("a.pairs", nil))
	assert.Equal(t, []Pair{{"p", ""}, {"q", ""}}, c.Pairs("a.names", nil))
	assert.Equal(t, []Pair{{"-", ""}}, c.Pairs("a.text", []Pair{{"-", ""}}))
}

func TestThePluginOfAProgramIsTheDirectoryAboveItsBin(t *testing.T) {
	b := newBench(t, nil)
	root := b.plugin(t, "a: 1")
	link := filepath.Join(t.TempDir(), "fsmtx")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "bin"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(root, "bin", "fsmtx"), nil, 0o700))
	require.NoError(t, os.Symlink(filepath.Join(root, "bin", "fsmtx"), link))
	resolved := must(filepath.EvalSymlinks(root))
	assert.Equal(t, resolved, rootAbove(filepath.Join(root, "bin", "fsmtx")))
	assert.Equal(t, resolved, rootAbove(link))
	assert.Empty(t, rootAbove(filepath.Join(t.TempDir(), "bin", "fsmtx")))
	assert.Equal(t, root, pluginRoot(b.getenv), "CLAUDE_PLUGIN_ROOT takes precedence")
}
