package crash_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/crash"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/recovery"
	"github.com/fsmtx/fsmtx/txn"
)

// TestMain lets this program play the process that dies: started with
// FSMTX_TEST_DIE_AT it hydrates the home it is given and is killed at that step.
func TestMain(m *testing.M) {
	if at := os.Getenv("FSMTX_TEST_DIE_AT"); at != "" {
		n, err := strconv.Atoi(at)
		if err == nil {
			w := &world{home: os.Getenv("HOME")}
			_, err = w.hydrate("first", crash.Kill(txn.OS{}, n))
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(map[bool]int{true: 0, false: 1}[err == nil])
	}
	os.Exit(m.Run())
}

// world is a home directory with a task list and two skills.
type world struct{ home string }

const longAgo = 1700000000

type death struct {
	name    string
	absent  bool
	manual  int // tasks of the user
	tagged  int // tasks of a workflow before
	creates int // tasks of the skill
	history int
	every   int // try every nth step only
}

var deaths = []death{
	{name: "into an empty list", creates: 3, every: 1},
	{name: "list absent", absent: true, creates: 3, every: 1},
	{name: "replace one by one", manual: 1, tagged: 1, creates: 1, every: 1},
	{name: "replace three by three", manual: 1, tagged: 3, creates: 3, every: 1},
	{name: "delete only", manual: 1, tagged: 2, every: 1},
	{name: "create beside manual tasks", manual: 2, creates: 1, every: 1},
	{name: "history full", tagged: 1, creates: 1, history: txn.DefaultHistory, every: 3},
	{name: "fifty by fifty", manual: 1, tagged: 50, creates: 50, every: 29},
}

func (d death) world(t *testing.T) *world {
	w := &world{home: memoryDir(t)}
	list := w.list()
	require.NoError(t, os.MkdirAll(filepath.Dir(list), 0o755))
	if !d.absent {
		require.NoError(t, os.Mkdir(list, 0o755))
	}
	w.skill(t, "first", d.creates)
	w.skill(t, "second", 2)
	w.skill(t, "filler", 1)
	for range d.history {
		_, err := w.hydrate("filler", nil)
		require.NoError(t, err)
	}
	for i := range d.manual {
		w.task(t, 900+i, `"status":"pending"`)
	}
	for i := range d.tagged {
		w.task(t, 1000+i, `"status":"in_progress","metadata":{"fsm":"first"}`)
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

func (w *world) list() string { return filepath.Join(w.home, ".claude/tasks/list") }

func (w *world) skill(t *testing.T, name string, tasks int) {
	dir := filepath.Join(w.home, ".claude/skills", name)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	entries := make([]string, tasks)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"id":%d,"subject":"%s %d"}`, i+1, name, i+1)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "fsm.json"), []byte("["+strings.Join(entries, ",")+"]"), 0o644))
}

func (w *world) task(t *testing.T, n int, rest string) {
	path := filepath.Join(w.list(), fmt.Sprintf("%d.json", n))
	text := fmt.Sprintf(`{"id":"%d","subject":"old %d","description":"","blocks":[],"blockedBy":[],%s}`, n, n, rest)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o640))
	require.NoError(t, os.Chtimes(path, time.Time{}, time.Unix(longAgo+int64(n), 0)))
}

func (w *world) env(name string) (string, bool) {
	v, ok := map[string]string{"HOME": w.home}[name]
	return v, ok
}

func (w *world) hydrate(skill string, files txn.FS) (hydrate.Result, error) {
	return hydrate.Run(context.Background(), hydrate.Request{Event: "PostToolUse", Session: "list", Command: skill}, w.env,
		hydrate.Options{LockTimeout: 5 * time.Second, FS: files})
}

// file is what a task file is known by.
type file struct {
	text  string
	inode uint64
	mode  fs.FileMode
	mtime int64
}

// tasks returns the task files of the list as they are. Locks and the high-water
// mark are no part of it.
func (w *world) tasks(t *testing.T) map[string]file {
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
		data, err := os.ReadFile(filepath.Join(w.list(), e.Name()))
		require.NoError(t, err)
		m[e.Name()] = file{string(data), info.Sys().(*syscall.Stat_t).Ino, info.Mode(), info.ModTime().UnixNano()}
	}
	return m
}

func names(m map[string]file) []string { return slices.Sorted(maps.Keys(m)) }

// steps returns the names of the steps of an undisturbed hydration.
func (d death) steps(t *testing.T) []string {
	var all []string
	_, err := d.world(t).hydrate("first", crash.Freeze(txn.OS{}, 1<<30, func(s crash.Step) { all = append(all, s.String()) }))
	require.NoError(t, err)
	return all
}

// kill has a process of its own hydrate and be killed ahead of step n.
func (w *world) kill(t *testing.T, n int) {
	c := exec.Command(os.Args[0])
	c.Env = []string{"HOME=" + w.home, "FSMTX_TEST_DIE_AT=" + strconv.Itoa(n)}
	out, err := c.CombinedOutput()
	died, ok := errors.AsType[*exec.ExitError](err)
	require.True(t, ok && died.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL, "step %d: %v: %s", n, err, out)
}

// gap holds a list that nobody has recovered yet against what the documentation
// says a reader may see: never fewer tasks than before or than after.
func gap(t *testing.T, before, seen map[string]file, created []string) {
	hasAll := func(want []string) bool {
		return !slices.ContainsFunc(want, func(name string) bool { _, ok := seen[name]; return !ok })
	}
	after := append(slices.DeleteFunc(names(before), func(n string) bool { return strings.Contains(before[n].text, `"fsm"`) }), created...)
	assert.True(t, hasAll(names(before)) || hasAll(after), "a reader sees %v", names(seen))
}

// settled holds a recovered list against the contract.
func settled(t *testing.T, before, got map[string]file, created []string) {
	if len(created) > 0 && slices.ContainsFunc(created, func(n string) bool { _, ok := got[n]; return ok }) || len(created) == 0 && len(got) < len(before) {
		want := append(slices.DeleteFunc(names(before), func(n string) bool { return strings.Contains(before[n].text, `"fsm"`) }), created...)
		slices.Sort(want)
		assert.Equal(t, want, names(got), "neither before nor after")
		for name := range before {
			if f, ok := got[name]; ok {
				assert.Equal(t, before[name], f, "%s stayed, but not as it was", name)
			}
		}
		return
	}
	assert.Equal(t, before, got, "before, but not as it was")
}

func (d death) created(before map[string]file) []string {
	base := 0
	for name := range before {
		n, _ := strconv.Atoi(strings.TrimSuffix(name, ".json"))
		base = max(base, n)
	}
	if d.history > 0 {
		base = max(base, d.history)
	}
	var list []string
	for i := range d.creates {
		list = append(list, fmt.Sprintf("%d.json", base+i+1))
	}
	return list
}

// TestProcessDeath kills a hydration ahead of every step and continues in three
// ways: by recover, by the next hydration, and by one of another skill.
func TestProcessDeath(t *testing.T) {
	for _, d := range deaths {
		t.Run(strings.ReplaceAll(d.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			steps := d.steps(t)
			for n := 0; n < len(steps); n += d.every {
				d.recovered(t, n, steps[n])
				d.hydrated(t, n, steps[n], []string{"first", "second"}[n%2])
			}
		})
	}
}

func (d death) recovered(t *testing.T, n int, step string) {
	w := d.world(t)
	before := w.tasks(t)
	w.kill(t, n)
	gap(t, before, w.tasks(t), d.created(before))
	r := recovery.List(context.Background(), w.list(), 5*time.Second, recovery.Options{})
	assert.NotEqual(t, recovery.Refused, r.State, "ahead of %s: %s", step, r)
	settled(t, before, w.tasks(t), d.created(before))
	if t.Failed() {
		t.Fatalf("killed ahead of step %d, %s; recovery: %s", n, step, r)
	}
	require.NoError(t, os.RemoveAll(w.home))
}

// hydrated continues with a hydration, which has to leave the user's tasks as
// they were and its own, and of the others none.
func (d death) hydrated(t *testing.T, n int, step, skill string) {
	w := d.world(t)
	before := w.tasks(t)
	w.kill(t, n)
	result, err := w.hydrate(skill, nil)
	require.NoError(t, err, "%s after a death ahead of step %d, %s", skill, n, step)
	got := w.tasks(t)
	want := slices.DeleteFunc(names(before), func(n string) bool { return strings.Contains(before[n].text, `"fsm"`) })
	for _, c := range result.Created {
		want = append(want, c.Name)
	}
	slices.Sort(want)
	require.Equal(t, want, names(got), "%s after a death ahead of step %d, %s", skill, n, step)
	for _, name := range want {
		if f, ok := before[name]; ok {
			require.Equal(t, f, got[name])
		}
	}
	require.NoError(t, os.RemoveAll(w.home))
}

// TestDeathOfRecovery freezes the disk at every step of the recovery from every
// death of two workloads, and a third time at a step chosen by chance.
func TestDeathOfRecovery(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, d := range []death{deaths[2], deaths[4]} {
		steps := d.steps(t)
		for n := range steps {
			for m := 0; ; m++ {
				w := d.world(t)
				before := w.tasks(t)
				_, _ = w.hydrate("first", crash.Freeze(txn.OS{}, n, nil))
				done := w.recoverUntil(m)
				if !done && m%3 == 0 {
					w.recoverUntil(rng.IntN(m + 1))
				}
				r := recovery.List(context.Background(), w.list(), 5*time.Second, recovery.Options{})
				require.NotEqual(t, recovery.Refused, r.State, "frozen at %s, then at step %d of the recovery: %s", steps[n], m, r)
				settled(t, before, w.tasks(t), d.created(before))
				require.False(t, t.Failed(), "frozen at %s, then at step %d of the recovery: %s", steps[n], m, r)
				require.NoError(t, os.RemoveAll(w.home))
				if done {
					break
				}
			}
		}
	}
}

// recoverUntil freezes the disk at step m of a recovery; true if that has no
// more steps than that.
func (w *world) recoverUntil(m int) (done bool) {
	taken := 0
	files := crash.Freeze(txn.OS{}, m, func(crash.Step) { taken++ })
	_, _ = recovery.Recover(context.Background(), w.list(), files)
	return taken < m
}
