//go:build race

package guard

import "time"

// The race detector makes a large budget ten times as slow, and two dozen calls
// at once then wait longer for its lock than the client would.
func init() { lockWait = time.Minute }
