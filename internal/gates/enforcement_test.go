package gates

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	testfiles "github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// every makes the tests of enforcement try every case instead of a sample.
var every = flag.Bool("every", false, "try every fault, every byte and every death")

// TestMain runs the processes that are killed: with FSMTX_TEST_DIE_AT=N in the environment
// the program makes the update FSMTX_TEST_CALL of the list FSMTX_TEST_LIST and is killed
// ahead of step N.
func TestMain(m *testing.M) {
	n, err := strconv.Atoi(os.Getenv("FSMTX_TEST_DIE_AT"))
	if err != nil {
		os.Exit(m.Run())
	}
	f := &Frame{
		Store: state.Store{List: tasks.List{Dir: os.Getenv("FSMTX_TEST_LIST"), Wait: 5 * time.Second, FS: faultfs.Kill(vfs.OS{}, n)},
			Session: "s1"},
		Env: os.Environ(),
	}
	f.try(context.Background(), os.Getenv("FSMTX_TEST_CALL"), true)
}

// denied are updates that may not be carried out without a word to the person.
var denied = map[string]Update{
	"blocked":       {Task: "2", Status: inProgress, Use: "toolu_a"},
	"file missing":  {Task: "3", Status: completed},
	"failing check": {Task: "4", Status: completed},
	"approval":      {Task: "5", Status: completed},
	"deletion":      {Task: "6", Status: workflow.Deleted},
	"hidden":        {Task: "6", Metadata: []byte(`{"_internal": true}`)},
	"overdue":       {Task: "2", Status: inProgress},
	"call":          {}, // a call that belongs to a step: see try
	"unchanged":     {Task: "1", Status: completed},
	"moved":         {Task: "1", Status: completed},
}

// try makes the update with that name, or the call. If use is set, it is a call of a message,
// which may wait for others.
func (f *Frame) try(ctx context.Context, name string, use bool) Verdict {
	u := denied[name]
	if !use {
		u.Use = ""
	}
	if name == "call" {
		return f.Call(ctx, ToolCall{Tool: "Bash", Line: "git push"})
	}
	return f.Update(ctx, u)
}

// linesFor returns how many lines of evidence there are.
func linesFor(s *state.State) int { return len(s.Evidence) + len(s.Calls) }

// enforced returns lists in which the updates in denied are to be denied, by their names:
// templates, which each case copies.
func enforced(t *testing.T) map[string]string {
	t.Helper()
	l := hydrated(t, `{}`, `{"blockedBy": [1]}`, `{"produces": ["missing"]}`, `{"check": "echo no; exit 3"}`,
		`{"approval": "Publish?"}`, `{}`)
	l.begin(1)
	l.denies(2, inProgress)
	l.begin(3)
	templates := map[string]string{}
	for name := range denied {
		templates[name] = filepath.Dir(l.List.Dir)
	}
	l = hydrated(t, `{"approval": "Really?"}`, `{"blockedBy": [1]}`)
	require.Equal(t, state.Ask, l.ask(1, completed).Decision)
	l.set(1, completed) // by a script, after nobody said yes
	templates["overdue"] = filepath.Dir(l.List.Dir)
	l = released(t)
	l.begin(1)
	require.Equal(t, state.Deny, l.call(push("")).Decision)
	templates["call"] = filepath.Dir(l.List.Dir)
	for _, name := range []string{"unchanged", "moved"} {
		l = ofSpec(t, `[{"id": 1, "subject": "Write", "produces": ["notes.md"]}, {"id": 2, "subject": "Publish", "blockedBy": [1]}]`,
			map[string][]string{"unchanged": {"notes.md", "of the last release"}}[name]...)
		l.begin(1)
		l.put(99, `{"id":"99","subject":"mine","description":"","status":"pending","blocks":[],"blockedBy":[]}`)
		if name == "moved" {
			require.NoError(t, os.Rename(l.project, l.project+".new"))
			l.write("notes.md", "in a decoy")
		}
		templates[name] = filepath.Dir(l.List.Dir)
	}
	return templates
}

// copied returns a frame for a copy of the template.
func copied(t *testing.T, template string) *Frame {
	t.Helper()
	dir := filepath.Join(worlds.MemoryDir(t), "tasks")
	require.NoError(t, filepath.WalkDir(template, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(template, path)
		to := filepath.Join(dir, rel)
		if d.IsDir() {
			return os.MkdirAll(to, 0o700)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o600)
	}))
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return &Frame{Store: state.Store{List: tasks.List{Dir: filepath.Join(dir, "s1"), Wait: 5 * time.Second}, Session: "s1"}, Env: os.Environ()}
}

// silent reports what is wrong with the outcome of an update that is to be denied: it was
// carried out, and neither an answer nor the record says so.
func silent(v Verdict) bool { return v.Allowed() && v.Trouble == "" && v.Beside == "" }

// listOf returns the content of the tasks.
func listOf(t *testing.T, f *Frame) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(f.List.Dir)
	require.NoError(t, err)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			data, err := os.ReadFile(filepath.Join(f.List.Dir, e.Name()))
			require.NoError(t, err)
			files[e.Name()] = string(data)
		}
	}
	return files
}

// requireEnforced fails unless each of the updates is denied again without any fault, or told if it is refused only once, and
// nothing was lost: neither a task nor evidence.
func requireEnforced(t *testing.T, f *Frame, name string, before map[string]string, evidence int, about string) {
	t.Helper()
	f.List.FS = nil
	require.Equal(t, before, listOf(t, f), about)
	v := f.try(t.Context(), name, true)
	require.False(t, silent(v) || v.Allowed() && name != "unchanged", "%s: %+v", about, v)
	s, err := state.Load(t.Context(), f.List.Dir)
	require.NoError(t, err)
	require.Empty(t, s.Troubles)
	require.GreaterOrEqual(t, linesFor(s), evidence, about)
}

// eachDenied tries each of the denied updates, at every stride-th point of it, on a copy of its list, until do finds that it has
// fewer. It returns how often it did.
func eachDenied(t *testing.T, stride int, do func(name string, n int, f *Frame) (more bool)) (tried int) {
	templates := enforced(t)
	for name := range denied {
		for n, more := 0, true; more; n += stride {
			f := copied(t, templates[name])
			if more = do(name, n, f); more {
				tried++
			}
			_ = os.RemoveAll(filepath.Dir(f.List.Dir))
		}
	}
	return tried
}

// sampled is the stride of a sweep, which tries everything with -every.
func sampled(stride int) int {
	if *every {
		return 1
	}
	return stride
}

// TestEnforcementOnEveryFault makes each call to the file system fail once with each error.
func TestEnforcementOnEveryFault(t *testing.T) {
	errnos := []syscall.Errno{syscall.EIO, syscall.EACCES, syscall.ENOSPC, syscall.EROFS, syscall.EMFILE, syscall.EINTR, syscall.ENOENT,
		syscall.ELOOP, syscall.EEXIST, syscall.ESTALE}
	if !*every {
		errnos = errnos[:1]
	}
	tried, told := 0, 0
	for _, errno := range errnos {
		tried += eachDenied(t, sampled(4), func(name string, n int, f *Frame) bool {
			before, s := listOf(t, f), stateOfList(t, f)
			var failed *faultfs.Step
			f.List.FS = faultfs.Fail(vfs.OS{}, n, errno, func(s faultfs.Step) { failed = &s })
			v := f.try(t.Context(), name, false)
			if failed == nil {
				return false
			}
			about := fmt.Sprintf("%s, %v at step %d, %s: %+v", name, errno, n, failed, v)
			require.False(t, silent(v), about)
			if v.Allowed() {
				told++
			}
			requireEnforced(t, f, name, before, linesFor(s), about)
			return true
		})
	}
	t.Logf("%d faults; the person was told instead of a denial after %d of them", tried, told)
}

func stateOfList(t *testing.T, f *Frame) *state.State {
	t.Helper()
	s, err := state.Load(t.Context(), f.List.Dir)
	require.NoError(t, err)
	return s
}

// filesIn returns the sizes of the files in a directory.
func filesIn(t *testing.T, dir string) map[string]int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	sizes := map[string]int{}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			sizes[e.Name()] = int(info.Size())
		}
	}
	require.Greater(t, len(sizes), 2)
	return sizes
}

// TestEnforcementOfDamagedFiles flips each byte of each file in S, and cuts each file at each
// length.
func TestEnforcementOfDamagedFiles(t *testing.T) {
	templates, tried, told := enforced(t), 0, 0
	for name := range denied {
		for file, size := range filesIn(t, filepath.Join(templates[name], ".s1.fsmtx")) {
			for at := 0; at < size; at += sampled(211) {
				for _, cut := range []bool{false, true} {
					f := copied(t, templates[name])
					data, err := os.ReadFile(f.stateFile(file))
					require.NoError(t, err)
					require.NoError(t, os.WriteFile(f.stateFile(file), damaged(data, at, cut), 0o600))
					before := listOf(t, f)
					v := f.try(t.Context(), name, false)
					require.False(t, silent(v), "%s: %s at byte %d, cut %t: %+v", name, file, at, cut, v)
					require.Equal(t, before, listOf(t, f))
					if tried++; v.Allowed() {
						told++
					}
					_ = os.RemoveAll(filepath.Dir(f.List.Dir))
				}
			}
		}
	}
	t.Logf("%d damaged files; the person was told instead of a denial for %d of them", tried, told)
}

// damaged returns data with a bit flipped, or cut there.
func damaged(data []byte, at int, cut bool) []byte {
	if data = slices.Clone(data); cut {
		return data[:at]
	}
	data[at] ^= 1 << (at % 8)
	return data
}

// TestEnforcementWithoutStateDir: nothing is known, and the person is told, once a session.
func TestEnforcementWithoutStateDir(t *testing.T) {
	template := enforced(t)["blocked"]
	for name, remove := range map[string]func(s string) error{
		"gone":  os.RemoveAll,
		"empty": func(s string) error { _ = os.RemoveAll(s); return os.Mkdir(s, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			f := copied(t, template)
			require.NoError(t, remove(state.StateDir(f.List.Dir)))
			v := f.Update(t.Context(), denied["failing check"])
			require.True(t, v.Allowed())
			require.Contains(t, v.Trouble, `#4 "Step 4" is marked as a step of the workflow "release", but nothing about it is on record in `+
				state.StateDir(f.List.Dir)+", so the steps of this list are not enforced.")
			require.Empty(t, f.Update(t.Context(), denied["approval"]).Trouble, "it was told in this session")
			f.Session = "s2"
			require.NotEmpty(t, f.Update(t.Context(), denied["approval"]).Trouble)
			troubles, err := f.AllTroubles(t.Context())
			require.NoError(t, err)
			require.Len(t, troubles, 1)
			require.ErrorIs(t, troubles[0], state.ErrUnrecorded)
			require.Equal(t, Verdict{}, f.Update(t.Context(), Update{Task: "99", Status: workflow.Deleted}), "no step")
		})
	}
	f := copied(t, template)
	require.NoError(t, os.Chmod(state.StateDir(f.List.Dir), 0o777))
	for name := range denied {
		if slices.Contains([]string{"overdue", "call", "unchanged", "moved"}, name) {
			continue // of another list
		}
		v := f.try(t.Context(), name, false)
		require.False(t, silent(v), name)
		if name == "blocked" || name == "deletion" || name == "hidden" {
			require.Equal(t, state.Deny, v.Decision, "it needs no record: %s", name)
		}
	}
}

// TestEnforcementWithoutOneRecord: a step is completed only after what is under it, of which the record is another one. If either
// cannot be read, that is denied or told, and the list stays as it is.
func TestEnforcementWithoutOneRecord(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Migrate", "each": {"run": "echo a"},
		"do": [{"id": 1, "subject": "Change {item}"}]}]}`)
	l.begin(1)
	records, err := filepath.Glob(l.stateFile("done-*"))
	require.NoError(t, err)
	require.Len(t, records, 2)
	for _, record := range records {
		f := copied(t, filepath.Dir(l.List.Dir))
		require.NoError(t, os.WriteFile(f.stateFile(filepath.Base(record)), []byte("damaged"), 0o600))
		before := listOf(t, f)
		v := f.Update(t.Context(), Update{Task: "1", Status: completed})
		require.False(t, silent(v), "%+v", v)
		require.Equal(t, before, listOf(t, f))
	}
}

// TestEnforcementWithTheLockHeld: what is denied stays denied, and its record is only late.
func TestEnforcementWithTheLockHeld(t *testing.T) {
	templates := enforced(t)
	for name := range denied {
		f := copied(t, templates[name])
		lines := linesFor(stateOfList(t, f))
		held, err := os.Stat(f.stateFile("lock"))
		require.NoError(t, err)
		unlock, err := safefile.Lock(t.Context(), f.stateFile("lock"), held)
		require.NoError(t, err)
		f.List.Wait = time.Millisecond
		v := f.try(t.Context(), name, false)
		require.False(t, v.Allowed(), "%s: %+v", name, v)
		v = f.Update(t.Context(), Update{Task: "1", Status: pending})
		require.Equal(t, Verdict{Decision: state.Allow, Step: 1, Why: "no gate applies"}, v)
		late, err := filepath.Glob(f.stateFile("late.*"))
		require.NoError(t, err)
		require.Len(t, late, 2, name)
		seen := stateOfList(t, f)
		require.GreaterOrEqual(t, linesFor(seen), lines+2, "readers see it at once")

		unlock()
		f.List.Wait = 5 * time.Second
		v = f.try(t.Context(), name, false)
		require.False(t, silent(v) || v.Allowed() && name != "unchanged", "%s: %+v", name, v)
		late, err = filepath.Glob(f.stateFile("late.*"))
		require.NoError(t, err)
		require.Empty(t, late, "the next holder of the lock merges it")
		require.Greater(t, linesFor(stateOfList(t, f)), linesFor(seen))
	}
}

// TestALateLineIsNotRemovedUnread: while a call writes late lines, the holder of the lock adds to the evidence
// what it finds of them. If the call is killed there, nothing of it stays to be read again.
func TestALateLineIsNotRemovedUnread(t *testing.T) {
	for _, killed := range []bool{false, true} {
		for n, more := 0, true; more; n++ {
			f := copied(t, enforced(t)["failing check"])
			merge := func() {
				require.NoError(t, f.Locked(t.Context(), func(dir *txn.Dir) error { return f.Record(dir, stateOfList(t, f), nil) }))
			}
			writer := *f
			c := &call{Frame: &writer, id: state.NewCallID()}
			left := n
			writer.List.FS = &faultfs.Steps{FS: vfs.OS{}, Before: func(faultfs.Step) error {
				if left--; left < 0 && killed {
					return faultfs.ErrFrozen
				} else if left == -1 {
					merge()
				}
				return nil
			}}
			var lines []state.Evidence
			for _, why := range []string{"the first", "the second"} {
				lines = append(lines, state.Evidence{Time: time.Now().UTC(), Step: 1, To: pending, Verdict: state.Reopen, Why: why})
			}
			err := c.WriteLate(lines)
			more = left < 0
			merge()
			seen := stateOfList(t, f)
			for _, e := range lines {
				found := slices.ContainsFunc(seen.Evidence, func(o state.Evidence) bool { return e.Why == o.Why })
				require.True(t, found || err != nil, "%s: merged at step %d", e.Why, n)
			}
			late, err := filepath.Glob(f.stateFile("late.*[a-z]")) // but for a temporary file, which nobody reads
			require.NoError(t, err)
			require.Empty(t, late, "killed: %t, step %d", killed, n)
		}
	}
}

// TestEnforcementOfASwappedStateDir puts another directory, which belongs to a victim, at
// the path of S before each call to the file system. The victim's files stay as they are.
func TestEnforcementOfASwappedStateDir(t *testing.T) {
	victim := []string{"steps.jsonl", "session.json", "moving.json", "archive.a", "lock", "journal", "task.json"}
	swaps := eachDenied(t, sampled(7), func(name string, n int, f *Frame) bool {
		s, step, swapped := state.StateDir(f.List.Dir), -1, false
		f.List.FS = &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(faultfs.Step) error {
			if step++; step == n {
				swapped = true
				require.NoError(t, os.Rename(s, s+".theirs"))
				require.NoError(t, os.Mkdir(s, 0o700))
				for _, file := range victim {
					require.NoError(t, os.WriteFile(filepath.Join(s, file), []byte("precious"), 0o600))
				}
				require.NoError(t, os.Chmod(s, 0o777)) // as if it were another user's
			}
			return nil
		}}
		v := f.try(t.Context(), name, false)
		if !swapped {
			return false
		}
		require.False(t, silent(v), "%s, swapped before step %d: %+v", name, n, v)
		for _, file := range victim {
			data, err := os.ReadFile(filepath.Join(s, file))
			require.NoError(t, err)
			require.Equal(t, "precious", string(data), "%s, swapped before step %d: %s", name, n, file)
		}
		return true
	})
	t.Logf("%d swaps", swaps)
}

// TestEnforcementOfADamagedDirectory flips each byte of the record of the session's directory, and cuts it at each length: it
// never names another one, in which a workflow could be begun without a question.
func TestEnforcementOfADamagedDirectory(t *testing.T) {
	l := hydrated(t, `{}`)
	elsewhere := t.TempDir()
	require.NoError(t, l.KeepDirectory(t.Context(), l.project))
	require.Equal(t, l.project, l.Directory(t.Context()))
	whole, err := os.ReadFile(l.stateFile(state.SessionFile))
	require.NoError(t, err)
	lost := 0
	for at := range whole {
		for _, cut := range []bool{false, true} {
			require.NoError(t, os.WriteFile(l.stateFile(state.SessionFile), damaged(whole, at, cut), 0o600))
			dir := l.Directory(t.Context())
			require.False(t, dir != "" && IsIn(dir, elsewhere), "byte %d, cut %t: %s", at, cut, dir)
			if dir != l.project {
				lost++
			}
		}
	}
	t.Logf("%d damaged records, of which %d name no directory or one in which nothing can be begun", 2*len(whole), lost)
}

// TestEnforcementAfterEveryDeath kills the hook ahead of each change and repeats the update.
func TestEnforcementAfterEveryDeath(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	deaths := eachDenied(t, sampled(9), func(name string, n int, f *Frame) bool {
		before, s := listOf(t, f), stateOfList(t, f)
		c := exec.Command(self)
		c.Env = append(os.Environ(), "FSMTX_TEST_DIE_AT="+strconv.Itoa(n), "FSMTX_TEST_LIST="+f.List.Dir, "FSMTX_TEST_CALL="+name)
		out, err := c.CombinedOutput()
		if err == nil {
			return false // the update has fewer steps
		}
		require.True(t, testfiles.WasKilled(c.ProcessState), "%v: %s", err, out)
		requireEnforced(t, f, name, before, linesFor(s), fmt.Sprintf("%s, killed at step %d", name, n))
		return true
	})
	t.Logf("%d deaths", deaths)
}
