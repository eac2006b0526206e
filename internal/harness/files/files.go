// Package files has assertions about files, for the tests of packages that write them.
package files

import (
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// RequireOnly fails unless the directory has exactly these names, which are sorted.
func RequireOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var are []string
	for _, e := range entries {
		are = append(are, e.Name())
	}
	require.Equal(t, names, are)
}

// Require fails unless path is a regular file with this content and these permissions.
func Require(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	info, err := os.Lstat(path)
	require.NoError(t, err)
	require.Equal(t, mode, info.Mode())
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, content, string(data))
}

// RequireContent fails unless path has this content: "none" if it does not exist, "-> target" for
// a symbolic link.
func RequireContent(t *testing.T, path, want string) {
	t.Helper()
	got := "none"
	if link, err := os.Readlink(path); err == nil {
		got = "-> " + link
	} else if data, err := os.ReadFile(path); err == nil {
		got = string(data)
	}
	require.Equal(t, want, got)
}

// AsRoot skips a test that needs files of several users.
func AsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can give a file away")
	}
}
