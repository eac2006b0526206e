//go:build unix

package crash

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
	make     func(t *testing.T, w *world) (undo func()) // nil if restrict is the trouble
	restrict []string                                   // environment variables for restrict
	want     []string                                   // what standard error must contain
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
	undo := func() {}
	if tr.make != nil {
		undo = tr.make(t, w)
	}
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
	for _, tr := range []trouble{
		{name: "no bytes", restrict: []string{"FSMTX_TEST_BYTES=0"}, want: []string{"file too large"}},
		{name: "too few bytes", restrict: []string{"FSMTX_TEST_BYTES=600"}, want: []string{"file too large"}},
	} {
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

// withStateDir causes the trouble in a state directory that an earlier call has left, which changed nothing.
func withStateDir(make func(*testing.T, *world) func()) func(*testing.T, *world) func() {
	return func(t *testing.T, w *world) func() {
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

// cannotRestrict is the exit code of a process whose restrictions could not be set.
const cannotRestrict = 99

// restrict sets the restrictions of this process that its environment names:
//
//	FSMTX_TEST_UID=N      it runs as the user N
//	FSMTX_TEST_FILES=N    it may have N files open
//	FSMTX_TEST_BYTES=N    its files may have N bytes
//
// All but the user are set before the program executes itself again, so that they
// hold from its first instruction. The user is set afterwards, because another user
// may not be allowed to execute it.
func restrict() error {
	again := false
	for name, what := range map[string]int{
		"FSMTX_TEST_FILES": syscall.RLIMIT_NOFILE, "FSMTX_TEST_BYTES": syscall.RLIMIT_FSIZE,
	} {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			if err := limit(what, n); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			os.Unsetenv(name)
			again = true
		}
	}
	if again {
		return syscall.Exec(self(), os.Args, os.Environ())
	}
	if id, err := strconv.Atoi(os.Getenv("FSMTX_TEST_UID")); err == nil {
		return become(id)
	}
	return nil
}

func limit(what, n int) error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(what, &l); err != nil {
		return err
	}
	l.Cur, l.Max = uint64(n), uint64(n)
	return syscall.Setrlimit(what, &l)
}

func become(id int) error {
	if err := syscall.Setgroups(nil); err != nil {
		return err
	}
	if err := syscall.Setgid(id); err != nil {
		return err
	}
	return syscall.Setuid(id)
}

// self returns the path of this program.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}
