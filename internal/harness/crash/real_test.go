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
)

// trouble is a fault that the operating system makes, not a test's file system.
type trouble struct {
	name   string
	make   func(t *testing.T, w *world) (mend func())
	lessen []string // what lessen takes from the process
	says   []string // what standard error has to contain
}

// replacing and creating are the workloads: one deletes and creates, one only creates.
var (
	replacing = death{name: "replace", manual: 1, tagged: 3, creates: 3}
	creating  = death{name: "create", manual: 1, creates: 3}
)

// answer is what a process said.
type answer struct {
	code           int
	stdout, stderr string
}

// program runs the program itself, as a process of its own. lessened is for
// lessen.
func (w *world) program(t *testing.T, stdin string, lessened []string, args ...string) answer {
	t.Helper()
	c := exec.Command(self(), args...)
	c.Env = append([]string{"HOME=" + w.home, "FSMTX_TEST_FSMTX=1", raceOptions}, lessened...)
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
	require.NotEqual(t, cannotLessen, code, "%s", &stderr)
	return answer{code, stdout.String(), stderr.String()}
}

// invoke runs the hook for a skill.
func (w *world) invoke(t *testing.T, skill string, lessened ...string) answer {
	t.Helper()
	event := fmt.Sprintf(`{"hook_event_name":"PostToolUse","session_id":"list","tool_name":"Skill","tool_response":{"success":true,"commandName":%q}}`, skill)
	return w.program(t, event, lessened, "hydrate", "--lock-timeout=2s")
}

// refused holds a call of the hook in trouble against the contract: it fails, says
// why in words, and leaves the list as it was, with nothing to recover that
// recovery cannot do once the trouble is over.
func (d death) refused(t *testing.T, w *world, tr trouble) {
	t.Helper()
	before := w.tasks(t)
	mend := tr.make(t, w)
	a := w.invoke(t, "first", tr.lessen...)
	mend()
	require.Equal(t, 2, a.code, "%s", a.stderr)
	require.Empty(t, a.stdout)
	require.True(t, strings.HasPrefix(a.stderr, "fsmtx: "), "not in words: %s", a.stderr)
	for _, text := range tr.says {
		assert.Contains(t, a.stderr, text)
	}
	assert.Contains(t, a.stderr, "hint: ", "what to do is not said")
	assert.NotContains(t, a.stderr, "recovery required")
	w.sameAs(t, before, a)
	w.worksAgain(t, d, before)
}

// sameAs holds D against what it was, to the last inode, and lets nothing stay
// in it.
func (w *world) sameAs(t *testing.T, before map[string]file, a answer) {
	t.Helper()
	require.Equal(t, before, w.tasks(t), "%s", a.stderr)
	entries, err := os.ReadDir(w.list())
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	for _, e := range entries {
		_, known := before[e.Name()]
		require.True(t, known || e.Name() == ".highwatermark", "%s is left in the list: %s", e.Name(), a.stderr)
	}
}

// worksAgain is what comes when the trouble is over.
func (w *world) worksAgain(t *testing.T, d death, before map[string]file) {
	t.Helper()
	r := w.program(t, "", nil, "recover")
	require.Zero(t, r.code, "%s%s", r.stdout, r.stderr)
	w.sameAs(t, before, r)
	a := w.invoke(t, "first")
	require.Equal(t, answer{0, `{"continue": true}` + "\n", ""}, a)
	require.NotEqual(t, names(before), names(w.tasks(t)), "it did nothing")
	require.Empty(t, settled(before, w.tasks(t), d.creations(t)))
}

// TestFaultLimits has the kernel give the program less than it needs.
func TestFaultLimits(t *testing.T) {
	nothing := func(*testing.T, *world) func() { return func() {} }
	for _, tr := range []trouble{
		{name: "no bytes", lessen: []string{"FSMTX_TEST_BYTES=0"}, says: []string{"file too large"}},
		{name: "too few bytes", lessen: []string{"FSMTX_TEST_BYTES=600"}, says: []string{"file too large"}},
	} {
		tr.make = nothing
		for _, d := range []death{replacing, creating} {
			t.Run(strings.ReplaceAll(tr.name+" "+d.name, " ", "-"), func(t *testing.T) {
				t.Parallel()
				d.refused(t, d.world(t), tr)
			})
		}
	}
}

// TestFaultDescriptors gives the program every number of descriptors from five,
// with which it starts, to more than it takes to hydrate fifty tasks one after the
// other; it does many at a time. With the first few the language's runtime does not
// come as far as the program and says so itself.
func TestFaultDescriptors(t *testing.T) {
	d := death{manual: 1, tagged: 5, creates: 50}
	refused := 0
	for n := 5; n < 24; n++ {
		w := d.world(t)
		before := w.tasks(t)
		a := w.invoke(t, "first", "FSMTX_TEST_FILES="+strconv.Itoa(n))
		if a.code == 0 {
			continue
		}
		require.Equal(t, 2, a.code, "with %d descriptors: %s", n, a.stderr)
		require.Empty(t, a.stdout)
		w.sameAs(t, before, a)
		if n > 10 || !strings.HasPrefix(a.stderr, "runtime: ") {
			refused++
			require.Regexp(t, `(?s)^fsmtx: .*(/fsm\.json: too many open files|too many open files.*hint: raise the limit on open files)`, a.stderr, "with %d descriptors", n)
		}
		w.worksAgain(t, d, before)
		require.NoError(t, os.RemoveAll(w.home))
	}
	t.Logf("refused in words with %d numbers of descriptors", refused)
	require.NotZero(t, refused)
}

// nobody is a user without rights of its own.
const nobody = 65534

// unprivileged has the program run by a user whom permissions bind: nobody, if
// this user is root.
func (w *world) unprivileged(t *testing.T) {
	if os.Geteuid() != 0 {
		return
	}
	w.uid = nobody
	require.NoError(t, filepath.WalkDir(w.home, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, nobody, nobody))
	}))
}

// chmod takes permissions away until it is mended.
func chmod(path func(w *world) string, mode fs.FileMode) func(*testing.T, *world) func() {
	return func(t *testing.T, w *world) func() {
		info, err := os.Stat(path(w))
		require.NoError(t, err)
		require.NoError(t, os.Chmod(path(w), mode))
		mend := func() { _ = os.Chmod(path(w), info.Mode().Perm()) }
		t.Cleanup(mend)
		return mend
	}
}

func (w *world) tasksDir() string { return filepath.Dir(w.list()) }
func (w *world) sibling() string  { return filepath.Join(w.tasksDir(), ".list.fsmtx") }

// TestFaultPermissions denies the program its directories.
func TestFaultPermissions(t *testing.T) {
	denied := []string{"permission denied"}
	for _, tr := range []trouble{
		{name: "list closed", make: chmod((*world).list, 0), says: denied},
		{name: "list not readable", make: chmod((*world).list, 0o300), says: denied},
		{name: "list not writable", make: chmod((*world).list, 0o500), says: denied},
		{name: "list not searchable", make: chmod((*world).list, 0o600), says: denied},
		{name: "tasks not writable", make: chmod((*world).tasksDir, 0o500), says: denied},
		{name: "tasks closed", make: chmod((*world).tasksDir, 0), says: denied},
		{name: "sibling closed", make: withSibling(chmod((*world).sibling, 0)), says: denied},
		{name: "sibling not writable", make: withSibling(chmod((*world).sibling, 0o500)), says: denied},
		{name: "lock not writable", make: withSibling(chmod((*world).lock, 0o400)), says: denied},
	} {
		for _, d := range []death{replacing, creating} {
			t.Run(strings.ReplaceAll(tr.name+" "+d.name, " ", "-"), func(t *testing.T) {
				t.Parallel()
				w := d.world(t)
				w.unprivileged(t)
				d.refused(t, w, tr)
			})
		}
	}
}

func (w *world) lock() string { return filepath.Join(w.sibling(), "lock") }

// withSibling makes the trouble in a sibling that an earlier call has left.
func withSibling(make func(*testing.T, *world) func()) func(*testing.T, *world) func() {
	return func(t *testing.T, w *world) func() {
		r := w.program(t, "", nil, "recover", "--session=list")
		require.Zero(t, r.code, "%s%s", r.stdout, r.stderr)
		w.makeSibling(t)
		return make(t, w)
	}
}

// makeSibling leaves a sibling as a call does that changed nothing.
func (w *world) makeSibling(t *testing.T) {
	require.NoError(t, os.Mkdir(w.sibling(), 0o700))
	require.NoError(t, os.WriteFile(w.lock(), nil, 0o600))
	if w.uid != 0 {
		require.NoError(t, os.Chown(w.sibling(), w.uid, w.uid))
		require.NoError(t, os.Chown(w.lock(), w.uid, w.uid))
	}
}

// TestFaultPlanted has something stand where the sibling or a file in it belongs.
// It is refused, and what it leads to stays as it is.
func TestFaultPlanted(t *testing.T) {
	for _, p := range planted {
		t.Run(strings.ReplaceAll(p.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			if p.root && os.Geteuid() != 0 {
				t.Skip("only root can give a file to another user")
			}
			w := replacing.world(t)
			victim := filepath.Join(w.home, "victim")
			require.NoError(t, os.Mkdir(victim, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(victim, "file"), []byte("precious"), 0o644))
			tr := trouble{says: p.says, make: func(t *testing.T, w *world) func() {
				at := p.plant(t, w, victim)
				return func() { require.NoError(t, os.RemoveAll(at)) }
			}}
			was := tree(t, victim)
			replacing.refused(t, w, tr)
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
	says  []string
}{
	{name: "sibling a link", says: []string{".list.fsmtx", "it is a symbolic link"}, plant: func(t *testing.T, w *world, victim string) string {
		require.NoError(t, os.Symlink(victim, w.sibling()))
		return w.sibling()
	}},
	{name: "sibling a link to nothing", says: []string{".list.fsmtx", "it is a symbolic link"}, plant: func(t *testing.T, w *world, victim string) string {
		require.NoError(t, os.Symlink(victim+"/nothing", w.sibling()))
		return w.sibling()
	}},
	{name: "sibling a file", says: []string{".list.fsmtx", "it is a file"}, plant: func(t *testing.T, w *world, _ string) string {
		require.NoError(t, os.WriteFile(w.sibling(), []byte("mine"), 0o644))
		return w.sibling()
	}},
	{name: "sibling a pipe", says: []string{".list.fsmtx", "it is a named pipe"}, plant: func(t *testing.T, w *world, _ string) string {
		require.NoError(t, syscall.Mkfifo(w.sibling(), 0o644))
		return w.sibling()
	}},
	{name: "sibling open to others", says: []string{".list.fsmtx", "others may write to it"}, plant: func(t *testing.T, w *world, _ string) string {
		require.NoError(t, os.Mkdir(w.sibling(), 0o700))
		require.NoError(t, os.Chmod(w.sibling(), 0o777))
		return w.sibling()
	}},
	{name: "sibling of another user", root: true, says: []string{".list.fsmtx", "belongs to user 65534"}, plant: func(t *testing.T, w *world, _ string) string {
		require.NoError(t, os.Mkdir(w.sibling(), 0o700))
		require.NoError(t, os.Chown(w.sibling(), nobody, nobody))
		return w.sibling()
	}},
	{name: "lock a link", says: []string{"lock", "not a regular file"}, plant: func(t *testing.T, w *world, victim string) string {
		require.NoError(t, os.Mkdir(w.sibling(), 0o700))
		require.NoError(t, os.Symlink(victim+"/file", w.lock()))
		return w.lock()
	}},
	{name: "lock a pipe", says: []string{"lock", "not a regular file"}, plant: func(t *testing.T, w *world, _ string) string {
		require.NoError(t, os.Mkdir(w.sibling(), 0o700))
		require.NoError(t, syscall.Mkfifo(w.lock(), 0o600))
		return w.lock()
	}},
	{name: "lock a directory", says: []string{"lock", "not a regular file"}, plant: func(t *testing.T, w *world, _ string) string {
		require.NoError(t, os.MkdirAll(w.lock(), 0o700))
		return w.lock()
	}},
	{name: "journal a link", says: []string{"journal", "not a regular file"}, plant: func(t *testing.T, w *world, victim string) string {
		w.makeSibling(t)
		require.NoError(t, os.Symlink(victim+"/file", filepath.Join(w.sibling(), "journal")))
		return filepath.Join(w.sibling(), "journal")
	}},
}
