package rules

import (
	"fmt"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// h04 protects spec.md from changes after the first phase.
func h04() guard.Rule {
	return guard.Rule{
		ID: "H04", Name: "H04_spec_protection", Event: client.PreToolUse, Matcher: "Write|Edit",
		Flag: "hooks_spec_protection", Timeout: 3,
		Brief: "spec.md does not change once planning is under way",
		Rows:  specRows, Decide: decideBy(runH04),
	}
}

var specRows = []string{
	"no feature directory or no path",
	"the path is not the spec.md of the feature directory",
	"no state file",
	"the phase is unknown or SETUP",
	"anything else",
}

func runH04(c *call) (guard.Verdict, error) {
	return c.specFacts().decide(c.config), nil
}

type specFacts struct {
	known  bool // there are a feature directory and a path
	isSpec bool
	state  stateFile // read only if the path is the spec
}

func (c *call) specFacts() specFacts {
	path := c.target("file_path")
	if c.place.feature == "" || path == "" {
		return specFacts{}
	}
	if !safefile.Same(path, safefile.Resolve(c.place.path(c.config.names.spec))) {
		return specFacts{known: true}
	}
	return specFacts{known: true, isSpec: true, state: c.readState()}
}

func (f specFacts) decide(config configuration) guard.Verdict {
	switch {
	case !f.known:
		return guard.Pass(1, "No feature directory or no path")
	case !f.isSpec:
		return guard.Pass(2, "Not the spec.md of this feature")
	case !f.state.exists:
		return guard.Pass(3, "No state file, spec still editable")
	case f.state.err != nil:
		return guard.Pass(4, "State file unreadable, spec still editable: "+f.state.err.Error())
	case f.state.phase == "":
		return guard.Pass(4, "Phase unknown, spec still editable")
	case samePhase(f.state.phase, config.firstPhase):
		return guard.Pass(4, "Phase is "+config.firstPhase+", spec still editable")
	}
	return guard.Deny(5, fmt.Sprintf("DENIED: spec.md is immutable after planning has started (current phase: %s). Modifying it would "+
		"invalidate all downstream artifacts. If requirements changed, abort planning and restart.",
		f.state.phase))
}
