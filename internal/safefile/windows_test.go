//go:build windows

package safefile

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"

	"github.com/fsmtx/fsmtx/internal/message"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// closed opens a file as an editor or a virus scanner does: nobody else can rename or remove it.
func closed(t *testing.T, path string) (release func()) {
	return heldBy(t, path, windows.FILE_SHARE_READ)
}

// heldBy opens a file and lets others do with it what share says.
func heldBy(t *testing.T, path string, share uint32) (release func()) {
	t.Helper()
	name, err := windows.UTF16PtrFromString(path)
	require.NoError(t, err)
	h, err := windows.CreateFile(name, windows.GENERIC_READ, share, nil, windows.OPEN_EXISTING, 0, 0)
	require.NoError(t, err)
	return func() { _ = windows.CloseHandle(h) }
}

func TestNamesInAHeldDirectory(t *testing.T) {
	at := filepath.Join(t.TempDir(), "held")
	require.NoError(t, os.Mkdir(at, 0o700))
	d, err := OpenDir(at)
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, d.Mkdir("sub", 0o700))
	require.ErrorIs(t, d.Mkdir("sub", 0o700), fs.ErrExist)
	require.NoError(t, d.WriteNew("sub/a", []byte("a"), 0o600))
	require.ErrorIs(t, d.WriteNew("sub/a", []byte("b"), 0o600), fs.ErrExist)
	require.NoError(t, d.Link("sub/a", d, "linked"))
	require.NoError(t, d.WriteNew("other", nil, 0o600))
	require.ErrorIs(t, d.Link("other", d, "linked"), fs.ErrExist)
	require.ErrorIs(t, d.Link("none", d, "x"), fs.ErrNotExist)
	a, err := d.Lstat("sub/a")
	require.NoError(t, err)
	linked, err := d.Lstat("linked")
	require.NoError(t, err)
	assert.True(t, SameFile(a, linked))
	require.ErrorIs(t, CheckSole("linked", linked), ErrNotOwn)
	require.ErrorIs(t, d.RenameNew("other", d, "linked"), fs.ErrExist)
	require.NoError(t, d.RenameNew("linked", d, "b"))
	require.NoError(t, d.WriteNew("c", []byte("longer"), 0o600))
	require.NoError(t, d.Rename("c", d, "b"), "it replaces")
	require.NoError(t, d.Overwrite("b", []byte("short")))
	require.NoError(t, d.AppendLine("b", []byte("line"), 100))
	data, err := d.ReadFile("b", 0, 100)
	require.NoError(t, err)
	assert.Equal(t, "short\nline\n", string(data))
	require.NoError(t, d.Sync("b"))
	require.NoError(t, d.SyncNames("."))
	when := time.Unix(1_700_000_000, 123_456_700)
	require.NoError(t, d.Chtimes("sub", when))
	sub, err := d.Lstat("sub")
	require.NoError(t, err)
	assert.True(t, when.Equal(sub.ModTime()), "%v", sub.ModTime())
	require.Error(t, d.Remove("sub"), "it is not empty")
	require.NoError(t, d.RemoveAll("sub"))

	moved := at + " away"
	require.NoError(t, os.Rename(at, moved), "a held directory can be renamed")
	require.NoError(t, d.WriteNew("there", nil, 0o600))
	assert.FileExists(t, moved+`\there`)
	for _, name := range []string{`..\out`, "NUL", "sub/CON", `C:\x`, "a:b", "a.", "a ", `a.\b`} {
		require.ErrorIs(t, d.WriteNew(name, nil, 0o600), syscall.EINVAL, name)
		require.ErrorIs(t, d.Link("there", d, name), syscall.EINVAL, name)
		require.ErrorIs(t, d.RenameNew("there", d, name), syscall.EINVAL, name)
	}
	for _, path := range []string{"a:b", `C:\x\CON\f`, "sub/nul.txt", "a.", `a \b`, `\\server\share\aux`, "com1"} {
		require.ErrorContains(t, CheckNames(path), "on Windows no file can have the name ", path)
	}
	for _, path := range []string{`C:\x\f`, `..\.\f`, `\\server\share\f`, ".claude", "console", `C:\a b\c.d`} {
		require.NoError(t, CheckNames(path))
	}
}

// TestAbsoluteIsOneFormOfAPath: what Windows takes in front of a path is left out, and a path without its drive has that of the base.
func TestAbsoluteIsOneFormOfAPath(t *testing.T) {
	for path, want := range map[string]string{
		`C:\x`: `C:\x`, `\\?\C:\x\y`: `C:\x\y`, `//?/C:/x`: `C:\x`, `\\.\C:\x`: `C:\x`, `\??\C:\x`: `C:\x`,
		`\\?\UNC\server\share\x`: `\\server\share\x`,
		`\\server\share\x`:       `\\server\share\x`, `\x`: `D:\x`, `/x`: `D:/x`, `x`: `D:\base\x`, `\\.\NUL`: `\\.\NUL`,
	} {
		assert.Equal(t, want, Absolute(path, `D:\base`), path)
	}
}

// TestAsOpenedHasTheNameOfTheFile: an agent may write it in another way.
func TestAsOpenedHasTheNameOfTheFile(t *testing.T) {
	dir := t.TempDir()
	other := "/" + dir[:1] + filepath.ToSlash(dir[2:]) + "/a"
	for path, want := range map[string]string{
		`Q:\p\src\a.txt::$DATA`: `Q:\p\src\a.txt`, `Q:\p\src\a.txt:s`: `Q:\p\src\a.txt`, `Q:\p\src.\a.txt`: `Q:\p\src\a.txt`,
		`Q:\p\src \a.txt. .`: `Q:\p\src\a.txt`, `Q:/p/src/../a`: `Q:\p\src\..\a`, `Q:\p\.\a`: `Q:\p\.\a`,
		`\\server\share\p\a.`: `\\server\share\p\a`,
		other:                 strings.ToUpper(dir[:1]) + dir[1:] + `\a`,
		"Q:" + other:          strings.ToUpper(dir[:1]) + dir[1:] + `\a`,
	} {
		assert.Equal(t, want, AsOpened(path), path)
	}
}

// TestAFileThatAnotherProgramHasOpen is waited for, and then refused by its name.
func TestAFileThatAnotherProgramHasOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "old")
	release := closed(t, path)
	after := time.AfterFunc(300*time.Millisecond, release)
	require.NoError(t, Replace(path, []byte("new"), Exactly(0o600)), "it is waited for")
	assert.False(t, after.Stop())

	release = closed(t, path)
	defer release()
	defer func(was time.Duration) { sharingWait = was; gaveUp.Store(0) }(sharingWait)
	sharingWait = 50 * time.Millisecond
	err := Replace(path, []byte("newer"), Exactly(0o600))
	require.Error(t, err)
	assert.ErrorContains(t, err, path)
	require.ErrorIs(t, Unheld.Remove(path), ErrInUse)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "new", string(data))
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "no temporary file stays")
}

// TestAFileIsWaitedForOnce: an event reads a task file many times.
func TestAFileIsWaitedForOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "x")
	release := heldBy(t, path, 0)
	defer func(was time.Duration) { sharingWait = was; gaveUp.Store(0) }(sharingWait)
	sharingWait = 50 * time.Millisecond
	_, err := ReadFile(path, 100, 0)
	require.ErrorIs(t, err, ErrInUse)
	sharingWait = time.Hour // which no other call waits
	for range 100 {
		_, err = ReadFile(path, 100, 0)
		require.ErrorIs(t, err, ErrInUse)
	}
	assert.ErrorContains(t, err, path+": another program has it open")
	assert.Equal(t, "close it there, or wait, then try again", message.Hint(err))
	release()
	_, err = ReadFile(path, 100, 0)
	require.NoError(t, err)
}

func TestAReadOnlyFileIsNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "old")
	require.NoError(t, os.Chmod(path, 0o400))
	if os.WriteFile(path, []byte("old"), 0o600) == nil {
		t.Skip("skipped: here this user may write to a read-only file, as root in wine may")
	}
	require.ErrorIs(t, Unheld.Overwrite(path, []byte("x")), fs.ErrPermission)
	require.ErrorIs(t, Unheld.Sync(path), fs.ErrPermission)
	require.NoError(t, Unheld.Remove(path))
}

func TestLongPaths(t *testing.T) {
	dir := t.TempDir()
	for range 4 {
		dir = filepath.Join(dir, strings.Repeat("d", 100))
	}
	_, err := Mkdir(dir)
	require.NoError(t, err)
	path := filepath.Join(dir, "f")
	require.NoError(t, Write(path, []byte("x"), Exactly(0o600)))
	data, err := ReadFile(path, 10, NoFollow)
	require.NoError(t, err)
	assert.Equal(t, "x", string(data))
	assert.Error(t, Write(filepath.Join(dir, strings.Repeat("n", 300)), nil, Exactly(0o600)))
}

func TestResolveKnowsDrivesAndShares(t *testing.T) {
	for path, want := range map[string]string{
		`C:\a\.\b\..\c`:         `C:\a\c`,
		`C:/a/b`:                `C:\a\b`,
		`\\server\share\a\..\b`: `\\server\share\b`,
		`C:\..\..\a`:            `C:\a`,
	} {
		assert.Equal(t, want, ResolveWith(func(string) (string, error) { return "", fs.ErrInvalid }, path))
	}
	assert.Equal(t, `C:\p\a/b`, Absolute("a/b", `C:\p\`))
	assert.Equal(t, `C:\a`, Absolute(`\a`, `C:\p`))
	assert.Equal(t, `D:\a`, Absolute(`D:\a`, `C:\p`))
	for file, in := range map[string]bool{`C:\p\a`: true, `C:\pa`: false, `D:\p\a`: false, `\\s\h\a`: false, `c:\P\a`: true} {
		_, ok := Within(`C:\p`, file)
		assert.Equal(t, in, ok, file)
	}
}

// TestALockEndsWithItsProcess also if that is killed.
func TestALockEndsWithItsProcess(t *testing.T) {
	path := os.Getenv("FSMTX_TEST_LOCK")
	lock := func(ctx context.Context, path string) (func(), error) {
		info, err := os.Stat(path)
		require.NoError(t, err)
		return Lock(ctx, path, info)
	}
	if path != "" {
		_, err := lock(t.Context(), path)
		require.NoError(t, err)
		_, _ = os.Stdout.WriteString("locked\n")
		time.Sleep(time.Hour) // it is killed
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "f"), "who holds it")
	for _, path := range []string{filepath.Join(dir, "f"), dir} {
		c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		c.Env = append(os.Environ(), "FSMTX_TEST_LOCK="+path)
		out, err := c.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, c.Start())
		_, err = bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		_, err = lock(NoWait(), path)
		require.ErrorIs(t, err, ErrBusy, path)
		_, err = os.ReadFile(filepath.Join(dir, "f"))
		require.NoError(t, err, "who holds it can be read")
		require.NoError(t, c.Process.Kill())
		_ = c.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		unlock, err := lock(ctx, path)
		cancel()
		require.NoError(t, err, path)
		unlock()
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "the lock of a directory leaves nothing")
}

// TestAnEditKeepsTheListOfWhoMayReadIt and what the file is, such as hidden.
func TestAnEditKeepsTheListOfWhoMayReadIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	write(t, path, "{}\r\n")
	name, err := windows.UTF16PtrFromString(path)
	require.NoError(t, err)
	require.NoError(t, windows.SetFileAttributes(name, windows.FILE_ATTRIBUTE_HIDDEN))
	e, err := ReadToEdit(path, 100)
	require.NoError(t, err)
	require.NoError(t, e.Replace([]byte("{ }\r\n")))
	attributes, err := windows.GetFileAttributes(name)
	require.NoError(t, err)
	assert.NotZero(t, attributes&windows.FILE_ATTRIBUTE_HIDDEN)
	e, err = ReadToEdit(path, 100)
	require.NoError(t, err)
	write2 := os.Remove(path)
	require.NoError(t, write2)
	write(t, path, "other")
	require.ErrorIs(t, e.Replace([]byte("x")), ErrChanged)
	_, err = OpenDir(path)
	require.True(t, errors.Is(err, ErrNotDir), "%v", err)
}
