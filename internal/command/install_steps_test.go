package command

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/claude/settings"
	"github.com/fsmtx/fsmtx/internal/steps"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// fsmtx step refuses a check that would not end within its limit, so the client must not
// end it before.
func TestTheRegisteredLimitIsThatOfStep(t *testing.T) {
	require.Equal(t, steps.CallLimit, settings.StepTimeout*time.Second)
}

// Every flag that install registers is one that fsmtx step takes.
func TestStepTakesTheFlagsThatInstallRegisters(t *testing.T) {
	for _, stop := range append(stepValues["stop"], "") {
		for _, checks := range append(stepValues["checks"], "") {
			choice := stepChoice{stop: stop, checks: checks}
			flags := choice.applied([]string{"--stop", "off", "--log=x", "--checks=off"})
			require.Contains(t, flags, "--log=x")
			require.NoError(t, newStep(terminal.Streams{}).ParseFlags(flags), "%q", flags)
		}
	}
	require.Equal(t, []string{"--log=x"}, (&stepChoice{stop: "remind", checks: "on"}).applied([]string{"--stop", "off", "--log=x", "--checks=off"}))
}
