package locator

import (
	"fmt"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/client"
)

// checkOverride adds a step if skillOverrides in the settings switch the skill off, so that the client
// runs it for nobody, or leave it to people. A skill that was invoked is not off, so no settings are read
// for it.
func (s *search) checkOverride(c candidate) {
	if s.Invoked || c.plugin != "" || c.skill != nil {
		return
	}
	name := s.listedName(c)
	value, path, line := s.switches().Override(name)
	switch value {
	case client.OverrideOff:
		s.result.off = fmt.Sprintf(`switched off in %s:%d: "skillOverrides" for %q is "off"`, path, line, name)
		s.step(RuleSettings, path, OutcomeFailed,
			fmt.Sprintf(`line %d: "skillOverrides" for %q is "off", so the client runs the skill for nobody`, line, name))
	case client.OverrideUserOnly:
		s.step(RuleSettings, path, OutcomeFound,
			fmt.Sprintf(`line %d: "skillOverrides" for %q is %q, so only a person can call the skill`, line, name, value))
	}
}

// listedName returns the name under which the client lists a skill or command of the user or the
// project: that of its folder, in commands with the folders above it, or the one by which a nested skill is called.
func (s *search) listedName(c candidate) string {
	if c.rule == RuleCommand || c.rule == RuleNestedSkill {
		return s.command
	}
	return filepath.Base(c.folder)
}
