package tasks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// Names in a list of the client, whose form the tests use.
const (
	tasksListLock      = ".lock.lock"
	tasksLockSuffix    = ".lock"
	tasksHighWaterName = ".highwatermark"
)

const (
	tasksManualTask = `{"id":"%s","subject":"by hand","description":"","status":"pending","blocks":[],"blockedBy":[]}`
	tasksTaggedTask = `{"id":"%s","subject":"a","description":"","status":"pending","blocks":[],"blockedBy":[],"metadata":{"fsm":"skill"}}`
)

func tasksTask(form, name string) string { return fmt.Sprintf(form, strings.TrimSuffix(name, ".json")) }

func tasksWrite(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

// tasksFailStep returns err instead of the operation op on path.
func tasksFailStep(op, path string, err error) func(faultfs.Step) error {
	return func(s faultfs.Step) error {
		if s.Op == op && s.Path == path {
			return err
		}
		return nil
	}
}
