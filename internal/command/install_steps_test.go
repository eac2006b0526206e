package command

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/claude/settings"
	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/internal/steps"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// fsmtx step refuses checks that may exceed its own time limit, so the client's limit must not
// be shorter.
func TestTheRegisteredLimitIsThatOfStep(t *testing.T) {
	require.Equal(t, steps.CallLimit, settings.StepTimeout*time.Second)
}

// fsmtx step accepts every flag that install registers.
func TestStepAcceptsTheFlagsThatInstallRegisters(t *testing.T) {
	for _, stop := range append(install.StepValues["stop"], "") {
		for _, checks := range append(install.StepValues["checks"], "") {
			choice := install.Steps{Stop: stop, Checks: checks}
			flags := choice.Applied([]string{"--stop", "off", "--log=x", "--checks=off"})
			require.Contains(t, flags, "--log=x")
			require.NoError(t, newStep(terminal.Streams{}).ParseFlags(flags), "%q", flags)
		}
	}
	require.Equal(t, []string{"--log=x"}, (&install.Steps{Stop: "remind", Checks: "on"}).Applied([]string{"--stop", "off", "--log=x", "--checks=off"}))
}
