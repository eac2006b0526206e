package tasks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// newList returns an empty list.
func newList(t *testing.T) *List {
	l := &List{Dir: filepath.Join(t.TempDir(), "list"), Wait: 10 * time.Second}
	require.NoError(t, os.Mkdir(l.Dir, 0o755))
	return l
}

func (l *List) stateDir() string { return filepath.Join(filepath.Dir(l.Dir), ".list.fsmtx") }

// before has do called before each step that changes the disk.
func (l *List) before(do func(s faultfs.Step) error) {
	l.FS = &faultfs.Steps{FS: vfs.OS{}, Before: do}
}

// once has do called before the first step that matches.
func (l *List) once(match func(s faultfs.Step) bool, do func()) {
	done := false
	l.before(func(s faultfs.Step) error {
		if !done && match(s) {
			done = true
			do()
		}
		return nil
	})
}

// locking matches the step that places the lock of a file.
func (l *List) locking(name string) func(faultfs.Step) bool {
	return func(s faultfs.Step) bool {
		return s.Op == "rename" && s.To == filepath.Join(l.Dir, name+lockSuffix)
	}
}

func taskFiles(t *testing.T, dir string) []string {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	names := []string{}
	for _, e := range entries {
		if Form.IsTask(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// planner plans for the fsm.json text and adds the snapshots it was given to seen.
func planner(t *testing.T, text string, seen *[]fsmspec.Snapshot) Planner {
	spec, err := fsmspec.Parse([]byte(text))
	require.NoError(t, err)
	return func(snap fsmspec.Snapshot) (*fsmspec.Plan, error) {
		if seen != nil {
			*seen = append(*seen, snap)
		}
		return spec.Plan("skill", snap, fsmspec.Policy{})
	}
}

func TestReplace(t *testing.T) {
	l := newList(t)
	write(t, l.Dir, "1.json", task(manualTask, "1.json"))
	write(t, l.Dir, "2.json", task(taggedTask, "2.json"))
	o, err := l.Replace(t.Context(), Label{Command: "skill"}, planner(t, `[{"id": 1, "subject": "a"}, {"id": 2, "subject": "b"}]`, nil))
	require.NoError(t, err)
	assert.Equal(t, []string{"1.json", "3.json", "4.json"}, taskFiles(t, l.Dir))
	require.Len(t, o.Deleted, 1)
	assert.Equal(t, "2", o.Deleted[0].ID)
	require.Len(t, o.Created, 2)
	assert.EqualValues(t, 3, o.Created[0].ID)
	assert.False(t, o.Duplicate)
	locks, err := filepath.Glob(filepath.Join(l.Dir, "*.lock"))
	require.NoError(t, err)
	assert.Empty(t, locks)
}

func TestReplaceOncePerInvocation(t *testing.T) {
	l := newList(t)
	plan := planner(t, `[{"id": 1, "subject": "a"}]`, nil)
	for i, step := range []struct {
		invocation string
		duplicate  bool
	}{{"x", false}, {"x", true}, {"", false}, {"", false}, {"y", false}, {"x", true}} {
		o, err := l.Replace(t.Context(), Label{Invocation: step.invocation, Spec: "/not UTF-8/\xff/fsm.json"}, plan)
		require.NoError(t, err)
		assert.Equal(t, step.duplicate, o.Duplicate, "step %d", i)
		assert.Equal(t, step.duplicate, len(o.Created) == 0, "step %d", i)
	}
	assert.Equal(t, []string{"4.json"}, taskFiles(t, l.Dir))
}

func TestReplaceReturnsWhyALockCouldNotBeReleased(t *testing.T) {
	l := newList(t)
	l.before(failStep("remove", filepath.Join(l.Dir, listLock), syscall.EACCES))
	plan := planner(t, `[{"id": 1, "subject": "a"}]`, nil)
	o, err := l.Replace(t.Context(), Label{}, plan)
	require.NoError(t, err)
	require.ErrorIs(t, o.Unreleased, syscall.EACCES)
	l.FS = nil
	o, err = l.Replace(t.Context(), Label{}, plan)
	require.NoError(t, err)
	assert.NoError(t, o.Unreleased, "the next call releases it")
}

// TestTheRecordOfTasksInTheListIsKept: however many changes come after it, a change stays in the history while a task that
// it has created is in the list: its record tells the gates.
func TestTheRecordOfTasksInTheListIsKept(t *testing.T) {
	l := newList(t)
	l.Keep = 1
	add := func(command, record string) string {
		l.Record = func(*fsmspec.Plan) (Record, error) { return Record{Text: record}, nil }
		spec, err := fsmspec.Parse([]byte(`[{"id": 1, "subject": "a"}]`))
		require.NoError(t, err)
		_, err = l.Replace(t.Context(), Label{Command: command}, func(snap fsmspec.Snapshot) (*fsmspec.Plan, error) {
			return spec.Plan(command, snap, fsmspec.Policy{Scope: fsmspec.ScopeSkill})
		})
		require.NoError(t, err)
		return l.last(t)
	}
	history := func() (ids []string) {
		for _, e := range l.history(t) {
			ids = append(ids, e.ID)
		}
		return ids
	}
	first, second, third := add("first", "gates"), add("second", "gates"), add("third", "gates")
	assert.Equal(t, []string{first, second, third}, history())
	require.NoError(t, os.Remove(filepath.Join(l.Dir, "1.json")))
	fourth := add("fourth", "gates")
	assert.Equal(t, []string{second, third, fourth}, history())
}

// TestTheHistoryKeepsWholeRuns: what a kept change can bring back has its record, with all that came under it; and of what has left the
// history no file is left, either.
func TestTheHistoryKeepsWholeRuns(t *testing.T) {
	l := newList(t)
	l.Keep = 1
	add := func(label Label, under int64, scope fsmspec.Scope) string {
		l.Record = func(*fsmspec.Plan) (Record, error) { return Record{Text: label.Command, Under: under}, nil }
		spec, err := fsmspec.Parse([]byte(`[{"id": 1, "subject": "a"}]`))
		require.NoError(t, err)
		_, err = l.Replace(t.Context(), label, func(snap fsmspec.Snapshot) (*fsmspec.Plan, error) {
			return spec.Plan(label.Command, snap, fsmspec.Policy{Scope: scope})
		})
		require.NoError(t, err)
		return l.last(t)
	}
	history := func() (ids []string) {
		kept, created := map[string]bool{}, map[string]bool{}
		for _, e := range l.history(t) {
			ids = append(ids, e.ID)
			backups, _ := filepath.Glob(filepath.Join(e.Backups, "*.json"))
			for _, path := range backups {
				kept[filepath.Base(path)] = true
			}
			for _, f := range e.Created {
				created[f.Name] = true
			}
		}
		for _, name := range taskFiles(t, l.Dir) {
			kept[name] = true
		}
		assert.Equal(t, slices.Sorted(maps.Keys(created)), slices.Sorted(maps.Keys(kept)), "the tasks with a record are those with a file")
		return ids
	}
	before := add(Label{Command: "before"}, 0, fsmspec.ScopeAll)
	run := []string{add(Label{Command: "run"}, 0, fsmspec.ScopeAll)}
	assert.Equal(t, append([]string{before}, run...), history())
	for i := range 12 { // the copies of twelve rounds, and twelve calls under its step
		run = append(run, add(Label{Command: "copy", Step: 2}, 0, fsmspec.ScopeSkill), add(Label{Command: fmt.Sprint(i)}, 2, fsmspec.ScopeSkill))
	}
	assert.Equal(t, append([]string{before}, run...), history())
	again := add(Label{Command: "again"}, 0, fsmspec.ScopeAll)
	assert.Equal(t, append(run, again), history())
	_, err := l.Undo(t.Context(), again, false)
	require.NoError(t, err)
	back := l.last(t)
	assert.Equal(t, append(run, again, back), history())
	other := add(Label{Command: "other"}, 0, fsmspec.ScopeAll)
	last := add(Label{Command: "last"}, 0, fsmspec.ScopeAll)
	assert.Equal(t, []string{other, last}, history())
}

func TestReplaceReturnsThePlannersError(t *testing.T) {
	l := newList(t)
	failed := errors.New("planner failed")
	_, err := l.Replace(t.Context(), Label{}, func(fsmspec.Snapshot) (*fsmspec.Plan, error) { return nil, failed })
	require.ErrorIs(t, err, failed)
	assert.NoDirExists(t, filepath.Join(l.Dir, listLock))
}

func TestReplaceReturnsErrorsOfTheDisk(t *testing.T) {
	plan := planner(t, `[{"id": 1, "subject": "a"}]`, nil)
	_, err := List{Dir: filepath.Join("/dev/null", "list")}.Replace(t.Context(), Label{}, plan)
	require.ErrorIs(t, err, syscall.ENOTDIR, "txn.Open")
	for name, fault := range map[string]func(l *List, s faultfs.Step) bool{
		"the history": func(l *List, s faultfs.Step) bool { return s.Op == "readdir" && s.Path == l.stateDir() },
		"the high-water mark": func(_ *List, s faultfs.Step) bool {
			return s.Op == "read" && filepath.Base(s.Path) == highWaterName
		},
		"the staged task": func(_ *List, s faultfs.Step) bool { return s.Op == "write" && strings.Contains(s.Path, "/new/") },
	} {
		t.Run(name, func(t *testing.T) {
			l := newList(t)
			hit := false
			l.FS = &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(s faultfs.Step) error {
				if fault(l, s) {
					hit = true
					return syscall.EIO
				}
				return nil
			}}
			_, err := l.Replace(t.Context(), Label{Invocation: "x"}, plan)
			require.ErrorIs(t, err, syscall.EIO)
			assert.True(t, hit)
			assert.Empty(t, taskFiles(t, l.Dir))
		})
	}
}

func TestReplaceTimesOutOnAHeldLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct{ lock, text string }{
			{listLock, task(taggedTask, "1.json")}, {"1.json.lock", task(taggedTask, "1.json")}, {"1.json.lock", `{"id":"1","subj`},
		} {
			l := newList(t)
			write(t, l.Dir, "1.json", c.text)
			require.NoError(t, os.Mkdir(filepath.Join(l.Dir, c.lock), 0o755))
			_, err := l.Replace(t.Context(), Label{}, planner(t, `[]`, nil))
			require.ErrorAs(t, err, new(*BusyError), "%v", c)
			require.ErrorIs(t, err, errTimeout, "%v", c)
			assert.Equal(t, []string{"1.json"}, taskFiles(t, l.Dir), "%v", c)
		}
	})
}

// TestTornFileIsReadAgainUnderItsLock: the client is writing it during the first read.
func TestTornFileIsReadAgainUnderItsLock(t *testing.T) {
	l := newList(t)
	write(t, l.Dir, "1.json", `{"id":"1","subj`)
	write(t, l.Dir, "2.json", `{"id":"2","subj`)
	l.once(l.locking("1.json"), func() { write(t, l.Dir, "1.json", task(taggedTask, "1.json")) })
	o, err := l.Replace(t.Context(), Label{}, planner(t, `[]`, nil))
	require.NoError(t, err)
	require.Len(t, o.Deleted, 1)
	assert.Equal(t, []string{"2.json"}, taskFiles(t, l.Dir), "a file that is still torn is kept")
}

// TestPlanIsMadeAgain: the client changes the list after it is read.
func TestPlanIsMadeAgain(t *testing.T) {
	path := func(l *List, name string) string { return filepath.Join(l.Dir, name) }
	locking := func(l *List, s faultfs.Step) bool { return l.locking("1.json")(s) }
	cancelled := errors.New("cancelled")
	for name, c := range map[string]struct {
		lock string // is held by the client
		when func(l *List, s faultfs.Step) bool
		do   func(l *List)
		want []string // nil if the context ends meanwhile
	}{
		"updated": {"", locking, func(l *List) {
			write(t, l.Dir, "1.json", strings.Replace(task(taggedTask, "1.json"), "pending", "in_progress", 1))
		}, []string{"3.json"}},
		"no longer the workflow's": {"", locking, func(l *List) { write(t, l.Dir, "1.json", task(manualTask, "1.json")) },
			[]string{"1.json", "3.json"}},
		"deleted": {"", locking, func(l *List) { require.NoError(t, os.Remove(path(l, "1.json"))) }, []string{"3.json"}},
		"created while the list was unlocked": {"1.json.lock",
			func(l *List, s faultfs.Step) bool { return s.Op == "remove" && s.Path == path(l, listLock) },
			func(l *List) {
				write(t, l.Dir, "3.json", task(manualTask, "3.json"))
				require.NoError(t, os.Remove(path(l, "1.json.lock")))
			}, []string{"3.json", "4.json"}},
		"deleted without a lock (fact 13)": {"", func(_ *List, s faultfs.Step) bool { return s.Op == "link" },
			func(l *List) { require.NoError(t, os.Remove(path(l, "1.json"))) }, []string{"3.json"}},
		"cancelled at that moment": {"", func(_ *List, s faultfs.Step) bool { return s.Op == "link" },
			func(l *List) { require.NoError(t, os.Remove(path(l, "1.json"))) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			l := newList(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			write(t, l.Dir, "1.json", task(taggedTask, "1.json"))
			write(t, l.Dir, "2.json", task(taggedTask, "2.json"))
			if c.lock != "" {
				require.NoError(t, os.Mkdir(path(l, c.lock), 0o755))
			}
			l.once(func(s faultfs.Step) bool { return c.when(l, s) }, func() {
				if c.do(l); c.want == nil {
					cancel(cancelled)
				}
			})
			var seen []fsmspec.Snapshot
			_, err := l.Replace(ctx, Label{}, planner(t, `[{"id": 1, "subject": "new"}]`, &seen))
			if c.want == nil {
				require.ErrorIs(t, err, cancelled)
				return
			}
			require.NoError(t, err)
			assert.Len(t, seen, 2)
			assert.Equal(t, c.want, taskFiles(t, l.Dir))
		})
	}
}

// slowLink is a file system on which a link takes a second, while the client does something to its source.
type slowLink struct {
	vfs.OS
	then func(from string)
}

func (d slowLink) Link(from, to string) error {
	time.Sleep(time.Second)
	d.then(from)
	return d.OS.Link(from, to)
}

func TestReplaceTimesOutOnAListThatKeepsChanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newList(t)
		l.Wait, l.FS = time.Second/2, slowLink{then: func(from string) { assert.NoError(t, os.Remove(from)) }}
		write(t, l.Dir, "1.json", task(taggedTask, "1.json"))
		_, err := l.Replace(t.Context(), Label{}, planner(t, `[{"id": 1, "subject": "new"}]`, nil))
		require.ErrorIs(t, err, errTimeout)
		require.ErrorContains(t, err, "the last try: ")
	})
}

// slowLstat is a file system on which a look at a file takes a second.
type slowLstat struct{ vfs.OS }

func (d slowLstat) Lstat(name string) (fs.FileInfo, error) {
	time.Sleep(time.Second)
	return d.OS.Lstat(name)
}

// TestASlowDiskIsNotTakenForALock: no other program holds a lock, so the error must not read as if one did.
func TestASlowDiskIsNotTakenForALock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newList(t)
		l.Wait, l.FS = time.Second/2, slowLstat{}
		_, err := l.Replace(t.Context(), Label{}, planner(t, `[{"id": 1, "subject": "new"}]`, nil))
		require.ErrorIs(t, err, errTimeout)
		require.ErrorContains(t, err, "took too long, although no lock was in the way; the disk may be slow: gave up waiting after 500ms")
		require.ErrorContains(t, err, "opening /")
	})
}

func TestReplaceRemembersTheLargestIDOfAnEmptiedList(t *testing.T) {
	l := newList(t)
	write(t, l.Dir, "7.json", task(taggedTask, "7.json"))
	_, err := l.Replace(t.Context(), Label{}, planner(t, `[]`, nil))
	require.NoError(t, err)
	assert.Empty(t, taskFiles(t, l.Dir))
	mark, err := os.ReadFile(filepath.Join(l.Dir, highWaterName))
	require.NoError(t, err)
	assert.Equal(t, "7", string(mark))
}

func TestIdle(t *testing.T) {
	empty := planner(t, `[]`, nil)
	for name, test := range map[string]struct {
		lay  func(t *testing.T, l *List)
		plan Planner
		want bool
	}{
		"an empty list":        {want: true},
		"an absent list":       {lay: func(t *testing.T, l *List) { require.NoError(t, os.Remove(l.Dir)) }, want: true},
		"manual tasks":         {lay: func(t *testing.T, l *List) { write(t, l.Dir, "1.json", task(manualTask, "1")) }, want: true},
		"tasks to delete":      {lay: func(t *testing.T, l *List) { write(t, l.Dir, "1.json", task(taggedTask, "1")) }},
		"tasks to create":      {plan: planner(t, `[{"id": 1, "subject": "a"}]`, nil)},
		"a torn file":          {lay: func(t *testing.T, l *List) { write(t, l.Dir, "1.json", "{") }},
		"a planner that fails": {plan: func(fsmspec.Snapshot) (*fsmspec.Plan, error) { return nil, errors.New("no") }},
		"a state directory":    {lay: func(t *testing.T, l *List) { require.NoError(t, os.Mkdir(l.stateDir(), 0o700)) }},
		"a state directory and no list": {lay: func(t *testing.T, l *List) {
			require.NoError(t, os.Remove(l.Dir))
			require.NoError(t, os.Mkdir(l.stateDir(), 0o700))
		}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			l := newList(t)
			if test.lay != nil {
				test.lay(t, l)
			}
			plan := test.plan
			if plan == nil {
				plan = empty
			}
			idle, err := l.Idle(t.Context(), plan)
			require.NoError(t, err)
			assert.Equal(t, test.want, idle)
		})
	}
	_, err := List{Dir: "/dev/null"}.Idle(t.Context(), empty)
	require.ErrorIs(t, err, syscall.ENOTDIR)
}

// TestAListIsReplacedByManyProcessors: its files are synced at the same time. A plan with nothing to do
// needs no more than there are.
func TestAListIsReplacedByManyProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for n, many := range map[int]bool{0: false, 10: true, 60: true} {
		runtime.GOMAXPROCS(1)
		steps := make([]string, n)
		for i := range steps {
			steps[i] = fmt.Sprintf(`{"id": %d, "subject": "a"}`, i+1)
		}
		_, err := newList(t).Replace(t.Context(), Label{}, planner(t, "["+strings.Join(steps, ",")+"]", nil))
		require.NoError(t, err)
		require.Equal(t, many, runtime.GOMAXPROCS(0) > 1, n)
	}
}
