package tools_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// TestHookScript runs the sessions of testdata/hooks/script.
func TestHookScript(t *testing.T) {
	worlds.Long(t)
	handleHangUps(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/hooks/script",
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir+"/home")
			env.Setenv("GORACE", os.Getenv("GORACE"))
			examples, err := filepath.Abs("../../testdata/hooks/examples")
			if err != nil {
				return err
			}
			env.Setenv("EXAMPLES", examples)
			if err := os.MkdirAll(env.WorkDir+"/home", 0o755); err != nil {
				return err
			}
			return makeExecutable(env.WorkDir)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code, "expand": expand, "nodurations": noDurations},
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

// makeExecutable makes a session's scripts executable, because a txtar file has no modes.
func makeExecutable(dir string) error {
	return filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".sh" {
			return err
		}
		return os.Chmod(path, 0o755)
	})
}

// noDurations writes the last standard output to said.txt, with 0 ms for every duration.
func noDurations(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: nodurations")
	}
	said := regexp.MustCompile(`\d+ ms *`).ReplaceAllString(ts.ReadFile("stdout"), "0 ms  ")
	ts.Check(os.WriteFile(ts.MkAbs("said.txt"), []byte(said), 0o644))
}
