package tools_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// A command is killed before each of its calls. It leaves at most one temporary file, with which the same
// command works, and which doctor --fix removes when it is old. A signal that a program can handle leaves nothing.
func TestWhatAKilledCommandLeaves(t *testing.T) {
	worlds.Long(t)
	const spec = `[{"id": 1, "subject": "a"}]`
	for name, c := range map[string]struct {
		files map[string]string
		args  []string
		names int // how many there may be when nothing is left over
	}{
		"fmt -w": {map[string]string{"SKILL.md": "text\n", "fsm.json": spec}, []string{"fmt", "-w", "fsm.json"}, 2},
		"new":    {map[string]string{"SKILL.md": "text\n"}, []string{"new", "--template", "."}, 3}, // with tests
	} {
		t.Run(name, func(t *testing.T) {
			littered := 0
			for n := 1; ; n++ {
				home, err := os.MkdirTemp(inMemory(), "litter")
				require.NoError(t, err)
				defer os.RemoveAll(home)
				skill := filepath.Join(home, ".claude", "skills", "s")
				require.NoError(t, os.MkdirAll(skill, 0o755))
				for file, text := range c.files {
					require.NoError(t, os.WriteFile(filepath.Join(skill, file), []byte(text), 0o644))
				}
				run := func(args ...string) *exec.Cmd {
					p := exec.Command("fsmtx", args...)
					p.Dir, p.Env = skill, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GORACE=" + os.Getenv("GORACE")}
					return p
				}
				sent := []unix.Signal{unix.SIGKILL, unix.SIGINT, unix.SIGKILL, unix.SIGTERM}[n%4]
				ended, err := killBefore(run(c.args...), n/2+1, sent)
				if errors.Is(err, errNoTrace) {
					t.Skipf("skipped: %v", err)
				}
				require.NoError(t, err)
				if ended {
					require.Positive(t, littered, "no killed run left anything")
					return
				}
				left, err := filepath.Glob(filepath.Join(skill, ".fsmtx-write-*"))
				require.NoError(t, err)
				littered += len(left)
				if sent != unix.SIGKILL {
					require.LessOrEqual(t, names(t, skill), c.names, "%v before call %d", sent, n/2+1)
					continue
				}
				out, _ := run(c.args...).CombinedOutput() // its exit code says whether the killed run got so far
				// At most the new file and a link to the old one are left.
				require.LessOrEqual(t, names(t, skill), c.names+2, "killed before call %d: %s", n/2+1, out)
				for _, path := range left {
					require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(-2*time.Hour)))
				}
				out, _ = run("doctor", "--fix").CombinedOutput()
				require.LessOrEqual(t, names(t, skill), c.names, "killed before call %d: %s", n/2+1, out)
			}
		})
	}
}

// names returns how many files the directory has.
func names(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	return len(entries)
}
