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
	listLock      = ".lock.lock"
	lockSuffix    = ".lock"
	highWaterName = ".highwatermark"
)

const (
	manualTask = `{"id":"%s","subject":"by hand","description":"","status":"pending","blocks":[],"blockedBy":[]}`
	taggedTask = `{"id":"%s","subject":"a","description":"","status":"pending","blocks":[],"blockedBy":[],"metadata":{"fsm":"skill"}}`
)

func task(form, name string) string { return fmt.Sprintf(form, strings.TrimSuffix(name, ".json")) }

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

// failStep returns err instead of the operation op on path.
func failStep(op, path string, err error) func(faultfs.Step) error {
	return func(s faultfs.Step) error {
		if s.Op == op && s.Path == path {
			return err
		}
		return nil
	}
}
