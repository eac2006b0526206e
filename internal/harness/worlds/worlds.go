// Package worlds builds home directories with skills and a task list for tests, and
// reads task lists in the form in which tests compare them.
//
// It reads the client's files by their layout and uses no code of the program, so that
// tests see what is on the disk and not how the program interprets it.
package worlds

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// TB is the part of testing.TB that rapid's tests have too.
type TB interface {
	require.TestingT
	Cleanup(func())
}

// MemoryDir returns a new directory that is removed after the test. Where the system has
// /dev/shm it is in memory: syncing is fast there, and the order of the calls is the same.
func MemoryDir(t TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "fsmtx-test-")
	if err != nil {
		dir, err = os.MkdirTemp("", "fsmtx-test-")
	}
	require.NoError(t, err)
	dir, err = filepath.Abs(dir) // on Windows with its drive
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Home is a home directory with one task list, whose ID is "list".
type Home struct{ Dir string }

// ListID is the ID of the task list, which is also the session's.
const ListID = "list"

// New creates an empty home in memory, without a task list.
func New(t TB) Home { return Home{MemoryDir(t)} }

// Path returns the path of a file in the home.
func (h Home) Path(name string) string { return filepath.Join(h.Dir, name) }

// List returns the directory of the task list.
func (h Home) List() string { return h.Path(".claude/tasks/" + ListID) }

// InList returns the path of a file in the task list.
func (h Home) InList(name string) string { return filepath.Join(h.List(), name) }

// StateDir returns the state directory of the task list.
func (h Home) StateDir() string { return h.Path(".claude/tasks/." + ListID + ".fsmtx") }

// Env is the environment of a hook in this home: HOME and nothing else.
func (h Home) Env(name string) (string, bool) {
	if name == "HOME" {
		return h.Dir, true
	}
	return "", false
}

// Write writes a file and its missing directories.
func (h Home) Write(t TB, name, text string) {
	require.NoError(t, os.MkdirAll(filepath.Dir(h.Path(name)), 0o755))
	require.NoError(t, os.WriteFile(h.Path(name), []byte(text), 0o644))
}

// AddSkill creates a skill whose workflow has one task for each status. Each task is
// blocked by the one before it.
func (h Home) AddSkill(t TB, name string, statuses ...string) {
	tasks := make([]string, len(statuses))
	for i, status := range statuses {
		blockedBy := ""
		if i > 0 {
			blockedBy = strconv.Itoa(i)
		}
		tasks[i] = fmt.Sprintf(`{"id":%d,"subject":"%s %d","status":%q,"blockedBy":[%s]}`, i+1, name, i+1, status, blockedBy)
	}
	h.Write(t, ".claude/skills/"+name+"/fsm.json", "["+strings.Join(tasks, ",")+"]")
}

// longAgo is the mtime of task 0 of AddTask, in seconds.
const longAgo = 1700000000

// AddTask puts task n into the list as the client writes it, with further members
// such as `"status":"pending"`. Its mode and its old mtime show whether it is touched.
func (h Home) AddTask(t TB, n int, members string) {
	path := h.InList(TaskName(n))
	text := fmt.Sprintf(`{"id":"%d","subject":"task %d","description":"","blocks":[],"blockedBy":[],%s}`, n, n, members)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o640))
	require.NoError(t, os.Chtimes(path, time.Time{}, time.Unix(longAgo+int64(n), 0)))
}

// TaskName returns the name of the file of task n.
func TaskName(n int) string { return strconv.Itoa(n) + ".json" }

// TaskNumber returns the number in the name of a task's file, or 0 if the name has none.
func TaskNumber(name string) int {
	n, _ := strconv.Atoi(strings.TrimSuffix(name, ".json"))
	return n
}

// File is the state of a task file. Equal states mean that nothing has touched the file.
type File struct {
	Text  string
	Inode uint64
	Mode  fs.FileMode
	MTime int64 // nanoseconds
}

// Tasks returns the task files of the home's list by name.
func (h Home) Tasks(t require.TestingT) map[string]File { return Tasks(t, h.List()) }

// Tasks returns the task files of a list by name, none if the list does not exist.
// Locks and the high-water mark are not among them.
func Tasks(t require.TestingT, list string) map[string]File {
	files := map[string]File{}
	entries, err := os.ReadDir(list)
	if errors.Is(err, fs.ErrNotExist) {
		return files
	}
	require.NoError(t, err)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		info, err := safefile.Unheld.Lstat(filepath.Join(list, e.Name()))
		require.NoError(t, err)
		_, inode, _ := safefile.IdentityOf(info)
		data, err := os.ReadFile(filepath.Join(list, e.Name()))
		require.NoError(t, err)
		files[e.Name()] = File{string(data), inode, info.Mode(), info.ModTime().UnixNano()}
	}
	return files
}

// Names returns the sorted keys.
func Names[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
