//go:build race

package rules

import (
	"time"

	"github.com/fsmtx/fsmtx/internal/guard"
)

// The race detector makes a large budget ten times as slow. Two dozen calls at once
// then wait for its lock longer than the client would.
func init() { guard.LockWait = time.Minute }
