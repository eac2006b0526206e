package fidelity

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/tools"
)

// ruleCase is one call of a tool, tested on the rules of its section.
//
//	= Bash(git *)     a rule: what a hook has in "if"; the first one after calls begins a new list
//	yn  git push      a call of Bash, after a letter for each rule: y if the client runs its hook
//	y  @Read {…}      a call of another tool, with its input
//	yn>yy  ! !        the same, where fire intentionally differs: behind > what it takes for a match
//
// ⏎ stands for a new line, ⇥ for a tab, {{LONG}} for 10,000 letters.
type ruleCase struct {
	rules   []string
	answers string // y, n, or ? for a call that the client was not asked about
	kept    string // the answers of fire, where they differ
	text    string // as in the table
	line    int    // in the table, from 0
}

const rulesTable = "../../../testdata/hooks/fidelity/claude-rules.txt"

// ruleLine matches a line with a call.
var ruleLine = regexp.MustCompile(`^([yn?]+)(?:>([yn]+))?  (.+)$`)

// readRules reads the table of rules. lines is the whole table.
func readRules(t testing.TB) (cases []ruleCase, lines []string) {
	text, err := os.ReadFile(rulesTable)
	require.NoError(t, err)
	lines = strings.Split(string(text), "\n")
	var rules []string
	begins := true
	for number, line := range lines {
		rule, isRule := strings.CutPrefix(line, "= ")
		m := ruleLine.FindStringSubmatch(line)
		switch {
		case isRule && begins:
			rules, begins = []string{rule}, false
		case isRule:
			rules = append(slices.Clone(rules), rule)
		case m != nil:
			begins = true
			require.Len(t, m[1], len(rules), "line %d: one letter for each rule", number+1)
			cases = append(cases, ruleCase{rules, m[1], m[2], m[3], number})
		default:
			require.True(t, line == "" || strings.HasPrefix(line, "#"), "line %d is not a call: %s", number+1, line)
		}
	}
	return cases, lines
}

// call returns the tool that a case calls, and its input.
func (c ruleCase) call(t testing.TB, project string) (tool string, input map[string]any) {
	text := strings.NewReplacer("⏎", "\n", "⇥", "\t", "{{PROJECT}}", project, "{{LONG}}", strings.Repeat("a", 10_000)).Replace(c.text)
	named, isOther := strings.CutPrefix(text, "@")
	if !isOther {
		return "Bash", map[string]any{"command": text, "description": "x"}
	}
	tool, object, _ := strings.Cut(named, " ")
	require.NoError(t, json.Unmarshal([]byte(object), &input), c.text)
	return tool, input
}

// settings returns settings with a hook for each rule, whose command is command(i).
func (c ruleCase) settings(t testing.TB, project string, command func(i int) string) string {
	type object = map[string]any
	var hooks []object
	for i, rule := range c.rules {
		hooks = append(hooks, object{"type": "command", "if": strings.ReplaceAll(rule, "{{PROJECT}}", project), "command": command(i)})
	}
	text, err := json.Marshal(object{"hooks": object{"PreToolUse": []object{{"hooks": hooks}}}})
	require.NoError(t, err)
	return string(text)
}

// letters returns a letter for each rule: y if it is one of those that matched.
func (c ruleCase) letters(matched map[int]bool) string {
	letters := []byte(strings.Repeat("n", len(c.rules)))
	for i := range maps.Keys(matched) {
		letters[i] = 'y'
	}
	return string(letters)
}

// TestFireTakesRulesAsClaudeCodeDid compares the rules that fire takes for a match with those
// of the client.
func TestFireTakesRulesAsClaudeCodeDid(t *testing.T) {
	cases, _ := readRules(t)
	require.GreaterOrEqual(t, len(cases), 60)
	w := newWorld(t)
	writeFile(t, filepath.Join(w.project, notes), toolOutput+"\n")
	for _, c := range cases {
		require.NotContains(t, c.answers, "?", "%s was never asked: run make fidelity with FSMTX_FIDELITY_UPDATE=1", c.text)
		got, want := c.fired(t, w), cmp.Or(c.kept, c.answers)
		require.NotEqual(t, c.kept, c.answers, "line %d: the answers agree: remove those behind >", c.line+1)
		for i, rule := range c.rules {
			require.False(t, c.answers[i] == 'y' && want[i] == 'n', "line %d: fire never leaves a hook out that the client runs", c.line+1)
			if got[i] != want[i] {
				t.Errorf("claude-rules.txt:%d: %s on %s\n  client %c\n  fire   %c", c.line+1, rule, c.text, c.answers[i], got[i])
			}
		}
	}
}

// fired returns the letters for what fire makes of a case.
func (c ruleCase) fired(t testing.TB, w world) string {
	settings := filepath.Join(w.root, "rules.json")
	writeFile(t, settings, c.settings(t, w.project, func(i int) string { return fmt.Sprint(": ", i) }))
	tool, input := c.call(t, w.project)
	event, err := json.Marshal(map[string]any{"session_id": "s", "tool_name": tool, "tool_input": input, "cwd": w.project})
	require.NoError(t, err)
	var out, errs bytes.Buffer
	code := tools.Main([]string{"hooks", "fire", "PreToolUse", "--dialect", "claude", "--json", "--config", settings}, terminal.Streams{
		In: bytes.NewReader(event), Out: &out, Err: &errs, Caller: callers.Script,
		Getenv: func(name string) (string, bool) { return map[string]string{"HOME": w.home}[name], name == "HOME" }})
	require.Zero(t, code, "%s: %s", c.text, errs.String())
	var got struct {
		Plan *struct {
			Hooks []struct {
				Command string `json:"command"`
			} `json:"hooks"`
		} `json:"plan"`
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &got, jsontext.AllowDuplicateNames(true)), out.String())
	matched := map[int]bool{}
	if got.Plan != nil {
		for _, h := range got.Plan.Hooks {
			var i int
			_, err := fmt.Sscanf(h.Command, ": %d", &i)
			require.NoError(t, err)
			matched[i] = true
		}
	}
	return c.letters(matched)
}
