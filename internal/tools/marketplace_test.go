package tools_test

import (
	"os"
	"os/exec"
	"strings"
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
	want := strings.Replace(string(out), "steps do not hold. Install it, then",
		"steps do not hold. Get it by git clone https://github.com/fsmtx/fsmtx && cd fsmtx && make install, then", 1)
	require.NotEqual(t, string(out), want)
	if *update {
		require.NoError(t, os.WriteFile("../../.claude-plugin/plugin/hooks/hooks.json", []byte(want), 0o644))
	}
	require.Equal(t, want, text(t, ".claude-plugin/plugin/hooks/hooks.json"),
		"run go test ./internal/tools -run TestTheRepositoryIsAMarketplace -update")
	require.Contains(t, text(t, ".claude-plugin/plugin/.claude-plugin/plugin.json"), `"version": "`+programs.Newest+`"`)
}
