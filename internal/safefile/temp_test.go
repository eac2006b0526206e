package safefile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/harness/files"
)

// TestOnlyDeadDirectoriesOfOursAreSwept: the next write removes the temporary directory of a
// killed one, and nothing that merely has its name.
func TestOnlyDeadDirectoriesOfOursAreSwept(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T, dir, temp string)
		stays   bool
	}{
		"dead": {func(t *testing.T, dir, temp string) {}, false},
		"dead before it had a file": {func(t *testing.T, dir, temp string) {
			require.NoError(t, os.Remove(temp))
		}, false},
		"in use": {func(t *testing.T, dir, temp string) {
			f, err := os.Open(dir)
			require.NoError(t, err)
			t.Cleanup(func() { f.Close() })
			require.NoError(t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
		}, true},
		"hard link in it": {func(t *testing.T, dir, temp string) {
			require.NoError(t, os.Link(temp, filepath.Join(t.TempDir(), "second")))
		}, true},
		"symbolic link in it": {func(t *testing.T, dir, temp string) {
			require.NoError(t, os.Symlink(temp, temp+"1"))
		}, true},
		"directory in it": {func(t *testing.T, dir, temp string) {
			require.NoError(t, os.Mkdir(temp+"1", 0o700))
		}, true},
		"FIFO in it": {func(t *testing.T, dir, temp string) {
			require.NoError(t, unix.Mkfifo(temp+"1", 0o600))
		}, true},
		"another file in it": {func(t *testing.T, dir, temp string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "notes"), nil, 0o600))
		}, true},
		"symbolic link": {func(t *testing.T, dir, temp string) {
			victim := filepath.Join(t.TempDir(), "victim")
			require.NoError(t, os.Rename(dir, victim))
			require.NoError(t, os.Symlink(victim, dir))
		}, true},
		"file": {func(t *testing.T, dir, temp string) {
			require.NoError(t, os.Rename(temp, dir+"-file"))
			require.NoError(t, os.Remove(dir))
			require.NoError(t, os.Rename(dir+"-file", dir))
		}, true},
		"FIFO": {func(t *testing.T, dir, temp string) {
			require.NoError(t, os.RemoveAll(dir))
			require.NoError(t, unix.Mkfifo(dir, 0o600))
		}, true},
		"another user's": {func(t *testing.T, dir, temp string) {
			files.AsRoot(t)
			require.NoError(t, os.Chown(dir, 12345, 12345))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			above := t.TempDir()
			path := filepath.Join(above, "f2")
			dir := tempPath(path, 0)
			temp := filepath.Join(dir, ".f2123")
			require.NoError(t, os.Mkdir(dir, 0o700))
			require.NoError(t, os.WriteFile(temp, []byte("half"), 0o600))
			c.prepare(t, dir, temp)
			before := tree(t, dir)
			require.Equal(t, !c.stays, isDeadTemp(dir))
			if c.stays {
				require.NoError(t, RemoveLeftover(dir))
			}
			require.NoError(t, Replace(path, []byte("new"), Exactly(0o600)))
			files.RequireContent(t, path, "new")
			if c.stays {
				files.RequireOnly(t, above, filepath.Base(dir), "f2")
				require.Equal(t, before, tree(t, dir))
			} else {
				files.RequireOnly(t, above, "f2")
			}
		})
	}
}

// tree returns the names in a directory, or the type of what is not a directory.
func tree(t *testing.T, path string) (names []string) {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	if !info.IsDir() {
		return []string{info.Mode().String()}
	}
	entries, err := os.ReadDir(path)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestIsPending(t *testing.T) {
	for name, want := range map[string]bool{
		".f1": true, ".f9223372036854775807": true, "..hidden5": true, ".f": false, "f1": false, ".f1x": false, ".1": false,
		".": false, "": false,
	} {
		require.Equal(t, want, isPending(name), name)
	}
}

// TestTempPathsBelongToOneFile: the first is named after the file alone.
func TestTempPathsBelongToOneFile(t *testing.T) {
	require.Equal(t, "/d/.fsmtx-write-f", tempPath("/d/f", 0))
	require.Equal(t, "/d/.fsmtx-write-f.2", tempPath("/d/f", 2))
}

func TestLeftoversAreNamedAfterAFile(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".fsmtx-write-f", ".fsmtx-write-", "f", "x.fsmtx-write-f"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
	}
	left, err := Leftovers(dir)
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, ".fsmtx-write-f")}, left)
}

// TestShortened: a name with a prefix has at most 255 bytes, and no two names become one.
func TestShortened(t *testing.T) {
	name := strings.Repeat("n", 200)
	require.Equal(t, name, Shortened(name))
	require.Len(t, Shortened(name+"n"), 32)
	require.NotEqual(t, Shortened(name+"n"), Shortened(name+"m"))
}

// TestTheTemporaryDirectoryIsThisUsers alone, whatever the umask.
func TestTheTemporaryDirectoryIsThisUsers(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	temp, err := createTempDir(filepath.Join(t.TempDir(), "f"))
	require.NoError(t, err)
	defer temp.discard()
	require.Equal(t, os.FileMode(0o700), temp.Opened().Mode().Perm())
}

func TestLookAlikesStay(t *testing.T) {
	dir := t.TempDir()
	names := []string{".f123", ".fsmtx-write", ".fsmtx-write-", ".fsmtx-writer", "f"}
	for _, name := range names {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".fsmtx-write-g"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".fsmtx-write-g", "f1"), nil, 0o600))
	names = slices.Insert(names, 3, ".fsmtx-write-g")
	require.NoError(t, Replace(filepath.Join(dir, "f"), nil, Exactly(0o600)))
	left, err := Leftovers(dir)
	require.NoError(t, err)
	require.Empty(t, left, "no write names a file so")
	files.RequireOnly(t, dir, names...)
}

// TestAKilledSecondWriterIsSwept: two writers ran at once, and the one with the second name
// was killed. The name is too long for renameio to add its number.
func TestAKilledSecondWriterIsSwept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, strings.Repeat("n", 255))
	require.NoError(t, os.Mkdir(tempPath(path, 1), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(tempPath(path, 1), "."+Shortened(filepath.Base(path))+"0"), nil, 0o600))
	require.NoError(t, Replace(path, nil, Exactly(0o600)))
	files.RequireOnly(t, dir, filepath.Base(path))
}

// TestNoTwoWritersShareATemporaryDirectory: a sweep never takes the one of a live writer.
func TestNoTwoWritersShareATemporaryDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	first, err := createTempDir(path)
	require.NoError(t, err)
	require.NoError(t, Replace(path, []byte("second"), Exactly(0o600)))
	require.DirExists(t, first.Path("."))
	first.close()
	SweepTemps(path)
	files.RequireOnly(t, filepath.Dir(path), "f")
}
