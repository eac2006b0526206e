package settings_test

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/settings"
)

var withTools = settings.WithTaskTools(ours, true)

func variable(t require.TestingT, data []byte) settings.Setting {
	return must(settings.Variable(data, ours))
}

func TestTaskToolsAreAddedAndRemovedWithTheHooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := []byte(settingsFile().Draw(t, "settings"))
		env, present := decode(t, before)["env"]
		if _, ok := env.(map[string]any); present && !ok {
			_, err := settings.Add(bytes.Clone(before), withTools)
			require.ErrorIs(t, err, settings.ErrShape)
			require.ErrorContains(t, err, "unexpected settings: /env: got ")
			return
		}
		with := add(t, before, withTools)
		require.Equal(t, settings.Installed, state(t, with, withTools))
		require.Equal(t, settings.Setting{Set: true, Value: "1", Ours: true}, variable(t, with))
		require.Equal(t, string(with), string(add(t, with, withTools)), "adding twice is adding once")
		require.Equal(t, members(t, add(t, before, ours)), members(t, add(t, with, ours)), "without the task tools")
		require.Equal(t, decode(t, with), decode(t, add(t, add(t, before, ours), withTools)), "added later")
		require.Equal(t, string(before), string(remove(t, with, ours)))

		is, was := decode(t, with), decode(t, add(t, before, ours))
		delete(is["env"].(map[string]any), settings.TaskTools)
		if was["env"] == nil {
			was["env"] = map[string]any{}
		}
		delete(is["hooks"].(map[string]any), "SessionStart")
		delete(was["hooks"].(map[string]any), "SessionStart")
		require.Equal(t, was, is, "nothing else changes for the client")
	})
}

func TestTaskToolsOfACreatedFileGoWithIt(t *testing.T) {
	with := add(t, nil, withTools)
	assert.Contains(t, string(with), "\n  \"env\": {\n    \"CLAUDE_CODE_ENABLE_TODO_TOOLS\": \"1\"\n  }\n}\n")
	assert.Nil(t, remove(t, with, ours))
	assert.Nil(t, remove(t, add(t, add(t, nil, ours), withTools), ours))
}

func TestTaskToolsSurviveARewriteByTheClient(t *testing.T) {
	with := jsontext.Value(add(t, []byte(`{"model":"x","env":{"A":"1"}}`), withTools))
	require.NoError(t, with.Indent(jsontext.WithIndent("  ")))
	assert.Equal(t, settings.Installed, state(t, with, withTools))
	assert.Equal(t, "{\n  \"model\": \"x\",\n  \"env\": {\n    \"A\": \"1\"\n  }\n}", string(remove(t, with, ours)))
}

func TestTaskToolsOfTheUserAreKept(t *testing.T) {
	for before, want := range map[string]settings.Setting{
		`{"env":{"CLAUDE_CODE_ENABLE_TODO_TOOLS":"1"}}`:      {Set: true, Value: "1"},
		`{"env":{"CLAUDE_CODE_ENABLE_TODO_TOOLS":"0"}}`:      {Set: true, Value: "0"},
		`{"env":{"CLAUDE_CODE_ENABLE_TODO_TOOLS": [ 1 ] }}`:  {Set: true, Value: "[ 1 ]"},
		`{"env":{"CLAUDE_CODE_ENABLE_TODO_TOOLS\u0020":""}}`: {},
		`{"env":"CLAUDE_CODE_ENABLE_TODO_TOOLS"}`:            {},
	} {
		assert.Equal(t, want, variable(t, []byte(before)), before)
		with := add(t, []byte(before), ours)
		assert.Equal(t, want, variable(t, with), before)
		assert.JSONEq(t, before, string(remove(t, with, ours)))
	}
	assert.Zero(t, variable(t, nil))

	// A changed value belongs to the user too.
	with := bytes.Replace(add(t, []byte(`{"a":1}`), withTools), []byte(`_TOOLS": "1"`), []byte(`_TOOLS": "0"`), 1)
	assert.Equal(t, settings.Setting{Set: true, Value: "0"}, variable(t, with))
	assert.JSONEq(t, `{"a":1, "env": {"CLAUDE_CODE_ENABLE_TODO_TOOLS": "0"}}`, string(remove(t, with, ours)))
	assert.Equal(t, settings.Setting{Set: true, Value: "0"}, variable(t, add(t, with, settings.Hooks("/new/fsmtx", nil, settings.Duty{}))))
	upgraded := add(t, with, settings.WithTaskTools(settings.Hooks("/new/fsmtx", nil, settings.Duty{}), true))
	assert.Equal(t, settings.Setting{Set: true, Value: "0"}, variable(t, upgraded))
}

func TestInspectReportsMissingTaskTools(t *testing.T) {
	with := add(t, []byte(`{"a":1}`), withTools)
	without := bytes.Replace(with, []byte(`"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"`), nil, 1)
	report := must(settings.Inspect(without, withTools))
	assert.Equal(t, settings.Report{State: settings.Outdated, Why: []string{"env: CLAUDE_CODE_ENABLE_TODO_TOOLS is missing"}}, report)
	assert.Equal(t, settings.Setting{Set: true, Value: "1", Ours: true}, variable(t, add(t, without, withTools)))

	assert.Equal(t, []string{`SessionStart: has flags "--nest=off --task-tools", want "--nest=off"`}, must(settings.Inspect(with, ours)).Why)

	kept := must(settings.Keep(with, settings.Hooks("/opt/bin/fsmtx", nil, settings.Duty{})))
	assert.Equal(t, settings.Installed, state(t, with, kept))
	assert.Equal(t, settings.Outdated, state(t, with, settings.WithTaskTools(kept, false)))
	assert.Equal(t, settings.Installed, state(t, with, settings.WithTaskTools(kept, true)))
}

// TestOnlyTheHookAtTheStartCarriesTheMark: other hooks keep their flags.
func TestOnlyTheHookAtTheStartCarriesTheMark(t *testing.T) {
	at := func(event string, args ...string) settings.Hook {
		return settings.Hook{Event: event, Args: args, Flags: []string{"--x"}}
	}
	hooks := []settings.Hook{at("SessionStart", "hook"), at("Stop", "hook"), at("SessionStart", "guard")}
	var flags [][]string
	for _, h := range settings.WithTaskTools(hooks, true) {
		flags = append(flags, h.Flags)
	}
	assert.Equal(t, [][]string{{"--x", "--task-tools"}, {"--x"}, {"--x"}}, flags)
}
