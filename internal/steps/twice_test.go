package steps

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// If both a plugin and the settings register the hook, the client starts it twice for one
// update. The second process waits until the first one has decided, and says the same: the
// first one may be killed before it answers.
func TestTwoHooksDecideOneUpdateOnce(t *testing.T) {
	l := hydrated(t, Step{Check: &Check{Run: "echo >> runs; : > running; read -r answer < go; exit $answer", Timeout: 60}})
	for name, exit := range map[string]string{"passes": "0", "fails": "3"} {
		t.Run(name, func(t *testing.T) {
			path := func(name string) string { return filepath.Join(l.project, name) }
			for _, pipe := range []string{"running", "go"} {
				_ = os.Remove(path(pipe))
				require.NoError(t, syscall.Mkfifo(path(pipe), 0o600))
			}
			first := make(chan Verdict)
			update := Update{Task: "1", Status: completed, Use: "toolu_" + name}
			go func() { first <- l.Update(t.Context(), update) }()
			_, err := os.ReadFile(path("running")) // until the check is running
			require.NoError(t, err)

			second, twin := make(chan Verdict), *l.Frame
			twin.Began = time.Now()
			go func() { second <- twin.Update(t.Context(), update) }()
			other := l.Update(t.Context(), Update{Task: "1", Status: completed, Use: "toolu_other"})
			require.Equal(t, Deny, other.Decision, "another update of the same step")

			before := len(l.state().Evidence)
			require.NoError(t, os.WriteFile(path("go"), []byte(exit+"\n"), 0o600))
			require.Equal(t, exit == "0", (<-first).Allowed())
			require.Equal(t, exit == "0", (<-second).Allowed(), "the same decision")
			require.Len(t, l.state().Evidence, before+1, "only the first one decides")
		})
	}
	runs, err := os.ReadFile(filepath.Join(l.project, "runs"))
	require.NoError(t, err)
	require.Equal(t, "\n\n", string(runs))
}

// A decision that was taken before a call began is another call's, whatever its id.
func TestAnEarlierDecisionIsNotThatOfTheCall(t *testing.T) {
	l := hydrated(t, Step{Produces: []string{"out"}})
	update := Update{Task: "1", Status: completed, Use: "toolu_1"}
	require.Equal(t, Deny, l.Update(t.Context(), update).Decision)
	l.write("out", "text")
	require.True(t, l.Update(t.Context(), update).Allowed())
}
