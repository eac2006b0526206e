package tasks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

const (
	manualTask = `{"id":"%s","subject":"by hand","description":"","status":"pending","blocks":[],"blockedBy":[]}`
	taggedTask = `{"id":"%s","subject":"a","description":"","status":"pending","blocks":[],"blockedBy":[],"metadata":{"fsm":"skill"}}`
)

func task(form, name string) string { return fmt.Sprintf(form, strings.TrimSuffix(name, ".json")) }

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

func namesOf(tagged []fsmspec.Existing) []string {
	names := []string{}
	for _, e := range tagged {
		names = append(names, ClientForm{}.Name(e.ID))
	}
	return names
}

// TestRead: files that are not regular are not read, and reading a pipe does not block, but their names count.
func TestRead(t *testing.T) {
	const readAhead = 4096 // of safefile.ReadInto, whose buffer all files of a reader share
	sizes := []int{200, readAhead - 1, readAhead, readAhead + 1, 5 * readAhead, 1 << 20, 300}
	const many = 5 * filesPerReader / 2 // which several goroutines share
	tagged := func(dir string, n, size int) {
		name := fmt.Sprintf("%d.json", n)
		text := task(taggedTask, name)
		write(t, dir, name, strings.Repeat(" ", max(size-len(text), 0))+text)
	}
	numbered := func(n int) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprintf("%d.json", i+1))
		}
		return names
	}
	for name, c := range map[string]struct {
		lay  func(dir string) error
		want fsmspec.Snapshot // but for the tasks
		read []string         // the tasks of workflows
		torn []string
	}{
		"all kinds": {func(dir string) error {
			write(t, dir, "1.json", task(manualTask, "1.json"))
			tagged(dir, 2, 0)
			write(t, dir, "3.json", `{"id": "3", "subj`)
			write(t, dir, "4.json", "")
			tagged(dir, 5, 0)
			write(t, dir, ".8.json", task(taggedTask, "8"))
			write(t, dir, ".highwatermark", "6")
			return nil
		}, fsmspec.Snapshot{MaxID: 5, MaxName: "5.json", HighWater: 6, MarkName: highWaterName}, []string{"2.json", "5.json"},
			[]string{"3.json", "4.json"}},
		"no numbers": {func(dir string) error { write(t, dir, "abc.json", task(manualTask, "abc.json")); return nil },
			fsmspec.Snapshot{}, nil, nil},
		"no list": {os.Remove, fsmspec.Snapshot{}, nil, nil},
		"many": {func(dir string) error {
			for n := range many {
				tagged(dir, n+1, 0)
			}
			return nil
		}, fsmspec.Snapshot{MaxID: many, MaxName: fmt.Sprintf("%d.json", many)}, numbered(many), nil},
		"of every size": {func(dir string) error {
			for i, size := range sizes {
				tagged(dir, i+1, size)
			}
			return nil
		}, fsmspec.Snapshot{MaxID: 7, MaxName: "7.json"}, numbered(len(sizes)), nil},
		"not regular": {func(dir string) error {
			write(t, dir, "task", task(taggedTask, "1"))
			return errors.Join(os.Symlink("task", dir+"/1.json"), os.Mkdir(dir+"/2.json", 0o755), files.Mkfifo(dir+"/3.json", 0o644))
		}, fsmspec.Snapshot{MaxID: 3, MaxName: "3.json"}, nil, nil},
		"too large": {func(dir string) error {
			write(t, dir, "1.json", "")
			write(t, dir, "2.json", "")
			return errors.Join(os.Truncate(dir+"/1.json", maxTaskBytes), os.Truncate(dir+"/2.json", maxTaskBytes+1))
		}, fsmspec.Snapshot{MaxID: 2, MaxName: "2.json"}, nil, []string{"1.json"}},
		"a name that is not UTF-8": {func(dir string) error {
			return os.WriteFile(dir+"/7\xff.json", []byte(task(taggedTask, "7")), 0o644)
		}, fsmspec.Snapshot{MaxID: 7, MaxName: "7\xff.json"}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := c.lay(dir); err != nil {
				t.Skip("this file system accepts only other names: ", err)
			}
			snap, torn, err := ClientForm{}.Read(t.Context(), vfs.OS{}, dir)
			require.NoError(t, err)
			assert.ElementsMatch(t, c.read, namesOf(snap.Tasks))
			assert.ElementsMatch(t, c.torn, torn)
			snap.Tasks = nil
			assert.Equal(t, c.want, snap)
		})
	}
	named, err := ClientForm{}.ReadNamed(t.Context(), vfs.OS{}, filepath.Join(t.TempDir(), "list"), []string{"1.json"})
	require.NoError(t, err)
	assert.Empty(t, named)
}

func TestReadStopsWhenTheContextIsDone(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "1.json", task(manualTask, "1"))
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("cause")
	cancel(cause)
	_, _, err := ClientForm{}.Read(ctx, vfs.OS{}, dir)
	require.ErrorIs(t, err, cause)
}

func TestReadReturnsErrorsOfTheFileSystem(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "file", "")
	_, _, err := ClientForm{}.Read(t.Context(), vfs.OS{}, filepath.Join(dir, "file"))
	require.ErrorIs(t, err, syscall.ENOTDIR)
	_, err = ClientForm{}.ReadNamed(t.Context(), vfs.OS{}, filepath.Join(dir, "file", "list"), nil)
	require.ErrorIs(t, err, syscall.ENOTDIR)
	_, err = ClientForm{}.ReadNamed(t.Context(), vfs.OS{}, filepath.Join(dir, "file"), []string{"1.json"})
	require.ErrorIs(t, err, syscall.ENOTDIR)
	require.ErrorContains(t, err, "/file: ")

	broken := &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(faultfs.Step) error { return syscall.EIO }}
	_, _, err = ClientForm{}.Read(t.Context(), broken, dir)
	require.ErrorIs(t, err, syscall.EIO, "the high-water mark cannot be read")
}

// deleting is a file system on which the client deletes task 7 right before or right
// after the high-water mark is read.
type deleting struct {
	vfs.OS
	dir   string
	after bool
}

func (d deleting) ReadFile(name string) ([]byte, error) {
	if filepath.Base(name) != highWaterName {
		return d.OS.ReadFile(name)
	}
	if !d.after {
		d.delete()
	}
	data, err := d.OS.ReadFile(name)
	if d.after {
		d.delete()
	}
	return data, err
}

func (d deleting) delete() {
	_ = os.WriteFile(filepath.Join(d.dir, highWaterName), []byte("7"), 0o644)
	_ = os.Remove(filepath.Join(d.dir, "7.json"))
}

// TestReadSeesAnIDThatIsBeingDeleted: if the client deletes the task with the largest id
// during Read, the id is in the names or in the mark.
func TestReadSeesAnIDThatIsBeingDeleted(t *testing.T) {
	for _, after := range []bool{false, true} {
		dir := t.TempDir()
		write(t, dir, "6.json", "{}")
		write(t, dir, "7.json", "{}")
		snap, _, err := ClientForm{}.Read(t.Context(), deleting{dir: dir, after: after}, dir)
		require.NoError(t, err)
		assert.EqualValues(t, 7, max(snap.MaxID, snap.HighWater), "deleted after the mark is read: %v", after)
	}
}

// TestEach reads regular files and skips the rest.
func TestEach(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "1.json", "one")
	write(t, dir, "2.json", "two")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "3.json"), 0o755))
	got := map[int]string{}
	use := func(i int, data []byte) { got[i] = string(data) }
	require.NoError(t, ClientForm{}.Each(dir, []string{"absent.json", "2.json", "3.json", "1.json"}, use))
	assert.Equal(t, map[int]string{1: "two", 3: "one"}, got)

	require.NoError(t, ClientForm{}.Each(filepath.Join(dir, "absent"), []string{"1.json"}, use))
	require.ErrorIs(t, ClientForm{}.Each(filepath.Join(dir, "1.json"), []string{"1.json"}, use), syscall.ENOTDIR)
}

func TestNamesInARemovedListAreEmpty(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "list")
	require.NoError(t, os.Mkdir(dir, 0o755))
	d, err := os.Open(dir)
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, os.Remove(dir))
	names, err := namesIn(d)
	require.NoError(t, err)
	assert.Empty(t, names)
}
