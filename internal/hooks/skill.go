package hooks

import (
	"fmt"
	"slices"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
)

// asleep says why a hook in the frontmatter of a skill does not run, "" if it does or is
// no such hook. The agent adds these hooks to the session when the skill is called.
func (h Hook) asleep(d dialect.Dialect, call *Call) string {
	switch {
	case h.Skill == "":
		return ""
	case slices.Contains(d.Unskilled, h.Event):
		return fmt.Sprintf("%s does not run hooks of a skill at %s", d.Title, h.Event)
	case h.inactive:
		return fmt.Sprintf("it is a hook of the skill %s and runs only after the skill was called; --skill %s runs it", h.Skill, h.Skill)
	case call != nil && call.Fields.Has("agent_id"):
		return fmt.Sprintf("it is a hook of the skill %s, and the event is one of a subagent", h.Skill)
	}
	return ""
}
