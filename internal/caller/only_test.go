package caller

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAnAgentThatOnlyItsVariablesShow: in a sandbox with processes of its own.
func TestAnAgentThatOnlyItsVariablesShow(t *testing.T) {
	for _, c := range []struct {
		set  []string // in the environment
		want string
	}{
		{nil, ""},
		{[]string{"CODEX_THREAD_ID", "CODEX_CI"}, "codex"},
		{[]string{"GEMINI_CLI"}, "gemini"},
		{[]string{"GEMINI_CLI", "QWEN_CODE"}, ""},
		{[]string{"CLAUDECODE"}, ""},
		{[]string{"CLAUDECODE", "CODEX_CI"}, ""},
	} {
		lookup := func(name string) (string, bool) {
			for _, set := range c.set {
				if set == name {
					return "1", true
				}
			}
			return "", false
		}
		assert.Equal(t, c.want, identifyByEnvironment(lookup, nil).Program, "%v", c.set)
		found, ok := agentAbove([]process{{pid: 2, comm: "sh", args: []string{"sh"}}, {pid: 1, comm: "init"}}, lookup)
		assert.Equal(t, len(c.set) > 0, ok)
		assert.Equal(t, c.want, found.Program, "%v", c.set)
	}
}
