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
		`{"version":1,"command":"c","spec":"/s","sha256":"","session":"s","dir":"/p","steps":[]}`,
		`{"version":1,"dir":"/p","steps":[{"id":8,"local":1,"subject":"A","status":"pending","blockedBy":[8],"produces":["a"],"ready":["b"],` +
			`"check":{"run":"true","timeout":0.5,"dir":"c"},"approval":"?"}]}`,
		`{"version":1,"dir":"/p","steps":[{"id":8,"local":1,"status":"completed","check":{"run":"x","timeout":1e300}}]}`,
		`{"version":2}`, `{"version":1,"dir":"/p","steps":[{"id":9007199254740992,"local":1,"status":"pending"}]}`, `{}`, ``, `[]`,
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
				require.Positive(t, s.Check.Limit())
				require.LessOrEqual(t, s.Check.Limit(), fsmspec.MaxCheckTimeout)
			}
		}
		line := must(w.Encode())
		require.Equal(t, line, must(must(workflow.ParseWorkflow(line)).Encode()))
	})
}
