//go:build unix

package together_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/harness/program"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// world is a home directory with a task list and skills.
type world struct {
	worlds.Home
	hooks atomic.Int64 // started so far
}

// skills are the skills of every world, with the status of each of their tasks. The
// tasks of "active" are in progress from the start.
var skills = map[string][]string{
	"three":  {"pending", "pending", "pending"},
	"one":    {"pending"},
	"five":   {"pending", "pending", "pending", "pending", "pending"},
	"active": {"in_progress", "pending"},
	"none":   {},
}

func newWorld(t *testing.T) *world { return worldIn(t, worlds.MemoryDir(t)) }

func worldIn(t *testing.T, dir string) *world {
	w := &world{Home: worlds.Home{Dir: dir}}
	require.NoError(t, os.MkdirAll(w.List(), 0o755))
	for name, statuses := range skills {
		w.AddSkill(t, name, statuses...)
	}
	return w
}

// worldWithWorkflow returns a world with task 1 of the user and the tasks 2 to 4 of
// the skill three.
func worldWithWorkflow(t *testing.T) *world {
	w := newWorld(t)
	w.addManualTask(t, 1)
	require.Len(t, w.run(t, call{skill: "three"}).created, 3)
	return w
}

func (w *world) addManualTask(t *testing.T, n int) { w.AddTask(t, n, `"status":"pending"`) }

// task is the part of a task file that the tests look at.
type task struct {
	Subject     string `json:"subject"`
	Description string `json:"description"`
	Status      string `json:"status"`
	Metadata    struct {
		FSM *string `json:"fsm"`
	} `json:"metadata"`
}

func parseTask(f worlds.File) (task, error) {
	var v task
	return v, json.Unmarshal([]byte(f.Text), &v)
}

// names returns the sorted names of the task files. Unlike Tasks it works while others
// change the list.
func (w *world) names() []string {
	entries, err := os.ReadDir(w.List())
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			names = append(names, e.Name())
		}
	}
	return names
}

// locks returns the names of the client's lock directories in the list.
func (w *world) locks(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(w.List())
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		// The file .lock is what the client locks; .lock.lock is its lock.
		if strings.HasSuffix(e.Name(), ".lock") && e.Name() != ".lock" {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names
}

// stale is the age at which the client takes a lock over.
const stale = 10 * time.Second

// leftovers returns what would disturb the next process: fresh locks, and a journal.
func (w *world) leftovers(t *testing.T) (problems []string) {
	t.Helper()
	for _, name := range w.locks(t) {
		if age := age(w.InList(name)); age < stale {
			problems = append(problems, name+" is still held, for "+age.String())
		}
	}
	if _, err := os.Lstat(filepath.Join(w.StateDir(), "journal")); err == nil {
		problems = append(problems, "a journal is left to recover")
	}
	return problems
}

// age returns the age of a file, or an hour if the file has just been removed.
func age(path string) time.Duration {
	info, err := os.Lstat(path)
	if err != nil {
		return time.Hour
	}
	return time.Since(info.ModTime())
}

// roleVariable names the environment variable that holds the role of this program in
// a child process.
const roleVariable = "FSMTX_TEST_ROLE"

// raceOptions passes on the options of the race detector: by default each process
// sleeps for a second when it ends.
var raceOptions = "GORACE=" + os.Getenv("GORACE")

// roles are what this program may be instead of the tests.
var roles = map[string]func(){
	"scripted hook": func() { os.Exit(runScriptedHook()) },
}

func TestMain(m *testing.M) {
	if role := roles[os.Getenv(roleVariable)]; role != nil {
		role()
	}
	callers.Forget()
	os.Exit(program.Run(m))
}
