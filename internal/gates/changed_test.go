package gates

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

func TestChanges(t *testing.T) {
	const array = `[{"id": 1, "subject": "A", "check": "x"}, {"id": 2, "subject": "B", "blockedBy": [1]}]`
	const object = `{"fsm": 2, "vars": {"a": "1"}, "steps": [{"id": 1, "subject": "A"}, {"id": 10, "subject": "B", "when": {"1": "done"}}]}`
	for name, c := range map[string]struct{ old, now, want string }{
		"the same":    {array, array, ""},
		"white space": {array, "[{ \"id\":1,\n\"subject\": \"A\", \"check\": \"x\"},{\"id\": 2, \"subject\": \"B\", \"blockedBy\": [1]}]", ""},
		"another check": {array, `[{"id": 1, "subject": "A", "check": "y"}, {"id": 2, "subject": "B", "blockedBy": [1]}]`,
			"step 1 differs"},
		"a step gone, another order": {array, `[{"id": 2, "subject": "B"}]`, "steps 1 and 2 differ"},
		"a step more":                {`[{"id": 1, "subject": "A", "check": "x"}]`, array, "step 2 differs"},
		"no steps":                   {array, `[]`, "steps 1 and 2 differ"},
		"other defaults": {object, `{"fsm": 2, "vars": {"a": "2"}, "steps": [{"id": 1, "subject": "A"}, ` +
			`{"id": 10, "subject": "B", "when": {"1": "done"}}]}`,
			"vars differs"},
		"another condition": {object, `{"fsm": 2, "vars": {"a": "1"}, "steps": [{"id": 1, "subject": "A"}, {"id": 10, "subject": "B"}]}`,
			"step 10 differs"},
		"everything": {object, `{"steps": [{"id": "2", "subject": "A"}], "": 1}`,
			`steps 1, 2 and 10 differ,  differs, fsm differs, vars differs`},
	} {
		old := &workflow.Workflow{Definition: state.Definition([]byte(c.old))}
		now := &workflow.Workflow{Definition: state.Definition([]byte(c.now))}
		require.Equal(t, c.want, state.Changes(old, now), name)
	}
}
