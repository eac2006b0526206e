package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/message"
)

// edit reads the file and replaces its content with the result of change.
func edit(t *testing.T, path string, change func(old []byte) []byte) error {
	t.Helper()
	e, err := ReadToEdit(path, 1<<20)
	require.NoError(t, err)
	return e.Replace(change(e.Data))
}

func to(text string) func([]byte) []byte { return func([]byte) []byte { return []byte(text) } }

// renamed writes a new file and renames it into place.
func renamed(path string, data []byte) error {
	if err := os.WriteFile(path+".tmp", data, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// TestAFileThatChangedIsNotReplaced: what another program has written since the file was read stays, in
// each way in which programs write.
func TestAFileThatChangedIsNotReplaced(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"written over":       func(path string) error { return os.WriteFile(path, []byte("new"), 0o600) },
		"appended":           func(path string) error { return os.WriteFile(path, []byte("older"), 0o600) },
		"cut":                func(path string) error { return os.Truncate(path, 2) },
		"emptied":            func(path string) error { return os.Truncate(path, 0) },
		"renamed":            func(path string) error { return renamed(path, []byte("theirs")) },
		"removed":            os.Remove,
		"mode":               func(path string) error { return os.Chmod(path, 0o640) },
		"a directory by now": func(path string) error { _ = os.Remove(path); return os.Mkdir(path, 0o700) },
		"a link by now":      func(path string) error { return errors.Join(os.Rename(path, path+"2"), os.Symlink("f2", path)) },
		"owner":              func(path string) error { return os.Chown(path, 12345, -1) },
		"group":              func(path string) error { return os.Chown(path, -1, 12345) },
	} {
		for _, data := range [][]byte{[]byte("ours"), nil} {
			t.Run(fmt.Sprint(name, data), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "f")
				require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
				e, err := ReadToEdit(path, 100)
				require.NoError(t, err)
				err = change(path)
				if errors.Is(err, fs.ErrPermission) {
					t.Skip("skipped: only root can give a file away")
				}
				require.NoError(t, err)
				before, beforeErr := os.Lstat(path)
				content, _ := os.ReadFile(path)
				err = e.Replace(data)
				require.ErrorIs(t, err, ErrChanged)
				require.ErrorContains(t, err, path+": changed while it was being edited")
				after, afterErr := os.Lstat(path)
				require.Equal(t, beforeErr, afterErr)
				if beforeErr == nil {
					require.True(t, os.SameFile(before, after))
					require.Equal(t, before.Mode(), after.Mode())
					now, _ := os.ReadFile(path)
					require.Equal(t, content, now)
				}
			})
		}
	}
}

// TestEditsExcludeOneAnother: each adds a line, and reads again if another was faster. No line is lost.
func TestEditsExcludeOneAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	const editors, lines = 4, 10
	done := make(chan error, editors)
	for n := range editors {
		go func() {
			for i := 0; i < lines; {
				e, err := ReadToEdit(path, 1<<20)
				if err == nil {
					err = e.Replace(fmt.Appendf(e.Data, "%d %d\n", n, i))
				}
				switch {
				case errors.Is(err, ErrChanged):
				case err != nil:
					done <- err
					return
				default:
					i++
				}
			}
			done <- nil
		}()
	}
	for range editors {
		require.NoError(t, <-done)
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for n := range editors {
		for i := range lines {
			require.Contains(t, string(data), fmt.Sprintf("%d %d\n", n, i))
		}
	}
	files.RequireOnly(t, filepath.Dir(path), "f")
}

// TestALockThatIsNotGivenUp is waited for until the timeout, and no longer.
func TestALockThatIsNotGivenUp(t *testing.T) {
	defer func(before time.Duration) { editTimeout = before }(editTimeout)
	editTimeout = 20 * time.Millisecond
	path := filepath.Join(t.TempDir(), "f")
	dir, err := OpenDir(filepath.Dir(path))
	require.NoError(t, err)
	defer dir.Close()
	unlock, err := dir.Lock(t.Context())
	require.NoError(t, err)
	err = edit(t, path, to("new"))
	require.ErrorIs(t, err, ErrBusy)
	require.ErrorContains(t, err, filepath.Dir(path)+": locked by another process")
	files.RequireOnly(t, filepath.Dir(path))
	unlock()
	require.NoError(t, edit(t, path, to("new")))
}

func TestReplaceCreatesDirectories(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "a", "b", "f")
	defer files.Umask(files.Umask(0o005)) // lets the group write
	require.NoError(t, edit(t, path, to("new")))
	files.Require(t, path, "new", 0o666&^umask())
	info, err := os.Stat(filepath.Join(root, "a"))
	require.NoError(t, err)
	require.Equal(t, 0o777&^umask(), info.Mode().Perm())
	files.RequireOnly(t, root, "a")
	files.RequireOnly(t, filepath.Join(root, "a"), "b")
	files.RequireOnly(t, filepath.Join(root, "a", "b"), "f")

	long := filepath.Join(root, "c", "d", strings.Repeat("n", 256))
	require.ErrorIs(t, (&Edit{Path: long, Mode: 0o600}).Replace([]byte("x")), syscall.ENAMETOOLONG)
	files.RequireOnly(t, root, "a")
}

func TestReplaceOfAFileWithALongName(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("n", 255))
	require.NoError(t, edit(t, path, to("1")))
	require.NoError(t, edit(t, path, to("2")))
	files.RequireContent(t, path, "2")
	files.RequireOnly(t, filepath.Dir(path), filepath.Base(path))
}

// TestReplaceTellsAnEmptyFileFromNone: an empty file is created where there is none, and
// removed where there is one.
func TestReplaceTellsAnEmptyFileFromNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, edit(t, path, to("")))
	files.Require(t, path, "", 0o666&^umask())
	require.NoError(t, edit(t, path, func([]byte) []byte { return nil }))
	files.RequireOnly(t, filepath.Dir(path))
}

// TestOnlyWhatDiffersIsWritten: the content, the permissions, or nothing.
func TestOnlyWhatDiffersIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	replaced := func(mode fs.FileMode) bool {
		before, err := os.Stat(path)
		require.NoError(t, err)
		e, err := ReadToEdit(path, 100)
		require.NoError(t, err)
		e.Mode = mode
		require.NoError(t, e.Replace([]byte("old")))
		after, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, after.Mode().Perm())
		return !os.SameFile(before, after)
	}
	require.False(t, replaced(0o600))
	require.True(t, replaced(0o640))
	require.False(t, replaced(0o640))
}

// TestUnwritableNamesTheFile: the person knows the file, not the one in which it is prepared.
func TestUnwritableNamesTheFile(t *testing.T) {
	made := func(err error) error { return &fs.PathError{Op: "open", Path: "/p/.claude/.fsmtx-write-f", Err: err} }
	err := unwritable("/p/.claude/f", made(syscall.EACCES))
	require.EqualError(t, err, "write /p/.claude/f: permission denied")
	require.Equal(t, "you may not write into /p/.claude: change its permissions, or run the command as its owner", message.Hint(err))
	err = unwritable("/p/.claude/f", made(syscall.EROFS))
	require.EqualError(t, err, "write /p/.claude/f: read-only file system")
	require.Empty(t, message.Hint(err))
	require.NoError(t, unwritable("f", nil))
	require.ErrorIs(t, unwritable("f", ErrBusy), ErrBusy)
}

func TestReplaceDoesNotOverwriteAFileCreatedMeanwhile(t *testing.T) {
	for _, path := range []string{"f", "a/f"} {
		path := filepath.Join(t.TempDir(), path)
		e, err := ReadToEdit(path, 100)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("theirs"), 0o644))
		require.ErrorIs(t, e.Replace([]byte("ours")), ErrChanged)
		files.RequireContent(t, path, "theirs")
		files.RequireOnly(t, filepath.Dir(path), "f")
	}
}

// TestAFileIsLookedAtAgainBeforeTheRename: what another program writes while the new content is prepared and synced is not lost.
func TestAFileIsLookedAtAgainBeforeTheRename(t *testing.T) {
	for _, before := range []string{"old", ""} {
		path := filepath.Join(t.TempDir(), "f")
		if before != "" {
			require.NoError(t, os.WriteFile(path, []byte(before), 0o644))
		}
		e, err := ReadToEdit(path, 100)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, []byte("theirs"), 0o644))
		require.ErrorIs(t, e.write([]byte("ours")), ErrChanged) // as if it had changed after the first look
		files.RequireContent(t, path, "theirs")
		files.RequireOnly(t, filepath.Dir(path), "f")
	}
}
