package tools_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// the hook refuses checks that may exceed its own time limit, so the client's limit must not
// be shorter.
func TestTheRegisteredLimitIsThatOfTheHook(t *testing.T) {
	require.Equal(t, gates.CallLimit, settings.StepTimeout*time.Second)
}

// fsmtx hook accepts every flag that install registers.
func TestHookAcceptsTheFlagsThatInstallRegisters(t *testing.T) {
	for _, stop := range append(hydrate.Words("stop"), "") {
		for _, checks := range append(hydrate.Words("checks"), "") {
			choice := install.Steps{Stop: stop, Checks: checks}
			flags := choice.Applied([]string{"--stop", "off", "--log=x", "--checks=off"})
			require.Contains(t, flags, "--log=x")
			require.NoError(t, command.NewHook(terminal.Streams{}).ParseFlags(append(flags, "--agent=claude", "--steps=off", "--task-tools")),
				"%q", flags)
		}
	}
	require.Equal(t, []string{"--log=x"}, (&install.Steps{Stop: "remind", Checks: "on"}).Applied([]string{"--stop", "off", "--log=x",
		"--checks=off"}))
}
