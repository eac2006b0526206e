package gates

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/facts"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestASearchThatDoesNotEndDenies: what was not found in time is not there.
func TestASearchThatDoesNotEndDenies(t *testing.T) {
	l := hydrated(t, workflow.Step{Produces: []string{"*.md"}})
	for i := range 600 {
		require.NoError(t, os.WriteFile(filepath.Join(l.project, strconv.Itoa(i)), nil, 0o644))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c, step := &call{Frame: l.Frame, facts: map[factKey]fact{}}, l.state().Step(1)
	c.find(ctx, []lookup{{step: step, kind: workflow.ProducedFiles, Wanted: facts.Wanted{Patterns: step.Produces}}})
	v := files(step, workflow.AtCompletion, c.facts[factKey{1, workflow.ProducedFiles}])
	require.Equal(t, state.Deny, v.Decision)
	require.Contains(t, v.Reason, "the search for *.md did not end within 5s in "+l.project)
}
