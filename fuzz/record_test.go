package fuzz_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// FuzzRecord parses any text as the record of a workflow. If it is accepted, each check has a
// valid time limit, and the record is the same after it was encoded and parsed again.
func FuzzRecord(f *testing.F) {
	for _, seed := range []string{
		`{"version":7,"command":"c","spec":"/s","sha256":"","session":"s","dir":"/p","fsm":"[]","base":0}`,
		`{"version":7,"dir":"/p","fsm":"[{\"id\":1,\"subject\":\"A\",\"produces\":[\"a\"],` +
			`\"check\":{\"run\":\"true\",\"timeout\":0.5}}]","base":7}`,
		`{"version":7,"dir":"/p","fsm":"{\"fsm\":2,\"steps\":[{\"id\":1,\"subject\":\"A {item}\"}]}",` +
			`"base":9,"parent":3,"items":["x","y"],"inTurn":true}`,
		`{"version":7,"dir":"/p","fsm":"[{\"id\":1,\"subject\":\"A\",\"check\":{\"run\":\"x\",\"timeout\":1e300}}]"}`,
		`{"version":2}`, `{"version":7,"dir":"/p","fsm":"[{\"id\":1,\"subject\":\"A\"}]","base":9007199254740991}`, `{}`, ``, `[]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := workflow.ParseWorkflow(text)
		if err != nil {
			require.Empty(t, w)
			return
		}
		for _, s := range w.Steps {
			if s.Check != nil {
				require.Positive(t, s.Check.Timeout)
				require.LessOrEqual(t, s.Check.Timeout, fsmspec.MaxCheckTimeout)
			}
		}
		line := must(w.Encode())
		require.Equal(t, line, must(must(workflow.ParseWorkflow(line)).Encode()))
	})
}
