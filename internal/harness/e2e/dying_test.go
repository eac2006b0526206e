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

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// dieIn is the variable that turns this test program into a hydration that
// dies in the named task list.
const dieIn = "FSMTX_E2E_DIE_IN"

// interrupt has a skill hydrated by a process that is killed half way: the new
// tasks are there, the first of the old ones is gone, and the list is locked.
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

// hydrateAndDie is what the child process does. It returns only if it was not
// killed.
func hydrateAndDie(list string) int {
	e, err := event.Read(os.Stdin)
	if err != nil {
		return report(err)
	}
	r, skip, err := hydrate.Understand(e)
	if skip != "" || err != nil {
		return report(fmt.Errorf("%s %w", skip, err))
	}
	_, err = hydrate.Run(context.Background(), r, os.LookupEnv, hydrate.Options{
		LockTimeout: 10 * time.Second,
		FS:          deadly{list: list},
	})
	return report(fmt.Errorf("survived: %w", err))
}

func report(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// deadly kills the process once the first task of the list is removed.
type deadly struct {
	vfs.OS
	list string
}

func (d deadly) Remove(name string) error {
	err := d.OS.Remove(name)
	if filepath.Dir(name) == d.list && filepath.Ext(name) == ".json" {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // the signal is on its way
	}
	return err
}
