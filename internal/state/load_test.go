package state

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/workflow"
)

// A power cut can empty the files of all tasks. Status waited for each of them in turn: 6 s for a
// hundred.
func TestLoadWaitsForAllTornTasksTogether(t *testing.T) {
	l := hydrated(t, make([]workflow.Step, 20)...)
	for id := range int64(20) {
		l.put(id+1, "")
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s, err := Load(t.Context(), l.List.Dir)
		require.NoError(t, err)
		require.Len(t, s.Steps, 20)
		require.Equal(t, workflow.Pending, s.Steps[0].Status)
		require.Less(t, time.Since(began), 4*longestWrite)
	})
}
