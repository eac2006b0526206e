package guard

import (
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/event"
)

const specName = "spec.md"

func specProtection() Guard {
	return Guard{
		ID: "H04", Name: "H04_spec_protection", Event: event.PreToolUse, Matcher: "Write|Edit",
		Flag: "hooks_spec_protection", Timeout: 3,
		Brief: "spec.md does not change once planning is under way",
		Rows: []string{
			"no feature directory or no path",
			"the path is not the spec.md of the feature directory",
			"no state file",
			"the phase is unknown or SETUP",
			"anything else",
		},
		judge: func(c *call) (Verdict, error) {
			path := c.target("file_path")
			if c.place.feature == "" || path == "" {
				return specFacts{}.decide(), nil
			}
			facts := specFacts{known: true, isSpec: sameFile(path, resolve(c.place.in(specName)))}
			if facts.isSpec {
				facts.state = c.readState()
			}
			return facts.decide(), nil
		},
	}
}

type specFacts struct {
	known  bool // there are a feature directory and a path
	isSpec bool
	state  State
}

// decide is the table of H04.
func (f specFacts) decide() Verdict {
	switch {
	case !f.known:
		return passed(1, "No feature directory or no path")
	case !f.isSpec:
		return passed(2, "Not the spec.md of this feature")
	case !f.state.Exists:
		return passed(3, "No state file, spec still editable")
	case f.state.Err != nil:
		return passed(4, "State file unreadable, spec still editable: "+f.state.Err.Error())
	case f.state.Phase == "":
		return passed(4, "Phase unknown, spec still editable")
	case strings.EqualFold(f.state.Phase, "SETUP"):
		return passed(4, "Phase is SETUP, spec still editable")
	}
	return denied(5, fmt.Sprintf("DENIED: spec.md is immutable after planning has started (current phase: %s). Modifying it would invalidate all downstream artifacts. If requirements changed, abort planning and restart.", f.state.Phase))
}
