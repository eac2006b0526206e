package kernel

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestAnswering: a call is seen and made, or fails as the test says, and another thread is not concerned.
func TestAnswering(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	var first, second error
	var seen []string
	Answering(t, func() { first, second = f.Sync(), f.Sync() }, func(c Call) unix.Errno {
		seen = append(seen, c.Path())
		if len(seen) == 2 {
			return unix.EIO
		}
		return 0
	}, unix.SYS_FSYNC)
	assert.NoError(t, first)
	assert.ErrorIs(t, second, unix.EIO)
	assert.Equal(t, []string{path, path}, seen)
	assert.NoError(t, f.Sync())
}
