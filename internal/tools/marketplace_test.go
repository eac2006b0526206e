package tools_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/programs"
)

// TestTheRepositoryIsAMarketplace: the hooks of the plugin that it offers are those that install writes into a file that people
// share, and tell how to get the program; its version is that of the next release.
func TestTheRepositoryIsAMarketplace(t *testing.T) {
	c := exec.Command("fsmtx", "install", "--project", "--print")
	c.Dir = t.TempDir()
	c.Env = []string{"HOME=" + c.Dir, "PATH=" + os.Getenv("PATH")}
	out, err := c.Output()
	require.NoError(t, err)
	want := string(out)
	require.Contains(t, want, "Get it from https://")
	if *update {
		require.NoError(t, os.WriteFile("../../.claude-plugin/plugin/hooks/hooks.json", []byte(want), 0o644))
	}
	require.Equal(t, want, text(t, ".claude-plugin/plugin/hooks/hooks.json"),
		"run go test ./internal/tools -run TestTheRepositoryIsAMarketplace -update")
	require.Contains(t, text(t, ".claude-plugin/plugin/.claude-plugin/plugin.json"), `"version": "`+programs.Newest+`"`)
}
