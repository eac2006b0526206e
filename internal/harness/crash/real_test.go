package crash_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// trouble is a fault of the operating system, not one that a file system of the tests
// simulates.
type trouble struct {
	name     string
	make     func(t *testing.T, w *world) (undo func())
	restrict []string // environment variables for restrict
	want     []string // what standard error must contain
}

// replacing and creating are the scenarios: one deletes and creates, one only
// creates.
var (
	replacing = scenario{name: "replace", manual: 1, tagged: 3, creates: 3}
	creating  = scenario{name: "create", manual: 1, creates: 3}
)

// output is the exit code and the output of a process.
type output struct {
	code           int
	stdout, stderr string
}

// program runs fsmtx in a process of its own, under the restrictions of restrict.
func (w *world) program(t *testing.T, stdin string, restrictions []string, args ...string) output {
	t.Helper()
	c := exec.Command(self(), args...)
	c.Env = append([]string{"HOME=" + w.Dir, "FSMTX_TEST_FSMTX=1", raceOptions}, restrictions...)
	if w.uid != 0 {
		c.Env = append(c.Env, "FSMTX_TEST_UID="+strconv.Itoa(w.uid))
	}
	var stdout, stderr bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := c.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		require.NoError(t, err)
	}
	code := c.ProcessState.ExitCode()
	require.NotEqual(t, cannotRestrict, code, "%s", &stderr)
	return output{code, stdout.String(), stderr.String()}
}

// invoke runs the hook for a skill.
func (w *world) invoke(t *testing.T, skill string, restrictions ...string) output {
	t.Helper()
	event := fmt.Sprintf(`{"hook_event_name":"PostToolUse","session_id":"list","tool_name":"Skill",`+
		`"tool_response":{"success":true,"commandName":%q}}`, skill)
	return w.program(t, event, restrictions, "hydrate", "--lock-timeout=2s")
}

// requireRefused requires that the hook fails during the trouble with a message and a hint,
// that the list is unchanged, and that it can be used once the trouble is over.
func (d scenario) requireRefused(t *testing.T, w *world, tr trouble) {
	t.Helper()
	before := w.Tasks(t)
	undo := tr.make(t, w)
	a := w.invoke(t, "first", tr.restrict...)
	undo()
	require.Equal(t, 2, a.code, "%s", a.stderr)
	require.Empty(t, a.stdout)
	require.True(t, strings.HasPrefix(a.stderr, "fsmtx: "), "not in words: %s", a.stderr)
	for _, text := range tr.want {
		assert.Contains(t, a.stderr, text)
	}
	assert.Contains(t, a.stderr, "hint: ", "what to do is not said")
	assert.NotContains(t, a.stderr, "recovery required")
	w.requireUnchanged(t, before, a)
	w.requireWorks(t, d, before)
}

// requireUnchanged fails unless D is as it was, down to the inodes, with nothing left
// in it.
func (w *world) requireUnchanged(t *testing.T, before map[string]worlds.File, a output) {
	t.Helper()
	require.Equal(t, before, w.Tasks(t), "%s", a.stderr)
	entries, err := os.ReadDir(w.List())
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	for _, e := range entries {
		_, known := before[e.Name()]
		require.True(t, known || e.Name() == ".highwatermark", "%s is left in the list: %s", e.Name(), a.stderr)
	}
}

// requireWorks fails unless recovery and the next hydration work.
func (w *world) requireWorks(t *testing.T, d scenario, before map[string]worlds.File) {
	t.Helper()
	r := w.program(t, "", nil, "recover")
	require.Zero(t, r.code, "%s%s", r.stdout, r.stderr)
	w.requireUnchanged(t, before, r)
	a := w.invoke(t, "first")
	require.Equal(t, output{0, `{"continue": true}` + "\n", ""}, a)
	require.NotEqual(t, worlds.Names(before), worlds.Names(w.Tasks(t)), "it did nothing")
	require.Empty(t, recoveredProblem(before, w.Tasks(t), d.creations(t)))
}

// TestFaultLimits runs the program under a limit on the size of files.
func TestFaultLimits(t *testing.T) {
	nothing := func(*testing.T, *world) func() { return func() {} }
	for _, tr := range []trouble{
		{name: "no bytes", restrict: []string{"FSMTX_TEST_BYTES=0"}, want: []string{"file too large"}},
		{name: "too few bytes", restrict: []string{"FSMTX_TEST_BYTES=600"}, want: []string{"file too large"}},
	} {
		tr.make = nothing
		for _, d := range []scenario{replacing, creating} {
			t.Run(strings.ReplaceAll(tr.name+" "+d.name, " ", "-"), func(t *testing.T) {
				t.Parallel()
				d.requireRefused(t, d.world(t), tr)
			})
		}
	}
}

// TestFaultDescriptors limits the program's open files to every number from five, which are
// open at its start, to more than it needs to hydrate fifty tasks one after the other (it
// hydrates many at a time). With very few the Go runtime fails before main, with its own
// message.
func TestFaultDescriptors(t *testing.T) {
	d := scenario{manual: 1, tagged: 5, creates: 50}
	refused := 0
	for n := 5; n < 24; n++ {
		w := d.world(t)
		before := w.Tasks(t)
		a := w.invoke(t, "first", "FSMTX_TEST_FILES="+strconv.Itoa(n))
		if a.code == 0 {
			continue
		}
		require.Equal(t, 2, a.code, "with %d descriptors: %s", n, a.stderr)
		require.Empty(t, a.stdout)
		w.requireUnchanged(t, before, a)
		if n > 10 || !strings.HasPrefix(a.stderr, "runtime: ") {
			refused++
			require.Regexp(t, `(?s)^fsmtx: .*(/fsm\.json: too many open files|too many open files.*hint: raise the limit on open files)`,
				a.stderr, "with %d descriptors", n)
		}
		w.requireWorks(t, d, before)
		require.NoError(t, os.RemoveAll(w.Dir))
	}
	t.Logf("refused in words with %d numbers of descriptors", refused)
	require.NotZero(t, refused)
}

// nobody is the ID of a user without rights.
const nobody = 65534

// unprivileged makes the program run as a user to whom permissions apply: as nobody,
// if this user is root.
func (w *world) unprivileged(t *testing.T) {
	if os.Geteuid() != 0 {
		return
	}
	w.uid = nobody
	require.NoError(t, filepath.WalkDir(w.Dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, nobody, nobody))
	}))
}

// chmod takes permissions away until undo is called.
func chmod(path func(w *world) string, mode fs.FileMode) func(*testing.T, *world) func() {
	return func(t *testing.T, w *world) func() {
		info, err := os.Stat(path(w))
		require.NoError(t, err)
		require.NoError(t, os.Chmod(path(w), mode))
		undo := func() { _ = os.Chmod(path(w), info.Mode().Perm()) }
		t.Cleanup(undo)
		return undo
	}
}

func (w *world) tasksDir() string { return filepath.Dir(w.List()) }

// TestFaultPermissions denies the program access to its directories.
func TestFaultPermissions(t *testing.T) {
	denied := []string{"permission denied"}
	for _, tr := range []trouble{
		{name: "list closed", make: chmod((*world).List, 0), want: denied},
		{name: "list not readable", make: chmod((*world).List, 0o300), want: denied},
		{name: "list not writable", make: chmod((*world).List, 0o500), want: denied},
		{name: "list not searchable", make: chmod((*world).List, 0o600), want: denied},
		{name: "tasks not writable", make: chmod((*world).tasksDir, 0o500), want: denied},
		{name: "tasks closed", make: chmod((*world).tasksDir, 0), want: denied},
		{name: "state directory closed", make: withStateDir(chmod((*world).StateDir, 0)), want: denied},
		{name: "state directory not writable", make: withStateDir(chmod((*world).StateDir, 0o500)), want: denied},
		{name: "lock not writable", make: withStateDir(chmod((*world).lock, 0o400)), want: denied},
	} {
		for _, d := range []scenario{replacing, creating} {
			t.Run(strings.ReplaceAll(tr.name+" "+d.name, " ", "-"), func(t *testing.T) {
				t.Parallel()
				w := d.world(t)
				w.unprivileged(t)
				d.requireRefused(t, w, tr)
			})
		}
	}
}

func (w *world) lock() string { return filepath.Join(w.StateDir(), "lock") }

// withStateDir causes the trouble in a state directory that an earlier call has left.
func withStateDir(make func(*testing.T, *world) func()) func(*testing.T, *world) func() {
	return func(t *testing.T, w *world) func() {
		r := w.program(t, "", nil, "recover", "--session=list")
		require.Zero(t, r.code, "%s%s", r.stdout, r.stderr)
		w.makeStateDir(t)
		return make(t, w)
	}
}

// makeStateDir leaves a state directory as a call does that changed nothing.
func (w *world) makeStateDir(t *testing.T) {
	require.NoError(t, os.Mkdir(w.StateDir(), 0o700))
	require.NoError(t, os.WriteFile(w.lock(), nil, 0o600))
	if w.uid != 0 {
		require.NoError(t, os.Chown(w.StateDir(), w.uid, w.uid))
		require.NoError(t, os.Chown(w.lock(), w.uid, w.uid))
	}
}

// TestFaultPlanted replaces the state directory, or a file in it, by something else. The
// program refuses it and leaves the target of a link unchanged.
func TestFaultPlanted(t *testing.T) {
	for _, p := range planted {
		t.Run(strings.ReplaceAll(p.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			if p.root && os.Geteuid() != 0 {
				t.Skip("only root can give a file to another user")
			}
			w := replacing.world(t)
			victim := filepath.Join(w.Dir, "victim")
			require.NoError(t, os.Mkdir(victim, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(victim, "file"), []byte("precious"), 0o644))
			tr := trouble{want: p.want, make: func(t *testing.T, w *world) func() {
				at := p.plant(t, w, victim)
				return func() { require.NoError(t, os.RemoveAll(at)) }
			}}
			was := tree(t, victim)
			replacing.requireRefused(t, w, tr)
			assert.Equal(t, was, tree(t, victim), "something was done outside")
		})
	}
}

// tree describes everything below dir.
func tree(t *testing.T, dir string) (all []string) {
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		all = append(all, fmt.Sprint(path, " ", info.Mode(), " ", info.Size(), " ", info.ModTime().UnixNano()))
		return nil
	}))
	return all
}

var planted = []struct {
	name  string
	root  bool
	plant func(t *testing.T, w *world, victim string) (path string)
	want  []string
}{
	{name: "state directory is a link", want: []string{".list.fsmtx", "it is a symbolic link"},
		plant: func(t *testing.T, w *world, victim string) string {
			require.NoError(t, os.Symlink(victim, w.StateDir()))
			return w.StateDir()
		}},
	{name: "state directory is a link to nothing", want: []string{".list.fsmtx", "it is a symbolic link"},
		plant: func(t *testing.T, w *world, victim string) string {
			require.NoError(t, os.Symlink(victim+"/nothing", w.StateDir()))
			return w.StateDir()
		}},
	{name: "state directory is a file", want: []string{".list.fsmtx", "it is a file"}, plant: func(t *testing.T, w *world, _ string) string {
		require.NoError(t, os.WriteFile(w.StateDir(), []byte("mine"), 0o644))
		return w.StateDir()
	}},
	{name: "state directory is a pipe", want: []string{".list.fsmtx", "it is a named pipe"},
		plant: func(t *testing.T, w *world, _ string) string {
			require.NoError(t, syscall.Mkfifo(w.StateDir(), 0o644))
			return w.StateDir()
		}},
	{name: "state directory open to others", want: []string{".list.fsmtx", "others may write to it"},
		plant: func(t *testing.T, w *world, _ string) string {
			require.NoError(t, os.Mkdir(w.StateDir(), 0o700))
			require.NoError(t, os.Chmod(w.StateDir(), 0o777))
			return w.StateDir()
		}},
	{name: "state directory of another user", root: true, want: []string{".list.fsmtx", "belongs to user 65534"},
		plant: func(t *testing.T, w *world, _ string) string {
			require.NoError(t, os.Mkdir(w.StateDir(), 0o700))
			require.NoError(t, os.Chown(w.StateDir(), nobody, nobody))
			return w.StateDir()
		}},
	{name: "lock is a link", want: []string{"lock", "not a regular file"}, plant: func(t *testing.T, w *world, victim string) string {
		require.NoError(t, os.Mkdir(w.StateDir(), 0o700))
		require.NoError(t, os.Symlink(victim+"/file", w.lock()))
		return w.lock()
	}},
	{name: "lock is a pipe", want: []string{"lock", "not a regular file"}, plant: func(t *testing.T, w *world, _ string) string {
		require.NoError(t, os.Mkdir(w.StateDir(), 0o700))
		require.NoError(t, syscall.Mkfifo(w.lock(), 0o600))
		return w.lock()
	}},
	{name: "lock is a directory", want: []string{"lock", "not a regular file"}, plant: func(t *testing.T, w *world, _ string) string {
		require.NoError(t, os.MkdirAll(w.lock(), 0o700))
		return w.lock()
	}},
	{name: "journal is a link", want: []string{"journal", "not a regular file"}, plant: func(t *testing.T, w *world, victim string) string {
		w.makeStateDir(t)
		require.NoError(t, os.Symlink(victim+"/file", filepath.Join(w.StateDir(), "journal")))
		return filepath.Join(w.StateDir(), "journal")
	}},
}
