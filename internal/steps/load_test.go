package steps

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A power cut can empty the files of all tasks. Status waited for each of them in turn: 6 s for a
// hundred.
func TestLoadWaitsForAllTornTasksTogether(t *testing.T) {
	l := hydrated(t, make([]Step, 20)...)
	for id := range int64(20) {
		l.put(id+1, "")
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s, err := Load(t.Context(), l.List.Dir)
		require.NoError(t, err)
		require.Len(t, s.Steps, 20)
		require.Equal(t, pending, s.Steps[0].Status)
		require.Less(t, time.Since(began), 4*longestWrite)
	})
}
