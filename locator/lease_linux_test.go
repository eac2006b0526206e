package locator_test

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/locator"
)

// TestOpenWaitsForALease: an edit holds one on the settings for a moment, and gives it up when the
// kernel tells it that somebody opens the file.
func TestOpenWaitsForALease(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "settings.json"), "{}")
	released := files.Lease(t, path)
	f := must(locator.OS{}.Open(path))
	defer f.Close()
	assert.Equal(t, "{}", string(must(io.ReadAll(f))))
	released()
}
