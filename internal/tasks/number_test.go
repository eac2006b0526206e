package tasks

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

func TestNumber(t *testing.T) {
	for name, want := range map[string]int64{
		"5.json": 5, "007.json": 7, "5a.json": 5, "abc.json": 0, "-3.json": 0, "": 0, "0.json": 0,
		"9223372036854775807.json": math.MaxInt64, "99999999999999999999.json": math.MaxInt64,
	} {
		assert.Equal(t, want, ClientForm{}.Number(name), name)
	}
}

func TestTaskNames(t *testing.T) {
	for name, want := range map[string]bool{"5.json": true, "abc.json": true, ".5.json": false, "5.json.tmp": false, "5": false} {
		assert.Equal(t, want, ClientForm{}.IsTask(name), name)
	}
}

func TestHighWaterIsReadAsTheClientReadsIt(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]int64{"7": 7, " 7\n": 7, "7 trailing": 7, "+7": 7, "-7": 0, "x": 0, "": 0, "\ufeff9": 9} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, highWaterName), []byte(text), 0o644))
		got, err := readHighWater(vfs.OS{}, dir)
		require.NoError(t, err)
		assert.Equal(t, want, got, "%q", text)
	}
}

func TestHighWaterReadErrorIsReturned(t *testing.T) {
	broken := &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(faultfs.Step) error { return syscall.EIO }}
	_, err := readHighWater(broken, t.TempDir())
	assert.ErrorIs(t, err, syscall.EIO)
}

func TestAHighWaterMarkThatIsNoneIsIgnored(t *testing.T) {
	for what, put := range map[string]func(path string) error{
		"a directory": func(path string) error { return os.Mkdir(path, 0o755) },
		"too large": func(path string) error {
			return os.WriteFile(path, []byte("7"+strings.Repeat(" ", vfs.MaxFileBytes)), 0o600)
		},
		"missing": func(string) error { return nil },
	} {
		dir := t.TempDir()
		require.NoError(t, put(filepath.Join(dir, highWaterName)))
		got, err := readHighWater(vfs.OS{}, dir)
		require.NoError(t, err, what)
		assert.Zero(t, got, what)
	}
}

// TestHighWaterOnlyRises, as the client reads it.
func TestHighWaterOnlyRises(t *testing.T) {
	assert.Nil(t, ClientForm{}.Mark(0))
	mark := ClientForm{}.Mark(5)
	assert.Equal(t, "5", string(mark.Data))
	for now, reached := range map[string]bool{"": false, "x": false, "4": false, "-9": false, "5": true, " 6\n": true, "50": true} {
		assert.Equal(t, reached, mark.Reached([]byte(now)), "%q", now)
	}
}
