//go:build unix

package signals

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAHeldSignalHasItsEffectOnce, after its release: it comes a second time then, however close before the release it came
// first. The signal that was held does not end the program later.
func TestAHeldSignalHasItsEffectOnce(t *testing.T) {
	outer := make(chan os.Signal, 2)
	signal.Notify(outer, syscall.SIGTERM)
	defer signal.Stop(outer)
	for range 2000 {
		release := Hold()
		require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
		<-outer
		release()
		<-outer
		require.Empty(t, outer)
	}
}
