package safefile

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRetryRepeatsAnInterruptedCall(t *testing.T) {
	calls := 0
	n, err := retry(func() (int, error) {
		if calls++; calls < 3 {
			return -1, syscall.EINTR
		}
		return 5, nil
	})
	require.NoError(t, err)
	assert.Equal(t, 5, n)
	assert.Equal(t, 3, calls)
}
