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

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "1.json", task(manualTask, "1.json"))
	write(t, dir, "2.json", task(taggedTask, "2.json"))
	write(t, dir, "3.json", `{"id": "3", "subj`)
	write(t, dir, "4.json", "")
	write(t, dir, "5.json", task(taggedTask, "5.json"))
	write(t, dir, ".8.json", task(taggedTask, "8"))
	write(t, dir, ".highwatermark", "6")
	snap, torn, err := ClientForm{}.Read(t.Context(), vfs.OS{}, dir)
	require.NoError(t, err)
	assert.EqualValues(t, 5, snap.MaxID)
	assert.Equal(t, "5.json", snap.MaxName)
	assert.EqualValues(t, 6, snap.HighWater)
	assert.ElementsMatch(t, []string{"2.json", "5.json"}, namesOf(snap.Tasks))
	assert.Equal(t, []string{"3.json", "4.json"}, torn)
}

func TestReadOfAListWithoutNumbers(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "abc.json", task(manualTask, "abc.json"))
	snap, _, err := ClientForm{}.Read(t.Context(), vfs.OS{}, dir)
	require.NoError(t, err)
	assert.Zero(t, snap.MaxID)
	assert.Empty(t, snap.MaxName)
}

func TestAbsentListIsEmpty(t *testing.T) {
	snap, torn, err := ClientForm{}.Read(t.Context(), vfs.OS{}, filepath.Join(t.TempDir(), "list"))
	require.NoError(t, err)
	assert.Zero(t, snap)
	assert.Empty(t, torn)
	named, err := ClientForm{}.ReadNamed(t.Context(), vfs.OS{}, filepath.Join(t.TempDir(), "list"), []string{"1.json"})
	require.NoError(t, err)
	assert.Empty(t, named)
}

// TestReadManyTasks reads a list that several goroutines share.
func TestReadManyTasks(t *testing.T) {
	dir := t.TempDir()
	for n := range 5 * filesPerReader / 2 {
		name := fmt.Sprintf("%d.json", n+1)
		write(t, dir, name, task(taggedTask, name))
	}
	snap, torn, err := ClientForm{}.Read(t.Context(), vfs.OS{}, dir)
	require.NoError(t, err)
	assert.Len(t, snap.Tasks, 5*filesPerReader/2)
	assert.EqualValues(t, 5*filesPerReader/2, snap.MaxID)
	assert.Empty(t, torn)
}

// TestReadTasksOfEverySize: files reuse one buffer, and a file may fill it exactly or
// need several reads.
func TestReadTasksOfEverySize(t *testing.T) {
	dir := t.TempDir()
	var names []string
	const readAhead = 4096 // of safefile.ReadInto
	for i, size := range []int{200, readAhead - 1, readAhead, readAhead + 1, 5 * readAhead, 1 << 20, 300} {
		name := fmt.Sprintf("%d.json", i+1)
		text := task(taggedTask, name)
		write(t, dir, name, strings.Repeat(" ", size-len(text))+text)
		names = append(names, name)
	}
	snap, torn, err := ClientForm{}.Read(t.Context(), vfs.OS{}, dir)
	require.NoError(t, err)
	assert.ElementsMatch(t, names, namesOf(snap.Tasks))
	assert.Empty(t, torn)
}

// TestOnlyRegularFilesAreRead: the names of others count, and reading a pipe does not
// block.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	write(t, elsewhere, "task", task(taggedTask, "1"))
	require.NoError(t, os.Symlink(filepath.Join(elsewhere, "task"), filepath.Join(dir, "1.json")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "2.json"), 0o755))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "3.json"), 0o644))
	snap, torn, err := ClientForm{}.Read(t.Context(), vfs.OS{}, dir)
	require.NoError(t, err)
	assert.EqualValues(t, 3, snap.MaxID)
	assert.Empty(t, snap.Tasks)
	assert.Empty(t, torn)
}

func TestFileThatIsTooLargeIsNotRead(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int64{"1.json": maxTaskBytes, "2.json": maxTaskBytes + 1} {
		write(t, dir, name, "")
		require.NoError(t, os.Truncate(filepath.Join(dir, name), size))
	}
	_, torn, err := ClientForm{}.Read(t.Context(), vfs.OS{}, dir)
	require.NoError(t, err)
	assert.Equal(t, []string{"1.json"}, torn)
}

func TestNameThatIsNotUTF8CountsAndIsNotRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "7\xff.json"), []byte(task(taggedTask, "7")), 0o644); err != nil {
		t.Skip("this file system accepts only names in UTF-8: ", err)
	}
	snap, _, err := ClientForm{}.Read(t.Context(), vfs.OS{}, dir)
	require.NoError(t, err)
	assert.EqualValues(t, 7, snap.MaxID)
	assert.Empty(t, snap.Tasks)
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
