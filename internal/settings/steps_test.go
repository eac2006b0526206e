package settings_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// TestHooks compares the whole file, because a mistake in PreToolUse makes the client drop all of
// it (fact 58). Nothing is registered twice for a call.
func TestHooks(t *testing.T) {
	group := func(command, matcher string, timeout int, more string) string {
		if matcher != "" {
			matcher = `
        "matcher": "` + matcher + `",`
		}
		text, _ := json.Marshal(command)
		return fmt.Sprintf(`
      {%s
        "hooks": [
          {
            "type": "command",
            "command": %s,
            "timeout": %d%s
          }
        ]
      }`, matcher, text, timeout, more)
	}
	event := func(name string, groups ...string) string {
		return fmt.Sprintf("\n    %q: [%s\n    ]", name, strings.Join(groups, ","))
	}
	reporting := func(hooks []settings.Hook) string {
		return hooks[slices.IndexFunc(hooks, func(h settings.Hook) bool { return h.Event == "SessionStart" })].Line()
	}
	const open, own = "! command -v fsmtx >/dev/null || exec fsmtx hook --agent=claude", ",\n            \"if\": \"Bash(*fsmtx*)\""
	inList := shell.InList(open)
	or := func(f shell.Fallback) string { return shell.GuardOr(f, "fsmtx", []string{"hook", "--agent=claude"}) }
	const served = "^mcp__.*__(workflow_status|step_start|step_complete|step_skip|workflow_begin|workflow_continue)$"
	hooks := settings.Hooks("fsmtx", nil, settings.Duty{})
	want := "{\n  \"hooks\": {" + strings.Join([]string{
		event("PostToolUse", group(open, "Skill|TaskUpdate|AskUserQuestion", 15, ""), group(open, "Bash", 15, own), group(open, served, 15, "")),
		event("PostToolUseFailure", group(open, "Bash", 15, own), group(open, served, 15, "")),
		event("UserPromptExpansion", group(open, "", 15, "")),
		event("PreToolUse",
			group(or(shell.Refuse),
				"^(TaskUpdate|mcp__.*__(workflow_status|step_start|step_complete|step_skip|workflow_begin|workflow_continue))$", 1860,
				",\n            \"onFailure\": \"block\""),
			group(open, "^(TaskCreate|TaskGet|TaskList)$", 15, ""),
			group(inList, "^(Write|Edit|NotebookEdit|AskUserQuestion)$", 15, ""),
			group(open, "Bash", 1860, own)),
		event("TaskCompleted", group(open, "", 1860, "")),
		event("UserPromptSubmit", group(inList, "", 15, "")),
		event("Stop", group(or(shell.Tell), "", 15, "")),
		event("SubagentStop", group(open, "", 15, "")),
		event("SessionStart", group(reporting(hooks), "", 15, "")),
	}, ",") + "\n  }\n}\n"
	assert.Equal(t, want, string(add(t, nil, hooks)))

	const off = open + " --steps=off"
	hooks = settings.Hooks("fsmtx", []string{"--steps=off"}, settings.Duty{NoSteps: true})
	want = "{\n  \"hooks\": {" + strings.Join([]string{
		event("PostToolUse", group(off, "Skill", 15, "")),
		event("UserPromptExpansion", group(off, "", 15, "")),
		event("PreToolUse", group(off, "TaskCreate|TaskGet|TaskList|TaskUpdate", 15, "")),
		event("Stop", group(off, "", 15, "")),
		event("SessionStart", group(reporting(hooks), "", 15, "")),
	}, ",") + "\n  }\n}\n"
	assert.Equal(t, want, string(add(t, nil, hooks)))
}

func TestStepTimeoutIsLongerThanEveryCheck(t *testing.T) {
	assert.Greater(t, settings.StepTimeout*time.Second, fsmspec.MaxCheckTimeout)
}

func TestInspectNamesTheHookThatDiffers(t *testing.T) {
	with := onOneLine(t, add(t, []byte(`{"a":1}`), ours))
	for _, c := range []struct{ old, new, why string }{
		{`"^(Write|Edit|`, `"^(Write|`, `PreToolUse: has matcher "^(Write|`},
		{`"^(TaskUpdate|`, `"^(TaskList|`, `PreToolUse: has matcher "^(TaskList|`},
		{`, "onFailure": "block"`, ``, `PreToolUse: lets steps through if the program fails: it has no "onFailure": "block"`},
		{`1860, "if": "Bash(*fsmtx*)"`, `1860`, `PreToolUse: has no if, want "Bash(*fsmtx*)"`},
		{`1860, "if": "Bash(*fsmtx*)"`, `1860, "if": "Bash(*)"`, `PreToolUse: has if "Bash(*)", want "Bash(*fsmtx*)"`},
	} {
		require.Equal(t, 1, strings.Count(with, c.old), c.old)
		changed := []byte(strings.Replace(with, c.old, c.new, 1))
		report := must(settings.Inspect(changed, ours))
		require.Len(t, report.Why, 1)
		assert.Contains(t, report.Why[0], c.why)
		assert.Equal(t, with, onOneLine(t, add(t, changed, ours)))
		assert.JSONEq(t, `{"a":1}`, string(remove(t, changed, ours)))
	}
}

func TestInspectNamesHooksThatShouldNotBeThere(t *testing.T) {
	report := must(settings.Inspect(add(t, []byte(`{"a":1}`), ours), settings.Hooks("/opt/bin/fsmtx", []string{"--nest=off"},
		settings.Duty{NoSteps: true})))
	assert.Equal(t, settings.Outdated, report.State)
	assert.Contains(t, report.Why, "TaskCompleted: is registered, but should not be")
	assert.Contains(t, report.Why, "PreToolUse: is registered, but should not be")
}

// TestFindOnlyReadsWhatHooksWrites.
func TestFindOnlyReadsWhatHooksWrites(t *testing.T) {
	for _, only := range []settings.Only{{}, {Shell: true}, {Tools: []string{"WebFetch", "mcp__x__.*"}}, settings.EveryOnly()} {
		found := must(settings.FindOnly(add(t, nil, settings.Hooks("/opt/bin/fsmtx", nil, settings.Duty{Only: only}))))
		assert.Empty(t, only.Missing(found))
		assert.Empty(t, found.Missing(only))
	}
}

func TestOpens(t *testing.T) {
	hooks := settings.Hooks("${CLAUDE_PLUGIN_ROOT}/bin/fsmtx", nil, settings.Duty{})
	whole := string(add(t, nil, hooks))
	assert.Empty(t, settings.Opens([]byte(whole)))
	assert.Empty(t, settings.Opens(add(t, nil, settings.Hooks("fsmtx", nil, settings.Duty{NoSteps: true}))))
	refuse := must(json.Marshal(string(shell.Refuse)))
	for cut, with := range map[string]string{`"onFailure": "block"`: `"a": 1`, strings.Trim(string(refuse), `"`): ""} {
		require.Contains(t, whole, cut)
		assert.Contains(t, settings.Opens([]byte(strings.Replace(whole, cut, with, 1))), "lets steps through", cut)
	}
}
