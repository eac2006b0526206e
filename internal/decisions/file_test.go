package decisions

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
)

func lines(t *testing.T, path string) (all []Record) {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range bytes.Lines(data) {
		var r Record
		require.NoError(t, json.Unmarshal(line, &r), "%s", line)
		all = append(all, r)
	}
	return all
}

func TestAppendAddsALineForEachRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := File{Path: path}
	require.NoError(t, l.Append())
	assert.NoFileExists(t, path)
	require.NoError(t, l.Append(Record{Workflow: "a"}, Record{Workflow: "\xff\x1b[2J"}))
	got := lines(t, path)
	require.Len(t, got, 2)
	assert.Equal(t, Record{Version: Version, Workflow: "a"}, got[0])
	assert.Equal(t, "\ufffd\x1b[2J", got[1].Workflow)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "\x1b")
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
}

func TestAppendRotatesAFullFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for i := range 7 {
		require.NoError(t, File{Path: path, Max: 100}.Append(Record{Step: int64(i), Why: strings.Repeat("x", 100)}))
	}
	for name, want := range map[string]int64{"": 6, ".1": 5, ".2": 4, ".3": 3} {
		got := lines(t, path+name)
		require.Len(t, got, 1, name)
		assert.Equal(t, want, got[0].Step, name)
	}
	assert.NoFileExists(t, path+".4")
}

// TestACrashBetweenTwoRenamesLosesNoFile: the gap that it leaves is where the renames of the next
// rotation end.
func TestACrashBetweenTwoRenamesLosesNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for i, name := range []string{"", ".2", ".3"} {
		require.NoError(t, File{Path: path + name}.Append(Record{Step: int64(i), Why: strings.Repeat("x", 100)}))
	}
	require.NoError(t, File{Path: path, Max: 100}.Append(Record{Step: 9}))
	for name, want := range map[string]int64{"": 9, ".1": 0, ".2": 1, ".3": 2} {
		assert.Equal(t, want, lines(t, path+name)[0].Step, name)
	}
}

func TestALinkIsNotRotatedButItsFile(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "var"), 0o700))
	target, link := filepath.Join(dir, "var", "log"), filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(target, link))
	for i := range 2 {
		require.NoError(t, File{Path: link, Max: 1}.Append(Record{Step: int64(i)}))
	}
	assert.Equal(t, int64(1), lines(t, target)[0].Step)
	assert.Equal(t, int64(0), lines(t, target+".1")[0].Step)
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink)
}

func TestAFileThatCannotBeRotatedStillGetsTheLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.MkdirAll(path+".1/x", 0o700))
	require.NoError(t, File{Path: path, Keep: 1}.Append(Record{Step: 1}))
	err := File{Path: path, Keep: 1, Max: 1}.Append(Record{Step: 2})
	require.ErrorContains(t, err, "cannot be rotated")
	assert.Contains(t, err.Error(), "remove "+path+".1")
	assert.Len(t, lines(t, path), 2)
}

// TestNoLineIsLostOrMixed: many writers append while the file is rotated.
func TestNoLineIsLostOrMixed(t *testing.T) {
	const writers, each = 8, 25
	path := filepath.Join(t.TempDir(), "log")
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				assert.NoError(t, File{Path: path, Max: 4000, Keep: 1000}.Append(Record{Why: fmt.Sprint(w, " ", i), Note: strings.Repeat("x", 300)}))
			}
		})
	}
	all.Wait()
	files, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	assert.Greater(t, len(files), 1, "it was rotated")
	seen := map[string]bool{}
	for _, file := range files {
		for _, r := range lines(t, file) {
			assert.False(t, seen[r.Why])
			seen[r.Why] = true
		}
	}
	assert.Len(t, seen, writers*each)
}

func TestATornLineDoesNotTakeTheNextOneWithIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(path, []byte(`{"time":"2026-`), 0o600))
	require.NoError(t, File{Path: path}.Append(Record{Step: 1}, Record{Step: 2}))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	all := strings.Split(string(data), "\n")
	require.Len(t, all, 4)
	assert.Equal(t, `{"time":"2026-`, all[0])
	assert.Contains(t, all[1], `"step":1`)
	assert.Contains(t, all[2], `"step":2`)
}

func TestAFileThatIsNoLogIsLeftAlone(t *testing.T) {
	for _, text := range []string{"export PATH\n", "{}\n", "\n", `{"times": 1}`} {
		path := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		err := File{Path: path, Max: 1}.Append(Record{})
		require.ErrorIs(t, err, errNotLog, text)
		assert.Contains(t, err.Error(), path)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, text, string(data))
		assert.NoFileExists(t, path+".1")
	}
}

func TestAppendToAPipe(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, files.Mkfifo(fifo, 0o600))
	require.ErrorIs(t, File{Path: fifo}.Append(Record{}), syscall.ENXIO, "nobody reads it")
	require.NoError(t, File{Path: os.DevNull}.Append(Record{}))
	fd, err := syscall.Open(fifo, syscall.O_RDWR|syscall.O_NONBLOCK, 0)
	require.NoError(t, err)
	defer syscall.Close(fd)
	require.NoError(t, File{Path: fifo}.Append(Record{}), "the pipe is not full")
	for err == nil {
		_, err = syscall.Write(fd, []byte("x"))
	}
	require.ErrorIs(t, err, syscall.EAGAIN)
	require.Error(t, File{Path: fifo}.Append(Record{}), "it does not block on a pipe whose reader does not read")
}

func TestPath(t *testing.T) {
	assert.Equal(t, "/h/x", Path("~/x", "/h"))
	assert.Equal(t, "~/x", Path("~/x", ""))
	assert.Equal(t, "~x", Path("~x", "/h"))
}
