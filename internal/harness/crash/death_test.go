//go:build unix

package crash

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// The functions whose names end in Problem return what is wrong with a list, or "", so that a test can
// also require a violation.

// creations returns the task files that an undisturbed hydration creates.
func (d scenario) creations(t *testing.T) map[string]string {
	w := d.world(t)
	before := w.Tasks(t)
	_, err := w.hydrate("first", nil)
	require.NoError(t, err)
	created := map[string]string{}
	for name, f := range w.Tasks(t) {
		if _, old := before[name]; !old {
			created[name] = f.Text
		}
	}
	require.Len(t, created, d.creates)
	return created
}

// stays reports whether a hydration keeps the task.
func stays(f worlds.File) bool { return !strings.Contains(f.Text, `"fsm"`) }

// recoveredProblem checks that a recovered list is exactly the one before or exactly the
// one after.
func recoveredProblem(before, got map[string]worlds.File, created map[string]string) (problem string) {
	if maps.Equal(before, got) {
		return ""
	}
	if problem = afterProblem(before, got, created); problem != "" {
		return "not the list before, and " + problem
	}
	return ""
}

// afterProblem checks that the kept tasks are unchanged down to the inode, that the created
// tasks are as written, and that there are no others.
func afterProblem(before, got map[string]worlds.File, created map[string]string) (problem string) {
	want := map[string]worlds.File{}
	for name, f := range before {
		if stays(f) {
			want[name] = f
		}
	}
	for name, text := range created {
		if f, ok := got[name]; ok && f.Text == text && f.Mode == 0o644 {
			want[name] = f
			continue
		}
		return fmt.Sprintf("%s is not there as it was written; there are %v", name, worlds.Names(got))
	}
	if !maps.Equal(want, got) {
		return fmt.Sprintf("the tasks that stay are not as they were: there are %v", got)
	}
	return ""
}

// readerProblem checks what a reader without a lock sees: at any moment all tasks of before
// or all tasks of after, each of them complete, and no task that is in neither.
func readerProblem(before, seen map[string]worlds.File, created map[string]string) (problem string) {
	for name, f := range seen {
		if old, ok := before[name]; ok && old == f || !ok && f.Text == created[name] && f.Text != "" {
			continue
		}
		return fmt.Sprintf("a reader sees %s as it is neither before nor after: %q", name, f.Text)
	}
	after := slices.Collect(maps.Keys(created))
	for name, f := range before {
		if stays(f) {
			after = append(after, name)
		}
	}
	if !hasAll(seen, worlds.Names(before)) && !hasAll(seen, after) {
		return fmt.Sprintf("a reader sees only %v", worlds.Names(seen))
	}
	return ""
}

func hasAll(m map[string]worlds.File, want []string) bool {
	return !slices.ContainsFunc(want, func(name string) bool { _, ok := m[name]; return !ok })
}

// world is a home directory with a task list and three skills.
type world struct {
	worlds.Home
	uid int // the user that runs the program; 0 is this user
}

type scenario struct {
	name    string
	absent  bool
	manual  int // tasks of the user
	tagged  int // tasks of a workflow before
	creates int // tasks of the skill
	history int
	large   bool // every step is tried only with -every
}

var scenarios = []scenario{
	{name: "into an empty list", creates: 3},
	{name: "list absent", absent: true, creates: 3},
	{name: "replace one by one", manual: 1, tagged: 1, creates: 1},
	{name: "replace three by three", manual: 1, tagged: 3, creates: 3},
	{name: "delete only", manual: 1, tagged: 2},
	{name: "create beside manual tasks", manual: 2, creates: 1},
	{name: "history full", tagged: 1, creates: 1, history: txn.DefaultHistory},
	{name: "fifty by fifty", manual: 1, tagged: 50, creates: 50, large: true},
}

func (d scenario) world(t *testing.T) *world {
	w := newWorld(t)
	d.fill(t, w)
	return w
}

func newWorld(t *testing.T) *world {
	w := &world{Home: worlds.New(t)}
	require.NoError(t, os.MkdirAll(filepath.Dir(w.List()), 0o755))
	return w
}

// fill creates the skills, the list and its tasks.
func (d scenario) fill(t *testing.T, w *world) {
	if !d.absent {
		require.NoError(t, os.Mkdir(w.List(), 0o755))
	}
	w.addSkill(t, "first", d.creates)
	w.addSkill(t, "second", 2)
	w.addSkill(t, "filler", 1)
	for range d.history {
		_, err := w.hydrate("filler", nil)
		require.NoError(t, err)
	}
	for i := range d.manual {
		w.AddTask(t, 900+i, `"status":"pending"`)
	}
	for i := range d.tagged {
		w.AddTask(t, 1000+i, `"status":"in_progress","metadata":{"fsm":"first"}`)
	}
}

func (w *world) hydrate(skill string, files vfs.FS) (hydrate.Result, error) {
	return hydrate.Run(context.Background(), hydrate.Request{Event: "PostToolUse", Session: "list", Command: skill}, w.Env,
		hydrate.Options{LockTimeout: 5 * time.Second, FS: files})
}

// hydrated hydrates a list on a file system that may fail, and shows the world then.
func (d scenario) hydrated(t *testing.T, files vfs.FS, see func(w *world, before map[string]worlds.File, err error)) {
	w := d.world(t)
	before := w.Tasks(t)
	_, err := w.hydrate("first", files)
	see(w, before, err)
	require.NoError(t, os.RemoveAll(w.Dir))
}

// addSkill adds a skill with the given number of tasks.
func (w *world) addSkill(t *testing.T, name string, tasks int) {
	w.AddSkill(t, name, slices.Repeat([]string{"pending"}, tasks)...)
}

// steps returns the names of the steps of an undisturbed hydration.
func (d scenario) steps(t *testing.T) []string {
	var all []string
	_, err := d.world(t).hydrate("first", faultfs.Freeze(vfs.OS{}, 1<<30, func(s faultfs.Step) { all = append(all, s.String()) }))
	require.NoError(t, err)
	return all
}

// kill runs a process that hydrates and is killed before step n.
func (w *world) kill(t *testing.T, n int) {
	c := exec.Command(os.Args[0])
	c.Env = []string{"HOME=" + w.Dir, "FSMTX_TEST_DIE_AT=" + strconv.Itoa(n), raceOptions}
	out, err := c.CombinedOutput()
	died, ok := errors.AsType[*exec.ExitError](err)
	require.True(t, ok && died.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL, "step %d: %v: %s", n, err, out)
}

// TestDeathAtEveryStepIsRecovered kills a hydration ahead of every step and continues
// in three ways: by a recovery, by the next hydration, and by one of another skill. Without -every each step has
// one of them, another one in the next scenario.
func TestDeathAtEveryStepIsRecovered(t *testing.T) {
	ways := []string{"recover", "first", "second"}
	for i, d := range scenarios {
		t.Run(strings.ReplaceAll(d.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			steps, created := d.steps(t), d.creations(t)
			for _, n := range d.chosen(steps) {
				for j, by := range ways {
					if !*every && j != (i+n)%len(ways) {
						continue
					}
					w := d.world(t)
					before := w.Tasks(t)
					w.kill(t, n)
					problem := readerProblem(before, w.Tasks(t), created)
					require.Empty(t, problem, "ahead of step %d, %s", n, steps[n])
					problem = w.continueBy(t, by, before, created)
					require.Empty(t, problem, "%s after a death ahead of step %d, %s", by, n, steps[n])
					require.NoError(t, os.RemoveAll(w.Dir))
				}
			}
		})
	}
}

// chosen returns the steps before which a scenario is killed: every step, or for a large
// scenario the first, the last and a random step of each kind.
func (d scenario) chosen(steps []string) []int {
	kinds := map[string][]int{}
	for n, step := range steps {
		kind := step
		if d.large && !*every {
			kind = strings.Trim(regexp.MustCompile(`\d+`).ReplaceAllString(step, "N"), "~")
		} else {
			kind += fmt.Sprint(" ", n)
		}
		kinds[kind] = append(kinds[kind], n)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	var all []int
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		of := kinds[kind]
		all = append(all, of[0], of[len(of)-1], of[rng.IntN(len(of))])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// continueBy continues after a death and returns what is wrong with the list then.
func (w *world) continueBy(t *testing.T, by string, before map[string]worlds.File, created map[string]string) (problem string) {
	if by == "recover" {
		r := tasklist.Recover(context.Background(), w.List(), 5*time.Second, tasklist.RecoverOptions{})
		if r.State == tasklist.Refused {
			return r.String()
		}
		return recoveredProblem(before, w.Tasks(t), created)
	}
	result, err := w.hydrate(by, nil)
	if err != nil {
		return err.Error()
	}
	made := map[string]string{}
	for _, c := range result.Created {
		file := tasks.Form.File(c)
		made[file.Name] = string(file.Data)
	}
	return afterProblem(before, w.Tasks(t), made)
}

// TestDeathOfRecoveryIsRecovered freezes the disk at every step of the recovery from
// every death of two scenarios, and a third time at a random step.
func TestDeathOfRecoveryIsRecovered(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, d := range []scenario{scenarios[2], scenarios[4]} {
		steps, created := d.steps(t), d.creations(t)
		for n := range steps {
			for m, done := 0, false; !done; m++ {
				d.hydrated(t, faultfs.Freeze(vfs.OS{}, n, nil), func(w *world, before map[string]worlds.File, _ error) {
					done = w.recoverUntil(m)
					third := rng.IntN(2*m + 1)
					second := readerProblem(before, w.Tasks(t), created)
					w.recoverUntil(third)
					by := []string{"recover", "first", "second"}[(n+m)%3]
					require.Empty(t, second+readerProblem(before, w.Tasks(t), created)+w.continueBy(t, by, before, created),
						"%s: frozen at %s, then at step %d of the recovery, then at %d of the next, then %s", d.name, steps[n], m, third, by)
				})
			}
		}
	}
}

// recoverUntil freezes the disk at step m of a recovery. It returns true if the
// recovery has no more than m steps.
func (w *world) recoverUntil(m int) (done bool) {
	taken := 0
	files := faultfs.Freeze(vfs.OS{}, m, func(faultfs.Step) { taken++ })
	_, _ = tasks.List{Dir: w.List(), FS: files}.Recover(context.Background())
	return taken < m
}

// TestTheClientsOwnTaskAfterADeath: a hydration dies ahead of each step, and before the recovery the
// client creates a task, with the number after the largest that it knows of. That task stays, and the
// others are as before or as after.
func TestTheClientsOwnTaskAfterADeath(t *testing.T) {
	d := scenarios[3]
	steps, created := d.steps(t), d.creations(t)
	for n := range steps {
		w := d.world(t)
		_, _ = w.hydrate("first", faultfs.Freeze(vfs.OS{}, n, nil))
		now, before := w.Tasks(t), w.Tasks(t)
		text, _ := os.ReadFile(filepath.Join(w.List(), ".highwatermark"))
		next, _ := strconv.Atoi(string(text))
		for name := range now {
			number, _ := strconv.Atoi(strings.TrimSuffix(name, ".json"))
			next = max(next, number)
		}
		w.AddTask(t, next+1, `"status":"pending"`)
		own := worlds.TaskName(next + 1)
		r := tasklist.Recover(context.Background(), w.List(), 5*time.Second, tasklist.RecoverOptions{})
		require.NotEqual(t, tasklist.Refused, r.State, "%s", r)
		after := w.Tasks(t)
		require.Contains(t, after, own, "ahead of step %d, %s: %s", n, steps[n], r)
		if _, taken := created[own]; taken {
			require.NotEqual(t, created[own], after[own].Text)
			require.Equal(t, len(before)+1, len(after), "nothing was changed yet")
		}
		delete(after, own)
		before = d.world(t).Tasks(t)
		for name, f := range after { // the worlds have other inodes and times
			if old, there := before[name]; there && old.Text == f.Text {
				before[name] = f
			}
		}
		require.Empty(t, recoveredProblem(before, after, created), "ahead of step %d, %s", n, steps[n])
		require.NoError(t, os.RemoveAll(w.Dir))
	}
}
