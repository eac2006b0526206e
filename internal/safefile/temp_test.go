package safefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestOnlyDeadFilesOfOursAreSwept: the next write removes the temporary file of a killed one,
// and nothing that merely has its name.
func TestOnlyDeadFilesOfOursAreSwept(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T, temp string)
		stays   bool
	}{
		"dead": {func(t *testing.T, temp string) {}, false},
		"in use": {func(t *testing.T, temp string) {
			f, err := os.Open(temp)
			require.NoError(t, err)
			t.Cleanup(func() { f.Close() })
			require.NoError(t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
		}, true},
		"hard link": {func(t *testing.T, temp string) {
			require.NoError(t, os.Link(temp, filepath.Join(t.TempDir(), "second")))
		}, true},
		"symbolic link": {func(t *testing.T, temp string) {
			victim := filepath.Join(t.TempDir(), "victim")
			require.NoError(t, os.Rename(temp, victim))
			require.NoError(t, os.Symlink(victim, temp))
			t.Cleanup(func() { requireContent(t, victim, "half") })
		}, true},
		"directory": {func(t *testing.T, temp string) {
			require.NoError(t, os.Remove(temp))
			require.NoError(t, os.Mkdir(temp, 0o700))
		}, true},
		"FIFO": {func(t *testing.T, temp string) {
			require.NoError(t, os.Remove(temp))
			require.NoError(t, unix.Mkfifo(temp, 0o600))
		}, true},
		"another user's": {func(t *testing.T, temp string) {
			asRoot(t)
			require.NoError(t, os.Chown(temp, 12345, 12345))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			temp := tempPath(path, 0)
			require.NoError(t, os.WriteFile(temp, []byte("half"), 0o600))
			c.prepare(t, temp)
			found, err := Leftovers(dir)
			require.NoError(t, err)
			if c.stays {
				require.Empty(t, found)
				require.NoError(t, RemoveLeftover(temp))
			} else {
				require.Equal(t, []string{temp}, found)
			}
			require.NoError(t, Replace(path, []byte("new"), Exactly(0o600)))
			requireContent(t, path, "new")
			if c.stays {
				requireOnly(t, dir, filepath.Base(temp), "f")
			} else {
				requireOnly(t, dir, "f")
			}
		})
	}
}

func TestLookAlikesStay(t *testing.T) {
	dir := t.TempDir()
	names := []string{".f123", ".fsmtx-edit-", ".fsmtx-edit-f", ".fsmtx-write", ".fsmtx-write-", ".fsmtx-writer", "f"}
	for _, name := range names {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	require.NoError(t, Replace(filepath.Join(dir, "f"), nil, Exactly(0o600)))
	found, err := Leftovers(dir)
	require.NoError(t, err)
	require.Empty(t, found)
	requireOnly(t, dir, names...)
}

// TestAKilledSecondWriterIsSwept: two writers ran at once, and the one with the second name
// was killed.
func TestAKilledSecondWriterIsSwept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, strings.Repeat("n", 255))
	require.NoError(t, os.WriteFile(tempPath(path, 1), nil, 0o600))
	require.NoError(t, Replace(path, nil, Exactly(0o600)))
	requireOnly(t, dir, filepath.Base(path))
}

// TestNoTwoWritersShareATemporaryFile: a sweep never takes the file of a live writer.
func TestNoTwoWritersShareATemporaryFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	first, err := createTemp(path, Exactly(0o600))
	require.NoError(t, err)
	require.NoError(t, Replace(path, []byte("second"), Exactly(0o600)))
	require.FileExists(t, first.Name())
	require.NoError(t, first.lock.Close())
	require.NoError(t, first.Close())
	require.NoError(t, Sweep(path))
	requireOnly(t, filepath.Dir(path), "f")
}

func TestLeftoversOfEdits(t *testing.T) {
	old, next := hashOf([]byte("old")), hashOf([]byte("new"))
	for name, c := range map[string]struct {
		files map[string]string // in the work directory
		found bool
		err   error
	}{
		"nothing in it":                   {nil, true, nil},
		"the new file":                    {map[string]string{"new": "n"}, true, nil},
		"the old file":                    {map[string]string{old + "." + next: "old"}, true, nil},
		"the removed file":                {map[string]string{old + ".": "old"}, true, nil},
		"another program's version":       {map[string]string{old + "." + next: "theirs"}, true, ErrKept},
		"another program's removed file":  {map[string]string{old + ".": "theirs"}, true, ErrKept},
		"a version that was moved aside":  {map[string]string{"f" + keptSuffix: "theirs"}, true, ErrKept},
		"a file that no edit creates":     {map[string]string{"notes": "theirs"}, false, nil},
		"a name that is almost a slot's":  {map[string]string{old + "x." + next: "old"}, false, nil},
		"a name that is no hash but long": {map[string]string{strings.Repeat("z", 32) + ".": "old"}, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			work := filepath.Join(dir, workName("f"))
			require.NoError(t, os.Mkdir(work, 0o700))
			for name, content := range c.files {
				require.NoError(t, os.WriteFile(filepath.Join(work, name), []byte(content), 0o600))
			}
			found, err := Leftovers(dir)
			require.NoError(t, err)
			require.Equal(t, c.found, len(found) == 1)
			require.ErrorIs(t, RemoveLeftover(work), c.err)
			if c.found && c.err == nil {
				requireOnly(t, dir)
				return
			}
			for name, content := range c.files {
				requireContent(t, filepath.Join(work, name), content)
			}
		})
	}
}
