package hydrate_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// hydrateInTime hydrates a skill with two tasks in a new home directory. ended is closed
// when the context is cancelled.
func hydrateInTime(t *testing.T, soft, hard time.Duration, files vfs.FS, ended chan struct{},
	prepare func(list, skill string)) (list string, result hydrate.Result, err error) {
	home, e := skillHome(t, map[string]string{"x": `[{"id": 1, "subject": "a"}, {"id": 2, "subject": "b"}]`})
	list = filepath.Join(home, ".claude/tasks/s")
	prepare(list, filepath.Join(home, ".claude/skills/x"))
	r := hydrate.Request{Event: client.PostToolUse, Session: "s", Command: "x", Cwd: home}
	result, err = hydrate.InTime(t.Context(), soft, hard, func(ctx context.Context) (hydrate.Result, error) {
		context.AfterFunc(ctx, func() { close(ended) })
		return hydrate.Run(ctx, r, e, hydrate.Options{LockTimeout: time.Hour, FS: files})
	})
	return list, result, err
}

func nothingMore(string, string) {}

func TestInTimeGivesUpOnAHeldLock(t *testing.T) { synctest.Test(t, givesUpOnAHeldLock) }

func givesUpOnAHeldLock(t *testing.T) {
	list, result, err := hydrateInTime(t, 100*time.Millisecond, time.Hour, nil, make(chan struct{}), func(list, _ string) {
		require.NoError(t, os.MkdirAll(filepath.Join(list, ".lock.lock"), 0o755))
		require.NoError(t, os.Chtimes(filepath.Join(list, ".lock.lock"), time.Now(), time.Now().Add(time.Hour)))
	})
	require.ErrorIs(t, err, hydrate.ErrDeadline)
	message, _ := hydrate.Explain(err, result, env())
	assert.Contains(t, message, "gave up after 100ms: the client would soon end this hook")
	assert.Contains(t, message, "the task list is as it was before")
	assert.Equal(t, []string{".lock.lock"}, names(t, list))
}

// TestInTimeRollsBackOnASlowDisk: one operation takes until the context is cancelled.
func TestInTimeRollsBackOnASlowDisk(t *testing.T) {
	for _, op := range []string{"mkdir", "create", "sync", "link"} {
		t.Run(op, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { rollsBackOnASlow(t, op) }) })
	}
}

func rollsBackOnASlow(t *testing.T, op string) {
	ended, reached := make(chan struct{}), false
	slow := &faultfs.Steps{FS: vfs.OS{}, Before: func(s faultfs.Step) error {
		if s.Op == op {
			reached = true
			<-ended
		}
		return nil
	}}
	list, result, err := hydrateInTime(t, 100*time.Millisecond, time.Hour, slow, ended, nothingMore)
	require.ErrorIs(t, err, hydrate.ErrDeadline)
	require.True(t, reached)
	message, _ := hydrate.Explain(err, result, env())
	assert.Contains(t, message, "the task list is as it was before")
	assert.Empty(t, names(t, list), "rolled back")
}

func TestInTimeAbandonsWorkOnADiskThatDoesNotAnswer(t *testing.T) {
	for _, op := range []string{"mkdir", "create", "sync", "link"} {
		answer, finished := make(chan struct{}), make(chan struct{})
		stuck := &faultfs.Steps{FS: vfs.OS{}, Before: func(s faultfs.Step) error {
			if s.Op == op {
				<-answer
			}
			return nil
		}}
		home, e := skillHome(t, map[string]string{"x": `[{"id": 1, "subject": "a"}]`})
		_, err := hydrate.InTime(t.Context(), time.Millisecond, 100*time.Millisecond, func(ctx context.Context) (hydrate.Result, error) {
			defer close(finished)
			r := hydrate.Request{Event: client.PostToolUse, Session: "s", Command: "x", Cwd: home}
			return hydrate.Run(context.WithoutCancel(ctx), r, e, hydrate.Options{LockTimeout: time.Hour, FS: stuck})
		})
		require.ErrorIs(t, err, hydrate.ErrAbandoned, op)
		message, hint := hydrate.Explain(err, hydrate.Result{}, env())
		assert.Equal(t, "gave up after 100ms: a file system does not answer; it is not known whether the task list was changed", message)
		assert.Contains(t, hint, "fsmtx recover")
		close(answer)
		<-finished // before the test removes the directory
	}
}

// TestPanicStopsNothing: a program that panics exits with 2, which would cancel a prompt
// whose skill may have no workflow, or refuse a tool call.
func TestPanicStopsNothing(t *testing.T) {
	_, err := hydrate.InTime(t.Context(), time.Hour, time.Hour, func(context.Context) (hydrate.Result, error) {
		panic("index out of range")
	})
	require.ErrorIs(t, err, hydrate.ErrInternal)
	message, hint := hydrate.Explain(err, hydrate.Result{}, env())
	assert.Equal(t, "internal error: index out of range; it is not known whether the task list was changed", message)
	assert.Contains(t, hint, "fsmtx recover")
	for _, name := range []string{client.UserPromptExpansion, client.PreToolUse, client.Stop} {
		answer := hydrate.Failed(hydrate.Request{Event: name, Session: "s", Command: "x"}, hydrate.Result{}, message, hint)
		assert.Equal(t, client.ExitOK, answer.Exit, name)
	}
}

func TestSpecThatIsAFIFOIsAnErrorAtOnce(t *testing.T) {
	_, _, err := hydrateInTime(t, time.Hour, time.Hour, nil, make(chan struct{}), func(_, skill string) {
		require.NoError(t, os.Remove(filepath.Join(skill, "fsm.json")))
		require.NoError(t, files.Mkfifo(filepath.Join(skill, "fsm.json"), 0o644))
	})
	require.ErrorContains(t, err, "not a regular file")
}

// names returns the names in a directory, without the high-water mark.
func names(t *testing.T, dir string) []string {
	entries, err := os.ReadDir(dir)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	var list []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".highwater") {
			list = append(list, e.Name())
		}
	}
	return list
}
