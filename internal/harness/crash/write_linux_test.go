package crash_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// TestPowerModelWritesAsTheProgramDoes traces a process that writes a file as a
// transaction does. The system calls have to be those of the model: create, write,
// sync. Nothing changes a name, and no directory is synced: that is up to the transaction.
func TestPowerModelWritesAsTheProgramDoes(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "staged")
	c := exec.Command("/proc/self/exe")
	c.Env = []string{"FSMTX_TEST_WRITE=" + name, raceOptions}
	calls, err := trace(c, dir)
	if errors.Is(err, errNoTrace) {
		t.Skip(err)
	}
	require.NoError(t, err)
	var sequence []string
	for _, c := range calls {
		sequence = append(sequence, c.name)
		assert.Equal(t, name, c.path, c.name)
	}
	require.Equal(t, []string{"openat", "write", "fsync", "close"}, sequence, "%+v", calls)
	assert.EqualValues(t, unix.O_CREAT|unix.O_EXCL, calls[0].flags&(unix.O_CREAT|unix.O_EXCL|unix.O_TRUNC))
	assert.EqualValues(t, len(written), calls[1].size, "written in more than one go")
	assert.Equal(t, modelled(t, filepath.Join(t.TempDir(), "staged")), steps(calls), "the model does something else")
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
			all = append(all, faultfs.Step{Op: c.name, Path: c.path}.String())
		}
	}
	return all
}

// modelled returns the steps of the same write in the model.
func modelled(t *testing.T, name string) (all []string) {
	files := &faultfs.Steps{FS: vfs.OS{}, Before: func(s faultfs.Step) error {
		all = append(all, s.String())
		return nil
	}}
	require.NoError(t, files.WriteNew(name, []byte(written), 0o644))
	return all
}
