//go:build unix

package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func sh(command, dir string, timeout time.Duration) Command {
	return Command{Args: Shell(command), Dir: dir, Env: os.Environ(), Timeout: timeout, Grace: grace}
}

const grace = 300 * time.Millisecond

// timeOut runs a command that writes into the file child before its time is over, and has to be stopped then.
// On a loaded machine the shell may need longer than it is given: the command is run again, with more time.
func timeOut(t *testing.T, command string, grace time.Duration) (o Outcome, child int) {
	t.Helper()
	for timeout := 200 * time.Millisecond; timeout < time.Minute; timeout *= 2 {
		dir := t.TempDir()
		c := sh(command, dir, timeout)
		c.Grace = grace
		o = c.Run(t.Context())
		require.ErrorIs(t, o.Err, ErrTimeout)
		require.ErrorContains(t, o.Err, "timed out after "+timeout.String())
		if info, err := os.Stat(filepath.Join(dir, "child")); err == nil && info.Size() > 0 {
			return o, pidIn(t, filepath.Join(dir, "child"))
		}
	}
	require.FailNow(t, "the command does not begin")
	return o, 0
}

// pidIn waits until a process has written its id into a file, and returns the id.
func pidIn(t *testing.T, path string) int {
	var pid int
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(path)
		if err != nil || !strings.HasSuffix(string(text), "\n") {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil
	}, time.Minute, 5*time.Millisecond)
	return pid
}

// runs reports whether a process exists and is not a zombie: in a container without an init
// process zombies are never reaped.
func runs(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

func requireEnded(t *testing.T, pid int) {
	require.Eventually(t, func() bool { return !runs(pid) }, time.Minute, 10*time.Millisecond, "process %d still runs", pid)
}

func TestTimeoutStopsTheWholeGroup(t *testing.T) {
	_, child := timeOut(t, "sleep 300 & echo $! > child; wait", grace)
	requireEnded(t, child)
}

func TestProcessThatIgnoresSIGTERMIsKilled(t *testing.T) {
	for name, command := range map[string]string{
		"shell": "trap '' TERM; echo $$ > child; while :; do sleep 1; done",
		"child": "(trap '' TERM; echo $PPID > parent; exec sh -c 'echo $$ > child; while :; do sleep 1; done')",
		"quiet": "(trap '' TERM; exec sh -c 'echo $$ > child; while :; do sleep 1; done') >/dev/null 2>&1",
	} {
		t.Run(name, func(t *testing.T) {
			_, child := timeOut(t, command, grace)
			requireEnded(t, child)
		})
	}
}

func TestBackgroundProcessIsNeitherStoppedNorWaitedFor(t *testing.T) {
	dir := t.TempDir()
	o := sh("sleep 300 & echo $! > child; echo done", dir, time.Minute).Run(t.Context())
	require.NoError(t, o.Err)
	require.Equal(t, "done\n", o.Stdout)
	require.Less(t, o.Duration, 30*time.Second)
	child := pidIn(t, filepath.Join(dir, "child"))
	require.True(t, runs(child))
	require.NoError(t, syscall.Kill(child, syscall.SIGKILL))
}

func TestProcessOutsideTheGroupIsNotWaitedFor(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("skipped: setsid is not installed")
	}
	o, child := timeOut(t, "setsid sh -c 'echo $$ > child; exec sleep 300' & wait", 4*time.Minute)
	require.Less(t, o.Duration, 3*time.Minute, "the process holds the pipes and left the group")
	require.NoError(t, syscall.Kill(child, syscall.SIGKILL))
}

func TestCancellationStopsTheGroup(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	go func() {
		pidIn(t, filepath.Join(dir, "child"))
		cancel(why)
	}()
	o := sh("sleep 300 & echo $! > child; wait", dir, time.Minute).Run(ctx)
	require.ErrorIs(t, o.Err, ErrCancelled)
	require.ErrorIs(t, o.Err, why)
	requireEnded(t, pidIn(t, filepath.Join(dir, "child")))
}

func TestStartFailures(t *testing.T) {
	for name, i := range map[string]Command{
		"directory": sh("true", "/does/not/exist", time.Second),
		"file":      sh("true", "/dev/null", time.Second),
		"program":   {Args: []string{"/does/not/exist"}, Timeout: time.Second},
		"nul byte":  sh("true\x00", "", time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			o := i.Run(t.Context())
			require.ErrorContains(t, o.Err, "starting failed: ")
			require.Equal(t, name == "directory", strings.Contains(o.Err.Error(), "stat /does/not/exist"), o.Err)
			require.Equal(t, name == "file", strings.HasSuffix(o.Err.Error(), "chdir /dev/null: not a directory"), o.Err)
			require.False(t, o.Exited(0))
		})
	}
}

func TestLongStreamIsTruncatedAndTheProcessStillExits(t *testing.T) {
	o := sh("head -c 34000000 /dev/zero; echo end >&2", t.TempDir(), time.Minute).Run(t.Context())
	require.NoError(t, o.Err)
	require.Len(t, o.Stdout, MaxStream)
	require.Equal(t, []string{"stdout"}, o.Truncated)
	require.Equal(t, "end\n", o.Stderr)
}

func TestOutputInThePipeIsReadAfterTheDeadline(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer w.Close()
	_, err = w.WriteString("late")
	require.NoError(t, err)
	require.NoError(t, r.SetReadDeadline(time.Now().Add(-time.Second)))

	var s stream
	s.collect(r)
	<-s.done
	require.Equal(t, "late", s.kept.String())
}

func TestNoGoroutineIsLeft(t *testing.T) {
	dir := t.TempDir()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	before := runtime.NumGoroutine()
	big := make([]byte, 1<<20)
	for range 5 {
		sh("cat", dir, time.Minute).Run(t.Context())
		sh("sleep 300", dir, time.Millisecond).Run(t.Context())
		sh("sleep 300", dir, time.Minute).Run(cancelled)
		i := sh("sleep 3 & exec true", dir, time.Minute)
		i.Stdin = big
		i.Run(t.Context())
	}
	var stacks [1 << 16]byte
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; runtime.Gosched() {
		require.True(t, time.Now().Before(end), "%s", stacks[:runtime.Stack(stacks[:], true)])
	}
}

func TestDetachedProcessGetsItsInput(t *testing.T) {
	dir := t.TempDir()
	i := sh("cat > seen.tmp; mv seen.tmp seen", dir, time.Millisecond)
	i.Stdin = []byte(`{"a":1}`)
	require.NoError(t, i.Detach())
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(filepath.Join(dir, "seen"))
		return err == nil && string(text) == `{"a":1}`
	}, time.Minute, 5*time.Millisecond)
}
