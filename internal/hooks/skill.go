package hooks

import (
	"fmt"
	"slices"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
)

// skillExcludes returns why a hook in the frontmatter of a skill does not run, "" if it runs
// or comes from elsewhere. The agent adds a skill's hooks to the session when the skill is
// called.
func (h Hook) skillExcludes(d dialect.Dialect, call *ruleCall) string {
	switch {
	case h.Skill == "":
		return ""
	case slices.Contains(d.NoSkillHooks, h.Event):
		return fmt.Sprintf("%s does not run hooks of a skill at %s", d.Title, h.Event)
	case h.inactive:
		return fmt.Sprintf("hooks of the skill %s run only after the skill was called; --skill %s runs them", h.Skill, h.Skill)
	case call != nil && call.fields.Has("agent_id"):
		return fmt.Sprintf("hooks of the skill %s do not run in a subagent", h.Skill)
	}
	return ""
}
