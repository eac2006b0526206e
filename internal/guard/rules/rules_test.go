package rules

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

func TestTheTableOfRulesIsComplete(t *testing.T) {
	var ids []string
	for _, g := range All() {
		ids = append(ids, g.ID)
		assert.True(t, strings.HasPrefix(g.Name, g.ID+"_"), g.ID)
		assert.NotEmpty(t, g.Brief)
		assert.NotEmpty(t, g.Rows)
		assert.Positive(t, g.Timeout)
	}
	assert.Equal(t, "H01 H02 H03 H04 H05 H06 H07 H08 H09 H10 H11a H11b H12 H13", strings.Join(ids, " "))
	_, ok := Find("H14")
	assert.False(t, ok)
	_, ok = Find("h01")
	assert.False(t, ok)
}

// TestTheDocumentationHasEveryTable has the same tables as the code.
func TestTheDocumentationHasEveryTable(t *testing.T) {
	data := must(os.ReadFile("../../../docs/internals/guards.md"))
	for _, g := range All() {
		_, section, found := strings.Cut(string(data), "\n### "+g.ID+" ")
		require.True(t, found, g.ID)
		section, _, _ = strings.Cut(section, "\n###")
		for i, row := range g.Rows {
			assert.Contains(t, section, fmt.Sprintf("\n| %d | %s | ", i+1, row), g.ID)
		}
		assert.NotContains(t, section, fmt.Sprintf("\n| %d | ", len(g.Rows)+1), g.ID)
		cell := func(s string) string {
			if s == "" {
				return "–"
			}
			return "`" + strings.ReplaceAll(s, "|", `\|`) + "`"
		}
		assert.Contains(t, string(data), fmt.Sprintf("\n| %s | %s | %s | %s | %d |\n", g.ID, g.Event, cell(g.Matcher), cell(g.Flag), g.Timeout))
	}
}

func TestAnEventCannotControlTheTerminal(t *testing.T) {
	for id, input := range map[string]string{
		"H03": `{"tool_name":"a\u001b[31m\nb"}`,
		"H07": `{"agent_type":"a\u001b[31m\nb"}`,
		"H10": `{"agent_type":"product-planning:a\u001b[31m\nb"}`,
	} {
		e := explain(t, id, input, nil)
		require.NotEmpty(t, e.Detail, id)
		assert.NotContains(t, e.Detail+e.Message, "\x1b", id)
		assert.NotContains(t, e.Detail+e.Message, "\n", id)
	}
}

// TestExplainChangesNothing changes no file, not even for the rules that write when they run: H03 counts, H05
// logs, H13 exports.
func TestExplainChangesNothing(t *testing.T) {
	root := worlds.Tree(t, "state/", "feature/design.md")
	state := root + "/feature/" + stateName
	require.NoError(t, os.WriteFile(state, []byte("---\nphase: RESEARCH\n---\n"), 0o600))
	vars := map[string]string{"PLANNING_STATE_DIR": root + "/state", "PLANNING_FEATURE_DIR": root + "/feature",
		"CLAUDE_ENV_FILE": root + "/env.sh", "PLANNING_HOOKS_VERBOSE": "true"}
	session := guard.SessionOf("s", getenv(vars))
	require.NoError(t, os.WriteFile(BudgetFile(session), []byte(`{"session_total":1,"phase_total":1,"current_phase":"SETUP"}`), 0o600))
	before := Contents(t, root)
	wants := map[string]string{"H02": "DENY", "H03": "ALLOW", "H05": "LOG", "H06": "INJECT", "H11a": "BLOCK", "H12": "PRESERVE",
		"H13": "SETUP"}
	for _, r := range All() {
		e := explain(t, r.ID, fmt.Sprintf(`{"session_id":"s","cwd":%q,"tool_name":"mcp__Ref__x","tool_input":{"file_path":%q},"source":"resume"}`,
			root, state), vars)
		assert.NotEmpty(t, e.Facts, r.ID)
		assert.Positive(t, e.Row, r.ID)
		assert.LessOrEqual(t, e.Row, len(r.Rows), r.ID)
		if want := wants[r.ID]; want != "" {
			assert.Equal(t, want, e.Word, r.ID)
		}
		assert.Equal(t, before, Contents(t, root), r.ID)
	}
}

func TestEveryRuleHasItsHook(t *testing.T) {
	hooks := Hooks("program", "", guard.Config{})
	require.Len(t, hooks, 14)
	for i, g := range All() {
		assert.Equal(t, []string{"guard", g.ID}, hooks[i].Args)
		assert.Equal(t, g.Event, hooks[i].Event)
		assert.Equal(t, "program", hooks[i].Command)
		assert.Positive(t, hooks[i].Timeout)
	}
}

// The client matches the whole name (fact 24).
func TestMatchers(t *testing.T) {
	for id, names := range map[string]map[string]bool{
		"H01": {"AskUserQuestion": true},
		"H02": {"Write": true, "Edit": true, "NotebookEdit": true, "Read": false},
		"H03": {"mcp__context7__a": true, "mcp__Ref__b": true, "mcp__plugin_product-planning_tavily__c": true, "mcp__myRef__x": false},
		"H05": {"Write": true, "Edit": true},
	} {
		g, ok := Find(id)
		require.True(t, ok)
		whole := regexp.MustCompile("^(?:" + g.Matcher + ")$")
		for name, want := range names {
			assert.Equal(t, want, whole.MatchString(name), "%s %s", id, name)
		}
	}
}
