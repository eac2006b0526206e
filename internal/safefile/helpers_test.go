package safefile

import (
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireOnly fails unless the directory has exactly these names.
func requireOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var are []string
	for _, e := range entries {
		are = append(are, e.Name())
	}
	require.Equal(t, names, are)
}

// asRoot skips a test that needs files of several users.
func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can give a file away")
	}
}

func requireContent(t *testing.T, path, want string) {
	t.Helper()
	got := "none"
	if link, err := os.Readlink(path); err == nil {
		got = "-> " + link
	} else if data, err := os.ReadFile(path); err == nil {
		got = string(data)
	}
	require.Equal(t, want, got)
}

func umask() fs.FileMode {
	mask := syscall.Umask(0)
	syscall.Umask(mask)
	return fs.FileMode(mask)
}
