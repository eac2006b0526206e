package txn_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/txn"
)

// TestOpenSaysWhyItWasEnded: the caller's own words, not those of the context.
func TestOpenSaysWhyItWasEnded(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("the client has gone")
	cancel(why)
	_, err := txn.Open(ctx, filepath.Join(t.TempDir(), "list"))
	assert.ErrorIs(t, err, why)
}
