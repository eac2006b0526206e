package together_test

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
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

// world is a home directory with a task list and skills.
type world struct {
	home   string
	skills map[string][]string // the status of each task of each skill
	calls  atomic.Int64
}

// plain is what most tests hydrate: skills of several sizes, one of which is
// under way as soon as it is there.
var plain = map[string][]string{
	"three":  {"pending", "pending", "pending"},
	"one":    {"pending"},
	"five":   {"pending", "pending", "pending", "pending", "pending"},
	"active": {"in_progress", "pending"},
	"none":   {},
}

const longAgo = 1700000000

// newWorld makes a world in memory: syncing costs nothing there, and the order of
// what happens is the same.
func newWorld(t *testing.T) *world { return worldIn(t, memoryDir(t)) }

func worldIn(t *testing.T, home string) *world {
	w := &world{home: home, skills: plain}
	require.NoError(t, os.MkdirAll(w.list(), 0o755))
	for name, statuses := range w.skills {
		w.write(t, ".claude/skills/"+name+"/fsm.json", spec(name, statuses))
	}
	return w
}

func memoryDir(t *testing.T) string {
	if dir, err := os.MkdirTemp("/dev/shm", "fsmtx-test-"); err == nil {
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		return dir
	}
	return t.TempDir()
}

// spec is an fsm.json in which each task waits for the one before it.
func spec(name string, statuses []string) string {
	tasks := make([]string, len(statuses))
	for i, status := range statuses {
		waits := ""
		if i > 0 {
			waits = strconv.Itoa(i)
		}
		tasks[i] = fmt.Sprintf(`{"id":%d,"subject":"%s %d","status":%q,"blockedBy":[%s]}`, i+1, name, i+1, status, waits)
	}
	return "[" + strings.Join(tasks, ",") + "]"
}

func (w *world) write(t *testing.T, name, text string) {
	path := filepath.Join(w.home, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func (w *world) list() string    { return filepath.Join(w.home, ".claude/tasks/list") }
func (w *world) sibling() string { return filepath.Join(w.home, ".claude/tasks/.list.fsmtx") }

func (w *world) at(name string) string { return filepath.Join(w.list(), name) }

// manual puts a task of the user into the list, as the client writes it, with an
// age that shows whether anybody touched it.
func (w *world) manual(t *testing.T, n int) {
	text := fmt.Sprintf(`{"id":"%d","subject":"by hand %d","description":"","status":"pending","blocks":[],"blockedBy":[]}`, n, n)
	require.NoError(t, os.WriteFile(w.at(taskName(n)), []byte(text), 0o640))
	require.NoError(t, os.Chtimes(w.at(taskName(n)), time.Time{}, time.Unix(longAgo+int64(n), 0)))
}

func taskName(n int) string { return strconv.Itoa(n) + ".json" }

func taskID(name string) int {
	n, _ := strconv.Atoi(strings.TrimSuffix(name, ".json"))
	return n
}

// file is a file of the list as it is.
type file struct {
	text  string
	inode uint64
	mode  fs.FileMode
	mtime int64
}

// task is what the tests want to know of a task file.
type task struct {
	Subject     string `json:"subject"`
	Description string `json:"description"`
	Status      string `json:"status"`
	Metadata    struct {
		FSM *string `json:"fsm"`
	} `json:"metadata"`
}

func (f file) task() (task, error) {
	var v task
	return v, json.Unmarshal([]byte(f.text), &v)
}

// files returns the task files. Locks and the high-water mark are no part of it.
func (w *world) files(t *testing.T) map[string]file {
	t.Helper()
	m := map[string]file{}
	entries, err := os.ReadDir(w.list())
	if errors.Is(err, fs.ErrNotExist) {
		return m
	}
	require.NoError(t, err)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		info, err := e.Info()
		require.NoError(t, err)
		data, err := os.ReadFile(w.at(e.Name()))
		require.NoError(t, err)
		m[e.Name()] = file{string(data), info.Sys().(*syscall.Stat_t).Ino, info.Mode(), info.ModTime().UnixNano()}
	}
	return m
}

// names returns the names of the task files, also while others change the list.
func (w *world) names() []string {
	entries, err := os.ReadDir(w.list())
	if err != nil {
		return nil
	}
	var list []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			list = append(list, e.Name())
		}
	}
	return list
}

func (w *world) sortedNames() []string { return slices.Sorted(slices.Values(w.names())) }

// env is the environment of a hook inside this process.
func (w *world) env(name string) (string, bool) {
	v, ok := map[string]string{"HOME": w.home}[name]
	return v, ok
}

// locks returns the names of the client's locks that are in the list.
func (w *world) locks(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(w.at("*.lock"))
	require.NoError(t, err)
	hidden, err := filepath.Glob(w.at(".*.lock"))
	require.NoError(t, err)
	list := append(found, hidden...)
	for i := range list {
		list[i] = filepath.Base(list[i])
	}
	list = slices.DeleteFunc(list, func(name string) bool { return name == ".lock" })
	slices.Sort(list)
	return slices.Compact(list)
}

// age of a file that has just gone is a long one.
func age(path string) time.Duration {
	info, err := os.Lstat(path)
	if err != nil {
		return time.Hour
	}
	return time.Since(info.ModTime())
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
