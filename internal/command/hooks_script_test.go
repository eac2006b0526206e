package command_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestHookScript runs the sessions of testdata/hooks/script.
func TestHookScript(t *testing.T) {
	hearHangUps(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/hooks/script",
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir+"/home")
			env.Setenv("GORACE", os.Getenv("GORACE"))
			if err := os.MkdirAll(env.WorkDir+"/home", 0o755); err != nil {
				return err
			}
			return makeExecutable(env.WorkDir)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code, "expand": expand, "nodurations": noDurations},
	})
}

// hearHangUps has programs of the sessions not ignore SIGHUP, as they would if the
// tests were run by nohup: what this process handles is the default in them.
func hearHangUps(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		heard := make(chan os.Signal, 1)
		signal.Notify(heard, syscall.SIGHUP)
		t.Cleanup(func() { signal.Stop(heard) })
	}
}

// makeExecutable does for a session's scripts what an archive cannot say.
func makeExecutable(dir string) error {
	return filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".sh" {
			return err
		}
		return os.Chmod(path, 0o755)
	})
}

// noDurations writes the last standard output to said.txt, with every duration
// as 0 ms.
func noDurations(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: nodurations")
	}
	said := regexp.MustCompile(`\d+ ms *`).ReplaceAllString(ts.ReadFile("stdout"), "0 ms  ")
	ts.Check(os.WriteFile(ts.MkAbs("said.txt"), []byte(said), 0o644))
}

// TestHookExamples runs the cases beside the example hooks, and finds nothing
// wrong in what they are configured by.
func TestHookExamples(t *testing.T) {
	examples := "../../testdata/hooks/examples"
	out := mainOf(t, "hooks", "test", "-v", filepath.Join(examples, "tests"))
	t.Log(out)
	if out := mainOf(t, "hooks", "check", "--strict", "--dialect", "claude", filepath.Join(examples, "hooks", "hooks.json")); out != "" {
		t.Error(out)
	}
}
