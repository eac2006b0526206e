package crash_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// TestPowerModelWritesAsTheProgramDoes traces a process that writes a file as a
// transaction does. The system calls have to be those of the model: create, write,
// sync, rename. Nothing else changes a name, and no directory is synced: that is up
// to the transaction.
func TestPowerModelWritesAsTheProgramDoes(t *testing.T) {
	for _, replaced := range []bool{false, true} {
		dir := t.TempDir()
		name, tempDir := filepath.Join(dir, "journal"), filepath.Join(dir, "txn")
		require.NoError(t, os.Mkdir(tempDir, 0o700))
		if replaced {
			require.NoError(t, os.WriteFile(name, nil, 0o600))
		}
		c := exec.Command("/proc/self/exe")
		c.Env = []string{"FSMTX_TEST_WRITE=" + name, "FSMTX_TEST_TEMP=" + tempDir, raceOptions}
		calls, err := trace(c, dir)
		if errors.Is(err, errNoTrace) {
			t.Skip(err)
		}
		require.NoError(t, err)
		calls = slices.DeleteFunc(calls, func(c call) bool {
			return filepath.Clean(c.path) == tempDir && (c.name == "openat" || c.name == "close")
		})
		requireWrite(t, calls, name, tempDir)
		assert.Equal(t, modelled(t, name, tempDir), steps(calls), "the model does something else")
	}
}

// requireWrite fails unless the calls are those of one write.
func requireWrite(t *testing.T, calls []call, name, tempDir string) {
	var sequence []string
	for _, c := range calls {
		sequence = append(sequence, c.name)
	}
	require.Equal(t, []string{"openat", "write", "fsync", "close", "rename"}, sequence, "%+v", calls)
	temp := calls[0].path
	assert.Equal(t, tempDir, filepath.Dir(temp))
	assert.True(t, strings.HasPrefix(filepath.Base(temp), "."+filepath.Base(name)), temp)
	assert.EqualValues(t, unix.O_CREAT|unix.O_EXCL, calls[0].flags&(unix.O_CREAT|unix.O_EXCL|unix.O_TRUNC))
	for _, c := range calls[1:] {
		assert.Equal(t, temp, c.path, c.name)
	}
	assert.EqualValues(t, len(written), calls[1].size, "written in more than one go")
	assert.Equal(t, name, calls[4].to)
}

// steps returns the calls as steps of the model, which has none for closing a file.
func steps(calls []call) []string {
	words := map[string]string{"openat": "create", "fsync": "sync"}
	var all []string
	for _, c := range calls {
		if word, ok := words[c.name]; ok {
			c.name = word
		}
		if c.name != "close" {
			all = append(all, stepText(c.name, c.path, c.to))
		}
	}
	return all
}

// modelled returns the steps of the same write in the model.
func modelled(t *testing.T, name, tempDir string) (all []string) {
	files := &faultfs.Steps{FS: vfs.OS{}, Before: func(s faultfs.Step) error {
		all = append(all, stepText(s.Op, s.Path, s.To))
		return nil
	}}
	require.NoError(t, files.WriteFile(name, tempDir, []byte(written), 0o644))
	return all
}

// stepText leaves out the number in the name of a temporary file.
func stepText(op, path, to string) string {
	return strings.TrimSpace(op + " " + strings.TrimRight(path, "0123456789") + " " + to)
}
