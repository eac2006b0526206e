package hooks

import (
	"cmp"
	"fmt"
	"os/exec"
	"strings"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
)

// refusal returns why this runtime does not run a hook, "" if it does.
func (r runner) refusal(h Hook, stdin []byte) string {
	switch h.Type {
	case dialect.CommandType:
		return cmp.Or(agentRefusal(r.dialect, h), h.unsetOption(r.dialect))
	case dialect.RequestType:
		if !r.dialect.Hooks.Requests {
			break
		}
		if _, err := exec.LookPath("curl"); err != nil {
			return "an http hook needs curl, which is not installed; it would have sent the event to " + h.Target
		}
		return ""
	case "prompt", "agent":
		return fmt.Sprintf("a hook of type %s asks a model, which this program does not have; the prompt would have been: %s", h.Type,
			promptWithEvent(h.Target, stdin))
	case "mcp_tool":
		return fmt.Sprintf("unsupported handler: a hook of type mcp_tool calls an MCP server, which this program does not start; "+
			"it would have called %s with %s",
			h.Target, stdin)
	}
	return fmt.Sprintf("unsupported handler: this runtime runs hooks of type command only, not %q", h.Type)
}

// promptWithEvent returns the prompt of a hook with the event in place of $ARGUMENTS, or at
// its end.
func promptWithEvent(prompt string, event []byte) string {
	if strings.Contains(prompt, "$ARGUMENTS") {
		return strings.ReplaceAll(prompt, "$ARGUMENTS", string(event))
	}
	return prompt + "\n\n" + string(event)
}

// agentRefusal returns why the agent does not run the command of a hook, "" if it does: the command
// uses a variable of plugins outside a plugin, or an option of the plugin that a shell would
// interpret.
func agentRefusal(d dialect.Dialect, h Hook) string {
	return cmp.Or(unsetBraces(d, h), h.unsafeOption(d))
}

func unsetBraces(d dialect.Dialect, h Hook) string {
	if !d.Hooks.NoUnsetBraces || h.Root != "" {
		return ""
	}
	for _, v := range d.Hooks.Variables {
		if v.Value == dialect.ValuePluginRoot && strings.Contains(strings.Join(append([]string{h.Command}, h.Args...), " "), "${"+v.Name+"}") {
			return fmt.Sprintf("${%s} is set only for hooks of plugins; %s does not run the hook", v.Name, d.Title)
		}
	}
	return ""
}
