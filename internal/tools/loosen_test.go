package tools_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/tools"
)

// harmless are the commands that take nothing away.
var harmless = []string{
	"init", "new", "validate", "test", "report", "fmt", "graph", "schema", "locate", "plan", "status", "statusline", "log", "attest",
	"verify", "demo", "begin", "next", "start", "complete", "continue", "version", "hydrate", "hook", "mcp", "step", "guard",
	"guard list", "guard explain", "guard skill-files",
	"hooks", "hooks fire", "hooks eval", "hooks tool", "hooks model", "hooks list", "hooks check", "hooks status",
}

// Every command has its rule, or is harmless: whoever adds one has to say whether it takes anything away
// from what is enforced or on record. Only one row waits for its command.
func TestEveryCommandHasItsRule(t *testing.T) {
	rules := map[string]hook.Loosening{}
	for _, l := range hook.Loosenings() {
		assert.NotContains(t, rules, l.Command)
		assert.NotEmpty(t, l.What, l.Command)
		rules[l.Command] = l
	}
	for _, command := range harmless {
		assert.NotContains(t, rules, command)
		rules[command] = hook.Loosening{}
	}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		path := strings.TrimPrefix(c.CommandPath(), "fsmtx ")
		if !c.HasParent() || path == "help" || strings.HasPrefix(path, "completion") {
			return
		}
		_, ok := rules[path]
		assert.True(t, ok, "fsmtx %s: say in hook.Loosenings or here whether an agent may run it without a person's yes", path)
		delete(rules, path)
	}
	walk(tools.Tree())
	assert.Empty(t, rules, "rules about commands that do not exist")
}
