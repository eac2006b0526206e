//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// dieIn names the environment variable that turns this test program into a hydration of
// the named task list that kills itself.
const dieIn = "FSMTX_E2E_DIE_IN"

// interrupt hydrates a skill in a process that is killed halfway: the new tasks exist,
// the first of the old ones is removed, and the list is locked.
func interrupt(t *testing.T, s *realclient.Sandbox, list, skill string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	s.Env[dieIn] = list
	defer delete(s.Env, dieIn)

	out := s.Command(fmt.Sprintf(`{"hook_event_name": "PostToolUse", "session_id": %q, "cwd": %q, "tool_name": "Skill",
		"tool_use_id": "interrupted", "tool_response": {"success": true, "commandName": %q}}`, s.Session, s.Project, skill), self)

	require.Equal(t, -1, out.Code, "not killed\n%s", out)
}

// hydrateAndDie runs in the child process. It returns only if it is not killed.
func hydrateAndDie(list string) int {
	e, err := client.Read(os.Stdin)
	if err != nil {
		return report(err)
	}
	r, skip, err := hydrate.Understand(e)
	if skip != "" || err != nil {
		return report(fmt.Errorf("%s %w", skip, err))
	}
	_, err = hydrate.Run(context.Background(), r, os.LookupEnv, hydrate.Options{
		LockTimeout: 10 * time.Second,
		FS:          killing{list: list},
	})
	return report(fmt.Errorf("not killed: %w", err))
}

func report(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// killing kills the process after the first task of the list is removed.
type killing struct {
	vfs.OS
	list string
}

func (d killing) Remove(name string) error {
	err := d.OS.Remove(name)
	if filepath.Dir(name) == d.list && filepath.Ext(name) == ".json" {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // until the signal arrives
	}
	return err
}
