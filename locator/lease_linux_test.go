package locator_test

import (
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/locator"
)

// TestOpenWaitsForALease: an edit holds one on the settings for a moment, and gives it up when the
// kernel tells it that somebody opens the file.
func TestOpenWaitsForALease(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "settings.json"), "{}")
	holder, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer holder.Close()
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGIO)
	defer signal.Stop(told)
	if _, err := unix.FcntlInt(holder.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skipf("skipped: this file system has no leases: %v", err)
	}
	released := make(chan error)
	go func() {
		<-told
		_, err := unix.FcntlInt(holder.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
		released <- err
	}()
	f, err := locator.OS{}.Open(path)
	require.NoError(t, err)
	defer f.Close()
	content, err := io.ReadAll(f)
	require.NoError(t, err)
	assert.Equal(t, "{}", string(content))
	require.NoError(t, <-released)
}
