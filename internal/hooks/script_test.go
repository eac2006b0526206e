package hooks_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fsmtx/fsmtx/internal/harness/sessions"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

func TestMain(m *testing.M) { sessions.Main(m) }

func TestScript(t *testing.T) { sessions.Run(t, "../../testdata/script") }

// TestHookScript runs the sessions of testdata/hooks/script.
func TestHookScript(t *testing.T) {
	worlds.Long(t)
	handleHangUps(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/hooks/script",
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			sessions.Start(t, env)
			examples, err := filepath.Abs("../../testdata/hooks/examples")
			if err != nil {
				return err
			}
			env.Setenv("EXAMPLES", examples)
			if err := os.MkdirAll(env.WorkDir+"/home", 0o755); err != nil {
				return err
			}
			return sessions.MakeExecutable(env.WorkDir)
		},
		Cmds: sessions.Commands,
	})
}

// handleHangUps makes the programs of the sessions react to SIGHUP even if the tests run under
// nohup: a signal that this process handles has its default action in its children.
func handleHangUps(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		handled := make(chan os.Signal, 1)
		signal.Notify(handled, syscall.SIGHUP)
		t.Cleanup(func() { signal.Stop(handled) })
	}
}
