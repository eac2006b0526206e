package tasks

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

func TestWithStateDir(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	for _, dir := range []string{
		filepath.Join(root, "b"), filepath.Join(root, ".b.fsmtx"), filepath.Join(root, ".a.fsmtx"), filepath.Join(root, "untouched"),
		filepath.Join(elsewhere, "one"), filepath.Join(elsewhere, ".one.fsmtx"), filepath.Join(elsewhere, "two"),
	} {
		require.NoError(t, os.Mkdir(dir, 0o755))
	}
	for link, target := range map[string]string{"linked": "one", "other": "two", "dangling": "three"} {
		require.NoError(t, os.Symlink(filepath.Join(elsewhere, target), filepath.Join(root, link)))
	}
	got, err := WithStateDir(root)
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join(root, "a"), filepath.Join(root, "b"), filepath.Join(root, "linked")}, got)
}

func TestWithStateDirOfAnAbsentRoot(t *testing.T) {
	got, err := WithStateDir(filepath.Join(t.TempDir(), "tasks"))
	require.NoError(t, err)
	assert.Empty(t, got)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	_, err = WithStateDir(file)
	require.ErrorIs(t, err, syscall.ENOTDIR)
}

func TestWaitingEndsWithErrTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := List{Wait: time.Minute}.Waiting(t.Context())
		defer cancel()
		start := time.Now()
		<-ctx.Done()
		assert.Equal(t, time.Minute, time.Since(start))
		require.ErrorIs(t, context.Cause(ctx), errTimeout)

		ctx, cancel = List{}.Waiting(t.Context())
		_, limited := ctx.Deadline()
		assert.False(t, limited, "no limit of its own")
		cancel()
		assert.NotErrorIs(t, context.Cause(ctx), errTimeout)
	})
}

// TestRecoverWaitsForTheClientsLocks: an interrupted replacement is rolled back only
// while the client is locked out.
func TestRecoverWaitsForTheClientsLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newList(t)
		write(t, l.Dir, "1.json", task(taggedTask, "1.json"))
		died := false
		l.FS = &faultfs.Steps{FS: vfs.OS{}, Before: func(s faultfs.Step) error {
			if died = died || s.Op == "remove" && s.Path == filepath.Join(l.Dir, "1.json"); died {
				return syscall.EIO // every later step fails too, the rollback included
			}
			return nil
		}}
		_, err := l.Replace(t.Context(), Label{}, planner(t, `[{"id": 1, "subject": "new"}]`, nil))
		require.ErrorIs(t, err, txn.ErrRecoveryRequired)

		l.FS = nil
		lock := filepath.Join(l.Dir, listLock)
		require.NoError(t, os.RemoveAll(lock)) // of the dead process
		require.NoError(t, os.Mkdir(lock, 0o755))
		l.Wait = 10 * time.Second
		_, err = l.Recover(t.Context())
		require.ErrorIs(t, err, errTimeout)
		require.NoError(t, os.Remove(lock))

		l.Wait = 0
		report, err := l.Recover(t.Context())
		require.NoError(t, err)
		assert.Equal(t, txn.RolledBack, report.Outcome)
		assert.Equal(t, []string{"2.json"}, report.Removed)
		assert.FileExists(t, filepath.Join(l.Dir, "1.json"))
	})
}

func TestNumber(t *testing.T) {
	for name, want := range map[string]int64{
		"5.json": 5, "007.json": 7, "5a.json": 5, "abc.json": 0, "-3.json": 0, "": 0, "0.json": 0,
		"9223372036854775807.json": math.MaxInt64, "99999999999999999999.json": math.MaxInt64,
	} {
		assert.Equal(t, want, ClientForm{}.Number(name), name)
	}
}

func TestTaskNames(t *testing.T) {
	for name, want := range map[string]bool{"5.json": true, "abc.json": true, ".5.json": false, "5.json.tmp": false, "5": false} {
		assert.Equal(t, want, ClientForm{}.IsTask(name), name)
	}
}

func TestHighWaterIsReadAsTheClientReadsIt(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]int64{"7": 7, " 7\n": 7, "7 trailing": 7, "+7": 7, "-7": 0, "x": 0, "": 0, "\ufeff9": 9} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, highWaterName), []byte(text), 0o644))
		got, err := readHighWater(vfs.OS{}, dir)
		require.NoError(t, err)
		assert.Equal(t, want, got, "%q", text)
	}
}

func TestHighWaterReadErrorIsReturned(t *testing.T) {
	broken := &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(faultfs.Step) error { return syscall.EIO }}
	_, err := readHighWater(broken, t.TempDir())
	assert.ErrorIs(t, err, syscall.EIO)
}

func TestAHighWaterMarkThatIsNoneIsIgnored(t *testing.T) {
	for what, put := range map[string]func(path string) error{
		"a directory": func(path string) error { return os.Mkdir(path, 0o755) },
		"too large": func(path string) error {
			return os.WriteFile(path, []byte("7"+strings.Repeat(" ", vfs.MaxFileBytes)), 0o600)
		},
		"missing": func(string) error { return nil },
	} {
		dir := t.TempDir()
		require.NoError(t, put(filepath.Join(dir, highWaterName)))
		got, err := readHighWater(vfs.OS{}, dir)
		require.NoError(t, err, what)
		assert.Zero(t, got, what)
	}
}

// TestHighWaterOnlyRises, as the client reads it.
func TestHighWaterOnlyRises(t *testing.T) {
	assert.Nil(t, ClientForm{}.Mark(0))
	mark := ClientForm{}.Mark(5)
	assert.Equal(t, "5", string(mark.Data))
	for now, reached := range map[string]bool{"": false, "x": false, "4": false, "-9": false, "5": true, " 6\n": true, "50": true} {
		assert.Equal(t, reached, mark.Reached([]byte(now)), "%q", now)
	}
}

func TestTasks(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "10.json", `{"id":"10","subject":"ten","status":"pending","blockedBy":["2"]}`)
	write(t, dir, "2.json", `{"id":"2","subject":"two","status":"completed","status":"in_progress"}`)
	write(t, dir, "3.json", `{"id":"3", torn`)
	write(t, dir, "4.json", `{"subject":"without id"}`)
	write(t, dir, ".5.json", `{"id":"5"}`)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "6.json"), 0o755))
	got, err := Tasks(t.Context(), dir, nil)
	require.NoError(t, err)
	assert.Equal(t, []Task{
		{ID: "2", Subject: "two", Status: "in_progress"},
		{ID: "10", Subject: "ten", Status: "pending", BlockedBy: []string{"2"}},
	}, got)
	got, err = Tasks(t.Context(), dir, func(id string) *Task { return map[string]*Task{"3": {Subject: "known"}}[id] })
	require.NoError(t, err)
	require.Len(t, got, 3)
	assert.Equal(t, Task{ID: "3", Subject: "known"}, got[1])
}

func TestTasksOfAnAbsentList(t *testing.T) {
	got, err := Tasks(t.Context(), filepath.Join(t.TempDir(), "list"), nil)
	require.NoError(t, err)
	assert.Empty(t, got)
}

func TestTasksErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "1.json", "{}")
	_, err := Tasks(t.Context(), filepath.Join(dir, "1.json"), nil)
	require.ErrorIs(t, err, syscall.ENOTDIR)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Tasks(ctx, dir, nil)
	require.ErrorIs(t, err, context.Canceled)
}

func env(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

func TestID(t *testing.T) {
	for session, want := range map[string]string{
		"abc-123_X":      "abc-123_X",
		"azAZ09":         "azAZ09",
		"`{@[/:":         "------",
		"../../etc":      "------etc",
		"a b\nc":         "a-b-c",
		"é":              "-",
		"𝄞":              "--", // two UTF-16 code units
		"a\xffb":         "a-b",
		".":              "-",
		"a/b\x00c":       "a-b-c",
		"team.name@home": "team-name-home",
	} {
		assert.Equal(t, want, ID(env(nil), session), "%q", session)
	}
	assert.Equal(t, "my-list", ID(env(map[string]string{"CLAUDE_CODE_TASK_LIST_ID": "my list"}), "s"))
	assert.Equal(t, "s", ID(env(map[string]string{"CLAUDE_CODE_TASK_LIST_ID": ""}), "s"), "an empty variable is not set")
}

func TestDir(t *testing.T) {
	dir, err := Dir(env(map[string]string{"HOME": "/home/u"}), "s")
	require.NoError(t, err)
	assert.Equal(t, "/home/u/.claude/tasks/s", dir)
	dir, err = Dir(env(map[string]string{"HOME": "/home/u", "CLAUDE_CONFIG_DIR": "/c"}), "s")
	require.NoError(t, err)
	assert.Equal(t, "/c/tasks/s", dir)
	_, err = Dir(env(map[string]string{"HOME": ""}), "s")
	assert.ErrorIs(t, err, client.ErrNoHome)
}
