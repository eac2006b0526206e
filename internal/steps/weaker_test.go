package steps

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
)

// planOf returns the workflow of an fsm.json as its hydration records it.
func planOf(t *testing.T, text string) *Workflow {
	t.Helper()
	spec, err := fsmspec.Parse([]byte(text))
	require.NoError(t, err)
	p, err := spec.Plan("s", fsmspec.Snapshot{}, fsmspec.Policy{})
	require.NoError(t, err)
	return &Planned(p.Levels(), 0)[0]
}

func TestWeaker(t *testing.T) {
	const whole = `{"fsm": 2, "steps": `
	for name, c := range map[string]struct {
		old, now string
		want     []string
	}{
		"the same": {`[{"id": 1, "subject": "A", "check": "x"}]`, `[{"id": 1, "subject": "A", "check": "x"}]`, nil},
		"moved": {`[{"id": 1, "subject": "A", "check": "x"}]`,
			`[{"id": 1, "subject": "N"}, {"id": 2, "subject": "A", "check": "x"}]`, nil},
		"another subject": {`[{"id": 1, "subject": "A", "check": "x"}]`, `[{"id": 1, "subject": "B", "check": "x"}]`, nil},
		"step gone": {`[{"id": 1, "subject": "A", "check": "x"}, {"id": 2, "subject": "B"}]`,
			`[{"id": 2, "subject": "B"}]`, []string{`"A" (check: x)`}},
		"through another step": {
			`[{"id": 1, "subject": "A"}, {"id": 2, "subject": "B", "blockedBy": [1]}]`,
			`[{"id": 1, "subject": "A"}, {"id": 3, "subject": "C", "blockedBy": [1]}, {"id": 2, "subject": "B", "blockedBy": [3]}]`, nil},
		"order": {
			`[{"id": 1, "subject": "A"}, {"id": 2, "subject": "B", "blockedBy": [1]}]`,
			`[{"id": 1, "subject": "A"}, {"id": 2, "subject": "B"}]`, []string{`"B" (after "A")`}},
		"question": {`[{"id": 1, "subject": "A", "approval": "x"}]`, `[{"id": 1, "subject": "A", "approval": true}]`, nil},
		"of an outcome": {
			whole + `[{"id": 1, "subject": "A", "outcomes": {"ok": {"check": "x"}, "no": {"check": "y"}}}]}`,
			whole + `[{"id": 1, "subject": "A", "outcomes": {"ok": {}, "never": {}}}]}`, []string{`"A" (check: x)`}},
		"of a part": {
			whole + `[{"id": 1, "subject": "A", "do": [{"id": 1, "subject": "B", "check": "x"}]}]}`,
			whole + `[{"id": 1, "subject": "A", "do": [{"id": 1, "subject": "B"}]}]}`, []string{`"B" (check: x)`}},
		"for each line": {
			whole + `[{"id": 1, "subject": "A", "each": {"lines": "f"}, "do": [{"id": 1, "subject": "B {item}", "check": "x"}]}]}`,
			whole + `[{"id": 1, "subject": "A", "each": {"lines": "f"}, "do": [{"id": 1, "subject": "B {item}"}]}]}`,
			[]string{`"B ITEM" (check: x)`}},
		"calls": {
			whole + `[{"id": 1, "subject": "A", "only": ["Bash(git push *)", "Bash(make *)"]}, {"id": 2, "subject": "B"}]}`,
			whole + `[{"id": 1, "subject": "A"}, {"id": 2, "subject": "B", "only": ["Bash(make *)"]}]}`, []string{`"A" (only: Bash(git push *))`}},
		"calls of an earlier step": {
			whole + `[{"id": 1, "subject": "A"}, {"id": 2, "subject": "B", "blockedBy": [1]}, {"id": 3, "subject": "C", "blockedBy": [2], ` +
				`"only": ["Bash(make *)"]}]}`,
			whole + `[{"id": 1, "subject": "A"}, {"id": 2, "subject": "B", "blockedBy": [1], "only": ["Bash(make *)"]}, ` +
				`{"id": 3, "subject": "C", "blockedBy": [2]}]}`,
			[]string{`"C" (only: Bash(make *), now also in "B")`}},
		"calls of a new step": {
			whole + `[{"id": 1, "subject": "A"}, {"id": 2, "subject": "B", "blockedBy": [1], "only": ["Bash(make *)"]}]}`,
			whole + `[{"id": 1, "subject": "A"}, {"id": 2, "subject": "B", "blockedBy": [1], "only": ["Bash(make *)"]}, ` +
				`{"id": 3, "subject": "C", "blockedBy": [1], "only": ["Bash(make *)"]}, {"id": 4, "subject": "D", "only": ["Bash(make *)"]}]}`,
			[]string{`"B" (only: Bash(make *), now also in "D")`}},
		"no outcomes": {
			whole + `[{"id": 1, "subject": "A", "outcomes": {"done": {"check": "x"}, "no": {"check": "z", "back": 1, "max": 2}}}]}`,
			whole + `[{"id": 1, "subject": "A"}]}`, []string{`"A" (check: x)`}},
		"a gate of the step": {
			whole + `[{"id": 1, "subject": "A", "outcomes": {"done": {"check": "x"}}}]}`,
			whole + `[{"id": 1, "subject": "A", "check": "x"}]}`, nil},
		"who decides": {
			whole + `[{"id": 1, "subject": "A", "decides": "person", "outcomes": ["x", "y"]}]}`,
			whole + `[{"id": 1, "subject": "A", "outcomes": ["x", "y"]}]}`, []string{`"A" (a person decides how it ends)`}},
		"another command decides": {
			whole + `[{"id": 1, "subject": "A", "decides": {"run": "x"}, "outcomes": ["x", "y"]}]}`,
			whole + `[{"id": 1, "subject": "A", "decides": {"run": "echo x"}, "outcomes": ["x", "y"]}]}`,
			[]string{`"A" (a command decides how it ends: x, now echo x)`}},
		"a command instead of a person": {
			whole + `[{"id": 1, "subject": "A", "decides": "person", "outcomes": ["x", "y"]}]}`,
			whole + `[{"id": 1, "subject": "A", "decides": {"run": "x"}, "outcomes": ["x", "y"]}]}`,
			[]string{`"A" (a person decides how it ends)`}},
		"a person instead of a command": {
			whole + `[{"id": 1, "subject": "A", "decides": {"run": "x"}, "outcomes": ["x", "y"]}]}`,
			whole + `[{"id": 1, "subject": "A", "decides": "person", "outcomes": ["x", "y"]}]}`, nil},
		"values": {
			whole + `[{"id": 1, "subject": "A", "set": {"a": "^x$", "b": ["1", "2"], "c": {"run": "x"}, "d": "y", "e": ["1", "2"]}}]}`,
			whole + `[{"id": 1, "subject": "A", "set": {"b": ["2", "3"], "c": {"run": "y"}, "d": ".*", "e": ["2"], "f": "z"}}]}`,
			[]string{`"A" (sets a (matches ^x$); sets b (1 or 2), now sets b (2 or 3); sets c by a command (at most 5m0s): x, now sets c by a ` +
				`command (at most 5m0s): y; sets d (matches y), now sets d (matches .*))`}},
		"a value that is another kind of value": {
			whole + `[{"id": 1, "subject": "A", "set": {"a": ["1", "2"], "b": {"run": "x"}}}]}`,
			whole + `[{"id": 1, "subject": "A", "set": {"a": ".*", "b": ["1"]}}]}`,
			[]string{`"A" (sets a (1 or 2), now sets a (matches .*); sets b by a command (at most 5m0s): x, now sets b (1))`}},
		"time limit": {
			whole + `[{"id": 1, "subject": "A", "within": 60}, {"id": 2, "subject": "B", "within": 60}, {"id": 3, "subject": "C", "within": 60}]}`,
			whole + `[{"id": 1, "subject": "A"}, {"id": 2, "subject": "B", "within": 90}, {"id": 3, "subject": "C", "within": 30}]}`,
			[]string{`"A" (within 1m)`, `"B" (within 1m, now 1m30s)`}},
		"step gone with its value": {
			whole + `[{"id": 1, "subject": "A", "set": {"a": "x"}, "within": 60}, {"id": 2, "subject": "B"}]}`,
			whole + `[{"id": 2, "subject": "B"}]}`, []string{`"A" (sets a (matches x); within 1m)`}},
		"done from the beginning": {`[{"id": 1, "subject": "A", "check": "x"}]`,
			`[{"id": 1, "subject": "A", "status": "completed", "check": "x"}]`, []string{`"A" (check: x)`}},
		"not needed in any case": {
			whole + `[{"id": 1, "subject": "A", "outcomes": ["x", "y"]}, {"id": 2, "subject": "B", "blockedBy": [1], "check": "x"}]}`,
			whole + `[{"id": 1, "subject": "A", "outcomes": ["x", "y"]}, {"id": 2, "subject": "B", "when": {"1": "x"}, "check": "x"}]}`,
			[]string{`"B" (needed in any case)`}},
		"fails without effect": {
			whole + `[{"id": 1, "subject": "A", "check": "x"}]}`,
			whole + `[{"id": 1, "subject": "A", "check": "x", "outcomes": ["ok", "failed"]}]}`,
			[]string{`"A" (the check holds it up, now it ends as failed)`}},
		"fails and leads back": {
			whole + `[{"id": 1, "subject": "A", "check": "x"}]}`,
			whole + `[{"id": 1, "subject": "A", "check": "x", "outcomes": {"failed": {"back": 1, "max": 3}}}]}`, nil},
		"ends the workflow": {
			whole + `[{"id": 1, "subject": "A", "outcomes": ["ok", "no"]}, {"id": 2, "subject": "B", "blockedBy": [1]}]}`,
			whole + `[{"id": 1, "subject": "A", "outcomes": {"ok": {}, "no": {"stop": true}}}, {"id": 2, "subject": "B", "blockedBy": [1]}]}`,
			[]string{`"A" (the workflow goes on, now no ends it)`}},
		"skill": {
			whole + `[{"id": 1, "subject": "A", "do": "x"}]}`, whole + `[{"id": 1, "subject": "A", "do": "y"}]}`, []string{`"A" (skill: x)`}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, Weaker(planOf(t, c.old), planOf(t, c.now))) })
	}
}
