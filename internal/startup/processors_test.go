package startup

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAHookRunsOnOneProcessorUntilItNeedsMore(t *testing.T) {
	before := runtime.GOMAXPROCS(7)
	defer runtime.GOMAXPROCS(before)
	for _, args := range [][]string{nil, {"fsmtx"}, {"fsmtx", "hooks", "run"}, {"fsmtx", "validate", "step"}} {
		require.False(t, few(args), args)
		require.Equal(t, 7, runtime.GOMAXPROCS(0))
	}
	for _, args := range [][]string{{"fsmtx", "hook", "--agent=claude"}, {"fsmtx", "hydrate"}, {"fsmtx", "guard", "H07"},
		{"fsmtx", "statusline"}} {
		require.True(t, few(args), args)
		require.Equal(t, 1, runtime.GOMAXPROCS(0))
		ManyProcessors()
		require.Equal(t, 7, runtime.GOMAXPROCS(0), "not fewer than before")
	}
	runtime.GOMAXPROCS(2)
	few([]string{"fsmtx", "hook"})
	ManyProcessors()
	require.Equal(t, 5, runtime.GOMAXPROCS(0), "one for each sync")
}
