package hooks

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
)

// printing returns the member hooks of a settings file with hooks of one event that print these texts.
func printing(event string, texts ...string) string {
	hooks := ""
	for i, text := range texts {
		if i > 0 {
			hooks += ","
		}
		hooks += fmt.Sprintf(`{"type":"command","command":%q}`, "echo '"+text+"' #"+fmt.Sprint(i))
	}
	return fmt.Sprintf(`{%q:[{"hooks":[%s]}]}`, event, hooks)
}

// What the hooks of an event have said together, at events that honour a part of it only.
func TestWhatTheAgentHasToDo(t *testing.T) {
	request := func(behavior, message string) string {
		return `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"` + behavior + `","message":"` + message +
			`"}}}`
	}
	for name, c := range map[string]struct {
		dialect dialect.Dialect
		event   string
		texts   []string
		verdict string
		blocks  bool
		stops   bool
		reason  string
	}{
		"a block where the agent honours none": {dialect.LLxprt(), dialect.AfterTool, []string{`{"decision":"block","reason":"no"}`},
			dialect.Undecided, false, false, ""},
		"a stop of a model's request": {dialect.LLxprt(), dialect.BeforeModel, []string{`{"continue":false,"stopReason":"enough"}`},
			dialect.Undecided, true, true, "enough"},
		"a stop that a later hook does not share": {dialect.LLxprt(), dialect.BeforeModel,
			[]string{`{"continue":false,"stopReason":"enough"}`, `{"continue":true,"stopReason":"go on"}`}, dialect.Undecided, true, true, "enough"},
		"a permission that one refuses and the next grants": {dialect.Claude(), "PermissionRequest", []string{request("deny", "never"),
			request("allow", "")},
			dialect.Deny, true, false, "never"},
	} {
		p := engineOf(t, c.dialect, printing(c.event, c.texts...)).Fire(t.Context(), c.event, Input{Request: jsontext.Value(`{}`)}).Policy
		require.Equal(t, []any{c.verdict, c.blocks, c.stops, c.reason}, []any{p.Verdict, p.Blocking, p.Stop, p.Reason}, name)
	}
}

// A hook that stops the agent before a tool keeps the tool from running, also where that is no block.
func TestAToolDoesNotRunAfterAStop(t *testing.T) {
	e := engineOf(t, dialect.Claude(), printing("PreToolUse", `{"continue":false,"stopReason":"enough"}`))
	call := e.ExecuteTool(t.Context(), "Bash", jsontext.Value(`{}`), func(context.Context, jsontext.Value) (ToolResult, error) {
		return ToolResult{LLMContent: "ran"}, nil
	})
	require.False(t, call.Executed)
	require.True(t, call.Stopped)
	require.Equal(t, "enough", call.StopReason)
}

// A hook gets the options of its plugin, and does not run if the settings disable its command.
func TestAHookOfAPlugin(t *testing.T) {
	source := Source{Name: "p", Root: t.TempDir(), Options: map[string]string{"key": "it's secret"},
		Hooks: jsontext.Value(settingsOf("Stop", `printf %s "$CLAUDE_PLUGIN_OPTION_KEY"`))}
	fire := func(d dialect.Dialect, event string) *Result {
		return New(Config{Dialect: d, Session: Session{Cwd: t.TempDir()}, Enabled: true,
			Load: func() ([]Source, error) { return []Source{source}, nil }}).Fire(t.Context(), event, Input{})
	}
	r := fire(dialect.Claude(), "Stop")
	require.Len(t, r.Results, 1)
	require.Equal(t, "it's secret", r.Results[0].Stdout)

	source.Hooks = jsontext.Value(settingsOf(dialect.BeforeTool, "echo ran"))
	for disabled, runs := range map[string]int{"echo ran": 0, "echo": 1, "": 1} {
		source.Disabled = []string{disabled}
		require.Len(t, fire(dialect.Gemini(), dialect.BeforeTool).Results, runs, disabled)
	}
}

// The hooks of a skill run once the skill was called, in the session's own agent, at the events at which the agent has them.
func TestAHookOfASkill(t *testing.T) {
	for name, c := range map[string]struct {
		inactive bool
		event    string
		fields   string
		runs     int
	}{
		"called":          {false, "PreToolUse", `{}`, 1},
		"not called":      {true, "PreToolUse", `{}`, 0},
		"in a subagent":   {false, "PreToolUse", `{"agent_id":"a"}`, 0},
		"at another time": {false, dialect.Claude().NoSkillHooks[0], `{}`, 0},
	} {
		r := New(Config{Dialect: dialect.Claude(), Session: Session{Cwd: t.TempDir()}, Enabled: true, Load: func() ([]Source, error) {
			return []Source{{Skill: "s", Inactive: c.inactive, Hooks: jsontext.Value(settingsOf(c.event, "true"))}}, nil
		}}).Fire(t.Context(), c.event, Input{Fields: jsontext.Value(c.fields)})
		require.Len(t, r.Results, c.runs, name)
		require.Len(t, r.Skipped, 1-c.runs, name)
	}
}

// A request goes only to what the settings allow, and the body of an answer counts only with a status of success.
func TestHTTPHookAsksOnlyWhomItMayAsk(t *testing.T) {
	needCurl(t)
	asked, status := 0, http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(status)
		fmt.Fprint(w, `{"decision":"block","reason":"no"}`)
	}))
	defer server.Close()
	for name, c := range map[string]struct {
		allowed []string
		status  int
		asked   int
		blocks  bool
		warning string
	}{
		"no list":                {nil, 200, 1, true, ""},
		"a list that has it":     {[]string{"https://elsewhere", server.URL}, 200, 1, true, ""},
		"a list that has others": {[]string{"https://elsewhere"}, 200, 0, false, "no pattern in allowedHttpHookUrls of the settings matches"},
		"an empty list":          {[]string{}, 200, 0, false, "no pattern in allowedHttpHookUrls of the settings matches"},
		"created":                {nil, 201, 1, true, ""},
		"not found":              {nil, 404, 1, false, "the server answered with status 404"},
		"an error":               {nil, 500, 1, false, "the server answered with status 500"},
	} {
		asked, status = 0, c.status
		e := engineOf(t, dialect.Claude(), fmt.Sprintf(`{"Stop":[{"hooks":[{"type":"http","url":%q}]}]}`, server.URL))
		e.runner.requests.URLs = c.allowed
		r := e.Fire(t.Context(), "Stop", Input{})
		require.Equal(t, c.asked, asked, name)
		require.Equal(t, c.blocks, r.Policy.Blocking, name)
		if c.warning != "" {
			require.True(t, slices.ContainsFunc(r.Warnings(), func(w string) bool { return strings.Contains(w, c.warning) }), "%s: %q", name,
				r.Warnings())
		}
	}
}
