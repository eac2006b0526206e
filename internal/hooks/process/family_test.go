//go:build unix

package process

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// withoutGroup are commands that start a process in a session of its own; the last two leave it without parents.
var withoutGroup = map[string]string{
	"child":         "setsid sh -c 'echo $$ > child; exec sleep 300' & wait",
	"ignores TERM":  "setsid sh -c 'trap \"\" TERM; echo $$ > child; while :; do sleep 1; done' & wait",
	"orphan":        "(setsid sh -c 'echo $$ > child; exec sleep 300' &); while :; do sleep 1; done",
	"its own child": "(setsid sh -c 'sh -c \"echo \\$\\$ > child; exec sleep 300\" & wait' &); while :; do sleep 1; done",
}

func needSetsid(t *testing.T, name string) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("skipped: setsid is not installed")
	}
	if runtime.GOOS != "linux" && (name == "orphan" || name == "its own child") {
		t.Skip("skipped: only Linux gives orphans to a program that asks for them")
	}
}

func TestWhatLeftTheGroupEndsWithTheCommand(t *testing.T) {
	for name, line := range withoutGroup {
		t.Run(name, func(t *testing.T) {
			needSetsid(t, name)
			dir := t.TempDir()
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				pidIn(t, filepath.Join(dir, "child"))
				cancel(errors.New("enough"))
			}()
			c := sh(line, dir, time.Minute)
			c.Whole, c.Grace = true, grace
			o := c.Run(ctx)
			require.ErrorIs(t, o.Err, ErrCancelled)
			require.Empty(t, o.Left())
			require.False(t, runs(pidIn(t, filepath.Join(dir, "child"))), "it is gone when Run returns")
		})
	}
}

// TestWhatOutlivesACommandThatEndedStays, also if a later one is stopped.
func TestWhatOutlivesACommandThatEndedStays(t *testing.T) {
	needSetsid(t, "orphan")
	dir := t.TempDir()
	c := sh("(setsid sh -c 'echo $$ > child; exec sleep 300' >/dev/null 2>&1 &); while [ ! -s child ]; do :; done", dir, time.Minute)
	c.Whole = true
	require.NoError(t, c.Run(t.Context()).Err)
	daemon := pidIn(t, filepath.Join(dir, "child"))
	later := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		pidIn(t, filepath.Join(later, "child"))
		cancel()
	}()
	c = sh("echo $$ > child; exec sleep 300", later, time.Minute)
	c.Whole, c.Grace = true, grace
	require.ErrorIs(t, c.Run(ctx).Err, ErrCancelled)
	require.True(t, runs(daemon))
	require.NoError(t, syscall.Kill(daemon, syscall.SIGKILL))
}

// TestCommandsBesideEachOther: the orphans of one are not ended with another.
func TestCommandsBesideEachOther(t *testing.T) {
	needSetsid(t, "orphan")
	one, two := t.TempDir(), t.TempDir()
	stopOne, cancelOne := context.WithCancel(t.Context())
	stopTwo, cancelTwo := context.WithCancel(t.Context())
	defer cancelTwo()
	ended := make(chan Outcome, 2)
	run := func(ctx context.Context, line, dir string) {
		c := sh(line, dir, time.Minute)
		c.Whole, c.Grace = true, grace
		ended <- c.Run(ctx)
	}
	go run(stopTwo, withoutGroup["orphan"], two)
	orphan := pidIn(t, filepath.Join(two, "child"))
	go run(stopOne, "echo $$ > child; exec sleep 300", one)
	pidIn(t, filepath.Join(one, "child"))
	cancelOne()
	require.ErrorIs(t, (<-ended).Err, ErrCancelled)
	require.True(t, runs(orphan))
	cancelTwo()
	<-ended
	_ = syscall.Kill(orphan, syscall.SIGKILL)
}

// TestCommandsBesideOneAnother end as they end: what one of them has started, or is starting, is no orphan of another.
func TestCommandsBesideOneAnother(t *testing.T) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 25 {
				o := Command{Args: Shell("exit 3"), Whole: true, Timeout: time.Minute}.Run(t.Context())
				assert.True(t, o.Exited(3), "%+v", o)
			}
		})
	}
	all.Wait()
}
