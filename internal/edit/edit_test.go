package edit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/hint"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// edit reads the file and replaces its content with the result of change.
func edit(t *testing.T, path string, change func(old []byte) []byte) error {
	t.Helper()
	e, err := Read(path, 1<<20)
	require.NoError(t, err)
	return e.Replace(change(e.Data), 0)
}

func to(text string) func([]byte) []byte { return func([]byte) []byte { return []byte(text) } }

// TestNoConcurrentWriteIsLost edits a file while another goroutine changes it as fast as
// it can, in each of the two ways in which programs write: a new file that is renamed
// into place, and a write into the same file. It reads, adds a mark, and writes.
func TestNoConcurrentWriteIsLost(t *testing.T) {
	for name, put := range map[string]func(path string, data []byte) error{
		"renamed":      renamed,
		"written over": func(path string, data []byte) error { return os.WriteFile(path, data, 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "written over" && runtime.GOOS != "linux" {
				t.Skip("skipped: only Linux has leases, which keep a program from writing to a file that is being replaced")
			}
			path := filepath.Join(t.TempDir(), "settings.json")
			require.NoError(t, os.WriteFile(path, []byte("\n"), 0o644))
			const marks = 150
			done := make(chan error, 1)
			go func() { done <- mark(path, marks, put) }()
			edited, refused := 0, 0
			for {
				switch err := edit(t, path, func(old []byte) []byte {
					_, rest, _ := bytes.Cut(old, []byte("\n"))
					return fmt.Appendf(nil, "edit %d\n%s", edited, rest)
				}); {
				case errors.Is(err, ErrChanged):
					refused++
				case err != nil && !errors.Is(err, errKept):
					require.NoError(t, err)
				default:
					edited++
				}
				select {
				case err := <-done:
					require.NoError(t, err)
					requireMarks(t, path, marks)
					// How many edits were made in between is the scheduler's matter; one without
					// another beside it is made, unless two writes at once have left a version to look at.
					err = edit(t, path, func(old []byte) []byte { return append(old, "last edit\n"...) })
					if !errors.Is(err, errKept) { // until the version that was kept is removed
						require.NoError(t, err)
					}
					requireMarks(t, path, marks)
					t.Logf("%d edits were made and %d refused", edited, refused)
					return
				default:
				}
			}
		})
	}
}

// renamed writes a new file and renames it into place.
func renamed(path string, data []byte) error {
	if err := os.WriteFile(path+".tmp", data, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// mark adds lines to the file, one at a time.
func mark(path string, n int, put func(string, []byte) error) error {
	for i := range n {
		data, err := os.ReadFile(path)
		if err == nil {
			err = put(path, fmt.Appendf(data, "mark %d\n", i))
		}
		if err != nil {
			return err
		}
		time.Sleep(100 * time.Microsecond) // so that some edits succeed
	}
	return nil
}

// requireMarks fails unless every mark is in the file or in a version that was kept.
func requireMarks(t *testing.T, path string, n int) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	kept, err := filepath.Glob(filepath.Join(filepath.Dir(path), workPrefix+"*", "*"+keptSuffix))
	require.NoError(t, err)
	for _, k := range kept {
		t.Logf("%s was kept", k)
		more, err := os.ReadFile(k)
		require.NoError(t, err)
		data = append(data, more...)
	}
	var lost []int
	for i := range n {
		if !bytes.Contains(data, fmt.Appendf(nil, "mark %d\n", i)) {
			lost = append(lost, i)
		}
	}
	require.Empty(t, lost, "these writes are lost")
}

func TestReplaceWaitsForAWriterAndRefuses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("skipped: only Linux has leases")
	}
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	e, err := Read(path, 100)
	require.NoError(t, err)
	writer, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- e.Replace([]byte("new"), 0) }()
	_, err = writer.WriteString("OLD")
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	require.ErrorIs(t, <-done, ErrChanged)
	files.Require(t, path, "OLD", 0o600)
}

// TestExchangedFileIsChecked: another program replaces the file between the last check
// and the exchange.
func TestExchangedFileIsChecked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o640))
	defer func() { exchange = (*safefile.Dir).Exchange }()
	for name, c := range map[string]struct {
		before, after func() // the first exchange
		is            error
		file, kept    string
	}{
		"replaced": {func() { renamed(path, []byte("theirs")) }, func() {
			if runtime.GOOS == "linux" {
				_, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
				assert.ErrorIs(t, err, unix.EWOULDBLOCK, "no program can read a version that is reverted")
			}
		}, ErrChanged, "theirs", ""},
		"replaced by a link": {func() { os.Remove(path); os.Symlink("x", path) }, func() {}, ErrChanged, "-> x", ""},
		"removed":            {func() { os.Remove(path) }, func() {}, ErrChanged, "none", ""},
		"replaced twice": {func() { renamed(path, []byte("theirs")) }, func() { renamed(path, []byte("newest")) },
			errKept, "newest", "theirs"},
		"written over": {func() {
			f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
			if runtime.GOOS == "linux" {
				assert.ErrorIs(t, err, unix.EWOULDBLOCK, "the lease holds")
				return
			}
			f.Close()
		}, func() {}, nil, "new", ""},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.RemoveAll(path))
			require.NoError(t, os.WriteFile(path, []byte("old"), 0o640))
			calls := 0
			exchange = func(from *safefile.Dir, name string, to *safefile.Dir, newname string) error {
				calls++
				if calls > 1 {
					return from.Exchange(name, to, newname)
				}
				c.before()
				defer c.after()
				return from.Exchange(name, to, newname)
			}
			err := edit(t, path, to("new"))
			if c.is == nil && name == "written over" && runtime.GOOS == "linux" {
				c.is, c.file = ErrChanged, "old" // a program waits to write to the old file
			}
			require.ErrorIs(t, err, c.is)
			files.RequireContent(t, path, c.file)
			if c.kept == "" {
				entries, err := os.ReadDir(filepath.Dir(path))
				require.NoError(t, err)
				require.LessOrEqual(t, len(entries), 1, "no work directory is left")
				return
			}
			kept := filepath.Join(filepath.Dir(path), workPrefix+"f", "f"+keptSuffix)
			require.ErrorContains(t, err, kept)
			files.RequireContent(t, kept, c.kept)
			require.ErrorIs(t, edit(t, path, to("new")), errKept, "until the kept version is removed")
			require.NoError(t, os.RemoveAll(filepath.Dir(kept)))
		})
	}
}

func TestUnguardedIsSetIfFilesCannotBeExchanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o640))
	exchange = func(*safefile.Dir, string, *safefile.Dir, string) error { return errors.ErrUnsupported }
	defer func() { exchange = (*safefile.Dir).Exchange }()
	e, err := Read(path, 100)
	require.NoError(t, err)
	require.NoError(t, e.Replace([]byte("new"), 0))
	require.EqualError(t, e.Unguarded, "the file system of "+path+" cannot exchange two files")
	files.Require(t, path, "new", 0o640)
	files.RequireOnly(t, filepath.Dir(path), "f")
}

func TestReplaceCreatesAndRemovesDirectories(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "a", "b", "f")
	defer syscall.Umask(syscall.Umask(0o005)) // lets the group write
	require.NoError(t, edit(t, path, to("new")))
	files.Require(t, path, "new", 0o666&^umask())
	info, err := os.Stat(filepath.Join(root, "a"))
	require.NoError(t, err)
	require.Equal(t, 0o777&^umask(), info.Mode().Perm())
	files.RequireOnly(t, root, "a")
	files.RequireOnly(t, filepath.Join(root, "a"), "b")

	e, err := Read(path, 100)
	require.NoError(t, err)
	require.NoError(t, e.Replace(nil, 2))
	files.RequireOnly(t, root)
}

func umask() fs.FileMode {
	mask := syscall.Umask(0)
	syscall.Umask(mask)
	return fs.FileMode(mask)
}

func TestReplaceDoesNotOverwriteAFileCreatedMeanwhile(t *testing.T) {
	for _, path := range []string{"f", "a/f"} {
		path := filepath.Join(t.TempDir(), path)
		e, err := Read(path, 100)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("theirs"), 0o644))
		require.ErrorIs(t, e.Replace([]byte("ours"), 0), ErrChanged)
		files.RequireContent(t, path, "theirs")
		files.RequireOnly(t, filepath.Dir(path), "f")
	}
}

// TestSweepCompletesOrRevertsAKilledEdit: a killed edit leaves a work directory with one
// of these files.
func TestSweepCompletesOrRevertsAKilledEdit(t *testing.T) {
	slot := func(old, data string) string { return slotName([]byte(old), []byte(data)) }
	for name, c := range map[string]struct {
		left, content string
		file, want    string
		is            error
	}{
		"half written":                {newName, "ne", "old", "old", nil},
		"not yet exchanged":           {slot("old", "new"), "new", "old", "old", nil},
		"exchanged":                   {slot("old", "new"), "old", "new", "new", nil},
		"another's version taken":     {slot("old", "new"), "theirs", "new", "theirs", nil},
		"another's version, replaced": {slot("old", "new"), "theirs", "newest", "newest", errKept},
		"removed":                     {slotName([]byte("old"), nil), "old", "none", "none", nil},
		"another's version removed":   {slotName([]byte("old"), nil), "theirs", "none", "theirs", nil},
		"another's version removed, and a newer one": {slotName([]byte("old"), nil), "theirs", "newest", "newest", errKept},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, work := filepath.Join(dir, "f"), filepath.Join(dir, workPrefix+"f")
			require.NoError(t, os.Mkdir(work, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(work, c.left), []byte(c.content), 0o600))
			if c.file != "none" {
				require.NoError(t, os.WriteFile(path, []byte(c.file), 0o600))
			}
			err := Sweep(path)
			files.RequireContent(t, path, c.want)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
				files.RequireContent(t, filepath.Join(work, "f"+keptSuffix), "theirs")
				return
			}
			require.NoError(t, err)
			require.NoDirExists(t, work)
		})
	}
}

func TestReplaceWaitsForAnotherEdit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("0"), 0o600))
	other, err := createWork(path, 0)
	require.NoError(t, err)
	e, err := Read(path, 100)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- e.Replace([]byte("1"), 0) }()
	other.close()
	require.NoError(t, <-done)
	files.RequireContent(t, path, "1")
}

func TestReplaceOfAFileWithALongName(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("n", 255))
	require.NoError(t, edit(t, path, to("1")))
	require.NoError(t, edit(t, path, to("2")))
	files.RequireContent(t, path, "2")
	files.RequireOnly(t, filepath.Dir(path), filepath.Base(path))
}

func TestErrorNamesAFileInPlaceOfTheWorkDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	for name, plant := range map[string]func(string) error{
		"a file": func(at string) error { return os.WriteFile(at, nil, 0o600) },
		"a link": func(at string) error { return os.Symlink(t.TempDir(), at) },
	} {
		at := filepath.Join(filepath.Dir(path), workPrefix+"f")
		require.NoError(t, plant(at))
		require.ErrorContains(t, edit(t, path, to("new")), at+": not a directory, and fsmtx did not create it; move it away", name)
		files.RequireContent(t, path, "old")
		require.NoError(t, os.Remove(at))
	}
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

// TestReplaceOfAFileThatBecameALinkChangesNeither: the link and what it leads to stay.
func TestReplaceOfAFileThatBecameALinkChangesNeither(t *testing.T) {
	dir := t.TempDir()
	path, target := filepath.Join(dir, "f"), filepath.Join(dir, "target")
	for _, data := range [][]byte{[]byte("new"), nil} {
		require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
		e, err := Read(path, 100)
		require.NoError(t, err)
		require.NoError(t, os.Rename(path, target))
		require.NoError(t, os.Symlink("target", path))
		require.ErrorIs(t, e.Replace(data, 0), ErrChanged)
		files.RequireContent(t, path, "-> target")
		files.RequireContent(t, target, "old")
		files.RequireOnly(t, dir, "f", "target")
		require.NoError(t, os.Remove(path))
	}
}

// TestAReaderOfARevertedVersionReadsTheOtherProgramsOne: a program that waited for the lease
// reads a file that has no name any more, so that file gets the content that the name has.
func TestAReaderOfARevertedVersionReadsTheOtherProgramsOne(t *testing.T) {
	defer func() { exchange = (*safefile.Dir).Exchange }()
	for _, theirs := range []string{"theirs, which is longer", "their"} {
		path := filepath.Join(t.TempDir(), "f")
		reader := path + ".reader"
		require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
		exchange = func(from *safefile.Dir, oldname string, to *safefile.Dir, newname string) error {
			exchange = (*safefile.Dir).Exchange
			defer func() { assert.NoError(t, os.Link(path, reader)) }()
			assert.NoError(t, renamed(path, []byte(theirs)))
			return from.Exchange(oldname, to, newname)
		}
		require.ErrorIs(t, edit(t, path, to("our version")), ErrChanged)
		files.RequireContent(t, path, theirs)
		files.RequireContent(t, reader, theirs)
	}
}

// TestOnlyWhatDiffersIsWritten: the content, the permissions, or nothing.
func TestOnlyWhatDiffersIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	replaced := func(mode fs.FileMode) bool {
		before, err := os.Stat(path)
		require.NoError(t, err)
		e, err := Read(path, 100)
		require.NoError(t, err)
		e.Mode = mode
		require.NoError(t, e.Replace([]byte("old"), 0))
		after, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, after.Mode().Perm())
		return !os.SameFile(before, after)
	}
	require.False(t, replaced(0o600))
	require.True(t, replaced(0o640))
	require.False(t, replaced(0o640))
}

// TestUnguardedSaysWhy.
func TestUnguardedSaysWhy(t *testing.T) {
	require.ErrorIs(t, Unguarded(safefile.ErrBusy), safefile.ErrBusy)
}

// TestSweepLeavesAForeignFileAlone: the name of a removed file ends in a dot.
func TestSweepLeavesAForeignFileAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, name := range []string{hashOf([]byte("x")), "short.name", "short."} {
		foreign := filepath.Join(filepath.Dir(path), workPrefix+"f", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(foreign), 0o700))
		require.NoError(t, os.WriteFile(foreign, []byte("x"), 0o600))
		require.NoError(t, Sweep(path))
		files.RequireContent(t, path, "none")
		files.RequireContent(t, foreign, "x")
	}
}

// TestSweepCompletesAKilledRemovalOfDirectories: the work directory is above those that the
// edit would have removed.
func TestSweepCompletesAKilledRemovalOfDirectories(t *testing.T) {
	root := t.TempDir()
	path, work := filepath.Join(root, "a", "b", "f"), filepath.Join(root, workPrefix+"a")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.Mkdir(work, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(work, slotName([]byte("old"), nil)), []byte("old"), 0o600))
	require.NoError(t, Sweep(path))
	files.RequireOnly(t, root)
}

// TestEveryVersionIsKept: a second one does not replace the first.
func TestEveryVersionIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	work := filepath.Join(filepath.Dir(path), workPrefix+"f")
	defer syscall.Umask(syscall.Umask(0))
	w, err := createWork(path, 0)
	require.NoError(t, err)
	info, err := os.Stat(work)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm(), "nobody else reads what is written")
	for i, want := range []string{"f.kept", "f.1.kept", "f.2.kept"} {
		slot := slotName([]byte("old"), []byte{byte(i)})
		require.NoError(t, os.WriteFile(filepath.Join(work, slot), []byte(want), 0o600))
		err := w.keep(slot, nil)
		require.ErrorIs(t, err, errKept)
		require.ErrorContains(t, err, filepath.Join(work, want))
	}
	w.close()
	for _, name := range []string{"f.kept", "f.1.kept", "f.2.kept"} {
		files.RequireContent(t, filepath.Join(work, name), name)
	}
}

// TestWhatKilledWritesLeftIsFoundToo, and swept by the next edit.
func TestWhatKilledWritesLeftIsFoundToo(t *testing.T) {
	dir := t.TempDir()
	dead := filepath.Join(dir, ".fsmtx-write-f")
	make := func(name string) {
		require.NoError(t, os.Mkdir(dead, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dead, name), nil, 0o600))
	}
	make(".f1")
	found, err := Leftovers(dir)
	require.NoError(t, err)
	require.Equal(t, []string{dead}, found)
	require.NoError(t, RemoveLeftover(dead))
	files.RequireOnly(t, dir)
	make("theirs")
	found, err = Leftovers(dir)
	require.NoError(t, err)
	require.Empty(t, found)
	require.NoError(t, RemoveLeftover(dead))
	require.NoError(t, os.Rename(filepath.Join(dead, "theirs"), filepath.Join(dead, ".f1")))
	require.NoError(t, Sweep(filepath.Join(dir, "f")))
	files.RequireOnly(t, dir)
	_, err = Leftovers(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// TestErrorsOfTheWorkDirectory name what is in the way, and are the cause.
func TestErrorsOfTheWorkDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.Mkdir(filepath.Join(filepath.Dir(path), workPrefix+"f"), 0o700))
	_, err := createWork(path, 0)
	require.ErrorIs(t, err, safefile.ErrBusy)
	require.ErrorContains(t, err, workPrefix+"f: ")
	w := &work{}
	w.dir, err = openPlace(path)
	require.NoError(t, err)
	w.name = workPrefix + "f"
	require.NoError(t, w.open())
	slot := slotName([]byte("old"), nil)
	err = w.keep(slot, errOwnership)
	for _, is := range []error{errKept, errOwnership, fs.ErrNotExist} {
		require.ErrorIs(t, err, is)
	}
	require.ErrorContains(t, err, path+": ")
	require.ErrorContains(t, err, filepath.Join(w.path(), slot))
	w.close()

	long := filepath.Join(filepath.Dir(path), strings.Repeat("n", 256))
	require.ErrorIs(t, (&File{Path: long, Mode: 0o600}).Replace([]byte("x"), 0), unix.ENAMETOOLONG)
	files.RequireOnly(t, filepath.Dir(path))
}

// TestReadAttribute: its size may change between two calls.
func TestReadAttribute(t *testing.T) {
	for name, c := range map[string]struct {
		answers []any // a size or an error, to each call
		want    int
		err     error
	}{
		"none":            {[]any{0}, 0, nil},
		"of three bytes":  {[]any{3, 3}, 3, nil},
		"shorter by now":  {[]any{3, 0}, 0, nil},
		"longer by now":   {[]any{3, unix.ERANGE, 5, 5}, 5, nil},
		"gone":            {[]any{unix.ENODATA}, 0, unix.ENODATA},
		"gone in between": {[]any{3, unix.ENODATA}, 0, unix.ENODATA},
	} {
		data, err := readAttribute(func(buf []byte) (int, error) {
			answer := c.answers[0]
			c.answers = c.answers[1:]
			if err, ok := answer.(unix.Errno); ok {
				return -1, err
			}
			for i := range buf {
				buf[i] = 'x'
			}
			return answer.(int), nil
		})
		require.ErrorIs(t, err, c.err, name)
		require.Equal(t, strings.Repeat("x", c.want), string(data), name)
		require.Empty(t, c.answers, name)
	}
}

// TestAWriterThatStays is waited for until the timeout, and no longer.
func TestAWriterThatStays(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("skipped: only Linux has leases")
	}
	defer func(before time.Duration) { timeout = before }(timeout)
	timeout = 20 * time.Millisecond
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	writer, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer writer.Close()
	for _, data := range [][]byte{[]byte("new"), nil} {
		e, err := Read(path, 100)
		require.NoError(t, err)
		err = e.Replace(data, 0)
		require.ErrorIs(t, err, safefile.ErrBusy)
		require.ErrorContains(t, err, "another program has had the file open for writing for 20ms")
		files.Require(t, path, "old", 0o600)
		files.RequireOnly(t, filepath.Dir(path), "f")
	}
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
		"another program's version":       {map[string]string{old + "." + next: "theirs"}, true, errKept},
		"another program's removed file":  {map[string]string{old + ".": "theirs"}, true, errKept},
		"a version that was moved aside":  {map[string]string{"f" + keptSuffix: "theirs"}, true, errKept},
		"a file that no edit creates":     {map[string]string{"notes": "theirs"}, false, nil},
		"a name that is almost a slot's":  {map[string]string{old + "x." + next: "old"}, false, nil},
		"a hash without a dot":            {map[string]string{old: "old"}, false, nil},
		"a slot with no hash at its end":  {map[string]string{old + ".x": "old"}, false, nil},
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
				files.RequireOnly(t, dir)
				return
			}
			for name, content := range c.files {
				files.RequireContent(t, filepath.Join(work, name), content)
			}
		})
	}
}

// TestTheLockOfADirectoryExcludesAnotherHolder: of the same process too, for each opens it.
func TestTheLockOfADirectoryExcludesAnotherHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	first, err := openPlace(path)
	require.NoError(t, err)
	second, err := openPlace(path)
	require.NoError(t, err)
	defer second.close()
	locked, err := first.tryLock()
	require.NoError(t, err)
	require.True(t, locked)
	_, err = second.tryLock()
	require.ErrorIs(t, err, safefile.ErrBusy)
	first.close()
	locked, err = second.tryLock()
	require.NoError(t, err)
	require.True(t, locked)
}

// TestUnwritableNamesTheFile: the person knows the file, not the directory in which it is prepared.
func TestUnwritableNamesTheFile(t *testing.T) {
	made := func(err error) error { return &fs.PathError{Op: "mkdir", Path: "/p/.claude/.fsmtx-edit-f", Err: err} }
	err := unwritable("/p/.claude/f", made(unix.EACCES))
	require.EqualError(t, err, "write /p/.claude/f: permission denied")
	require.Equal(t, "you may not write into /p/.claude: change its permissions, or run the command as its owner", hint.Of(err))
	err = unwritable("/p/.claude/f", made(unix.EROFS))
	require.EqualError(t, err, "write /p/.claude/f: read-only file system")
	require.Empty(t, hint.Of(err))
	require.NoError(t, unwritable("f", nil))
	require.ErrorIs(t, unwritable("f", safefile.ErrBusy), safefile.ErrBusy)
}
