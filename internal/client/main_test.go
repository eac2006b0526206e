package client

import (
	"os"
	"testing"
)

// TestMain removes what tells that the client which runs the tests writes no transcript.
func TestMain(m *testing.M) {
	os.Unsetenv("CLAUDE_CODE_SKIP_PROMPT_HISTORY")
	os.Unsetenv("CLAUDE_PID")
	os.Exit(m.Run())
}
