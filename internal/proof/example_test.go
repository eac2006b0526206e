package proof_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheExampleIsRun: the commands and the policy of docs/ci.md are those of the session attest_pull_request.
func TestTheExampleIsRun(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile("../../" + name)
		require.NoError(t, err)
		return string(text)
	}
	_, section, found := strings.Cut(read("docs/ci.md"), "## A pull request that proves its runs\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "```yaml")
	session := read("testdata/script/attest_pull_request.txtar")
	commands := 0
	for _, line := range regexp.MustCompile(`(?m)^    (.*)$`).FindAllStringSubmatch(section, -1) {
		command, _, _ := strings.Cut(line[1], "  #")
		require.Contains(t, session, "\n"+strings.TrimSpace(command)+"\n")
		commands++
	}
	require.Equal(t, 7, commands)
	require.Contains(t, session, read("docs/examples/skills-repository/.fsmtx/policy.json"))
}
