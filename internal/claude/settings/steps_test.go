package settings_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/claude/settings"
)

var (
	steps = settings.Steps("/opt/bin/fsmtx", []string{"--stop=hold"}, settings.Only{})
	all   = settings.WithTaskTools(slices.Concat(ours, steps), true)
)

// TestHooksOfSteps compares the whole file, because a mistake in PreToolUse makes the
// client drop all of it (fact 58).
func TestHooksOfSteps(t *testing.T) {
	group := func(matcher string, timeout int, more string) string {
		if matcher != "" {
			matcher = `
        "matcher": "` + matcher + `",`
		}
		return fmt.Sprintf(`
      {%s
        "hooks": [
          {
            "type": "command",
            "command": "! command -v fsmtx >/dev/null || exec fsmtx step",
            "timeout": %d%s
          }
        ]
      }`, matcher, timeout, more)
	}
	event := func(name string, groups ...string) string {
		return fmt.Sprintf("\n    %q: [%s\n    ]", name, strings.Join(groups, ","))
	}
	want := "{\n  \"hooks\": {" + strings.Join([]string{
		event("PreToolUse",
			group("TaskUpdate", 1860, ""),
			group("Write|Edit|NotebookEdit", 10, ""),
			group("Bash", 10, ",\n            \"if\": \"Bash(*fsmtx *)\""),
			group("mcp__.*__(workflow_status|step_start|step_complete|step_skip|workflow_begin)", 10, "")),
		event("PostToolUse", group("TaskUpdate|AskUserQuestion", 10, "")),
		event("TaskCompleted", group("", 1860, "")),
		event("UserPromptSubmit", group("", 10, "")),
		event("Stop", group("", 10, "")),
		event("SubagentStop", group("", 10, "")),
		event("SessionStart", group("compact|resume", 10, "")),
	}, ",") + "\n  }\n}\n"
	assert.Equal(t, want, string(add(t, nil, settings.Steps("fsmtx", nil, settings.Only{}))))
}

func TestStepTimeoutIsLongerThanEveryCheck(t *testing.T) {
	assert.Greater(t, settings.StepTimeout*time.Second, fsmspec.MaxCheckTimeout)
}

func TestStepsAreAddedAndRemovedWithTheHooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := []byte(settingsFile().Draw(t, "settings"))
		if env, present := decode(t, before)["env"]; present {
			if _, ok := env.(map[string]any); !ok {
				t.Skip("env is not an object")
			}
		}
		require.Equal(t, settings.Absent, state(t, before, all))
		with := add(t, before, all)
		require.Equal(t, settings.Installed, state(t, with, all))
		require.Equal(t, string(with), string(add(t, with, all)), "adding twice is adding once")
		require.Equal(t, string(before), string(remove(t, with, all)))

		i := rapid.IntRange(0, len(all)-1).Draw(t, "only")
		require.Equal(t, string(with), string(add(t, add(t, before, all[i:i+1]), all)), "completed")
		old := slices.Concat(settings.WithTaskTools(settings.Hooks("/old/fsmtx", nil), true), settings.Steps("/old/fsmtx", nil, settings.Only{}))
		require.Equal(t, string(with), string(add(t, add(t, before, old), all)), "updated")
	})
}

// TestStepsAreRemovedWithoutTheOtherHooks: the hydration hooks stay installed.
func TestStepsAreRemovedWithoutTheOtherHooks(t *testing.T) {
	hydration := settings.WithTaskTools(ours, true)
	for _, before := range []string{
		"", "{}", "{\n}\n", `{"hooks":{}}`, "{\n  \"hooks\": {\n    \"Stop\": [],\n    \"PreToolUse\": [{}]\n  }\n}\n", `{"hooks": {"SessionStart": []}}`,
	} {
		data := []byte(before)
		if before == "" {
			data = nil
		}
		with := add(t, data, all)
		without := remove(t, with, steps)
		assert.Equal(t, string(add(t, data, hydration)), string(without))
		assert.Equal(t, before, string(remove(t, without, hydration)))
	}
}

func TestInspectNamesTheStepHookThatDiffers(t *testing.T) {
	with := string(add(t, []byte(`{"a":1}`), all))
	for _, c := range []struct{ old, new, why string }{
		{`"matcher": "TaskUpdate"`, `"matcher": "TaskUpdate|TaskCreate"`, `PreToolUse of TaskUpdate: has matcher "TaskUpdate|TaskCreate", want "TaskUpdate"`},
		{`"matcher": "TaskUpdate"`, `"matcher": "Foo"`, `PreToolUse of TaskUpdate: has matcher "Foo", want "TaskUpdate"`},
		{`"Write|Edit|NotebookEdit"`, `"MultiEdit|Write"`, `PreToolUse of Write: has matcher "MultiEdit|Write", want "Write|Edit|NotebookEdit"`},
		{`, "if": "Bash(*fsmtx *)"`, ``, `PreToolUse of Bash: has no if, want "Bash(*fsmtx *)"`},
		{`"if": "Bash(*fsmtx *)"`, `"if": "Bash(*)"`, `PreToolUse of Bash: has if "Bash(*)", want "Bash(*fsmtx *)"`},
		{`"compact|resume"`, `"compact"`, `SessionStart: has matcher "compact", want "compact|resume"`},
	} {
		require.Equal(t, 1, strings.Count(with, c.old), c.old)
		changed := []byte(strings.Replace(with, c.old, c.new, 1))
		report, err := settings.Inspect(changed, all)
		require.NoError(t, err)
		assert.Equal(t, []string{c.why}, report.Why)
		assert.Equal(t, with, string(add(t, changed, all)))
		assert.Equal(t, `{"a":1}`, string(remove(t, changed, all)))
	}
}

func TestKeepReturnsTheFlagsOfEachSubcommand(t *testing.T) {
	with := add(t, []byte(`{"a":1}`), all)
	kept, err := settings.Keep(with, slices.Concat(ours, settings.Steps("/new/fsmtx", nil, settings.Only{})))
	require.NoError(t, err)
	for _, h := range kept {
		want := map[string]string{"hydrate": "[--announce]", "recover": "[--task-tools]", "step": "[--stop=hold]"}[h.Args[0]]
		assert.Equal(t, want, fmt.Sprint(h.Flags), "%s %s", h.Event, h.Matcher)
	}
}
