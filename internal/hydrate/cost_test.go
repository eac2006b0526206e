package hydrate_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// The tests in this file count syncs, waits for the disk and memory of a hydration. They
// measure no time.

// slowDisk counts the waits for the disk, each of which takes a second.
type slowDisk struct {
	vfs.FS
	syncs *atomic.Int64
}

func (d slowDisk) Wrapped() vfs.FS            { return d.FS }
func (d slowDisk) Around(files vfs.FS) vfs.FS { return slowDisk{files, d.syncs} }

func (d slowDisk) wait() {
	d.syncs.Add(1)
	time.Sleep(time.Second)
}

func (d slowDisk) Sync(name string) error {
	d.wait()
	return d.FS.Sync(name)
}

// WriteNew syncs the file once (TestPowerModelWritesAsTheProgramDoes).
func (d slowDisk) WriteNew(name string, data []byte, perm fs.FileMode) error {
	d.wait()
	return d.FS.WriteNew(name, data, perm)
}

// costs is a task list with a skill, in a home directory of its own.
type costs struct{ home, dir string }

func newCosts(t *testing.T, others, size int) costs {
	home := t.TempDir()
	l := costs{home, filepath.Join(home, ".claude/tasks/session")}
	require.NoError(t, os.MkdirAll(l.dir, 0o755))
	for i := range others {
		text := fmt.Sprintf(`{"id": "%d", "subject": "s", "description": "%s", "status": "pending", "blocks": [], "blockedBy": []}`, i+1,
			strings.Repeat("x", size))
		require.NoError(t, os.WriteFile(filepath.Join(l.dir, fmt.Sprint(i+1, ".json")), []byte(text), 0o644))
	}
	return l
}

// write creates the skill with the number of steps.
func (l costs) write(t *testing.T, steps int) {
	entries := make([]string, steps)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"id": %d, "subject": "step"}`, i+1)
	}
	skill := filepath.Join(l.home, ".claude/skills/s")
	require.NoError(t, os.MkdirAll(skill, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(skill, "fsm.json"), []byte("["+strings.Join(entries, ",")+"]"), 0o644))
}

// run hydrates the list. files is nil for the operating system's file system.
func (l costs) run(t *testing.T, files vfs.FS) {
	env := func(name string) (string, bool) {
		if name == "HOME" {
			return l.home, true
		}
		return "", false
	}
	request := hydrate.Request{Event: "PostToolUse", Session: "session", Command: "s", Cwd: l.home}
	_, err := hydrate.Run(t.Context(), request, env, hydrate.Options{LockTimeout: time.Hour, FS: files})
	require.NoError(t, err)
}

// disk counts what a hydration requests from the disk.
type disk struct {
	syncs int64
	waits time.Duration // concurrent waits count once
}

func (l costs) ask(t *testing.T, steps int) disk {
	l.write(t, steps)
	return count(t, func(t *testing.T, files vfs.FS) { l.run(t, files) })
}

// next counts what the next event requests that locks the list.
func (l costs) next(t *testing.T) disk {
	return count(t, func(t *testing.T, files vfs.FS) {
		_, err := tasks.List{Dir: filepath.Join(l.home, ".claude/tasks/session"), FS: files}.Recover(t.Context())
		require.NoError(t, err)
	})
}

func count(t *testing.T, do func(*testing.T, vfs.FS)) (d disk) {
	synctest.Test(t, func(t *testing.T) {
		var syncs atomic.Int64
		start := time.Now()
		do(t, slowDisk{vfs.OS{}, &syncs})
		d = disk{syncs.Load(), time.Since(start)}
	})
	return d
}

// TestAHydrationSyncsEachFileOnce, and nine more: the journal and the mark; S, the transaction's
// directory with two others, and the directory above S and D; D; S. The first one of a list has
// nothing to delete, and syncs two directories more above that. The next event syncs nothing.
func TestAHydrationSyncsEachFileOnce(t *testing.T) {
	worlds.Long(t)
	for _, others := range []int{0, 50} {
		for _, n := range []int{1, 10, 31, 100} {
			l := newCosts(t, others, 10)
			require.EqualValues(t, n+10, l.ask(t, n).syncs, "%d tasks beside %d", n, others)
			for range 15 { // beyond the length of the history
				require.Equal(t, disk{}, l.next(t))
				require.EqualValues(t, 2*n+9, l.ask(t, n).syncs, "%d tasks that replace as many beside %d", n, others)
			}
			require.Equal(t, disk{}, l.next(t))
		}
	}
}

// TestThereAreFourBarriers: a hydration waits for the disk four times: for its files, for their
// names, for the list, and for its commit.
func TestThereAreFourBarriers(t *testing.T) {
	for _, n := range []int{1, 10, 32, 60} {
		l := newCosts(t, 5, 10)
		require.Equal(t, 4*time.Second, l.ask(t, n).waits, "%d tasks", n)
		require.Equal(t, 4*time.Second, l.ask(t, n).waits, "%d tasks that replace as many", n)
	}
}

// TestMemoryDoesNotGrowWithTheFiles: tasks of other programs are read into one buffer.
func TestMemoryDoesNotGrowWithTheFiles(t *testing.T) {
	allocated := func(others, size int) uint64 {
		l := newCosts(t, others, size)
		l.write(t, 3)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		l.run(t, nil)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	const files, large = 100, 256 << 10
	allocated(1, 1) // what is allocated once
	small, big := allocated(files, 1), allocated(files, large)
	require.Less(t, big-small, uint64(files*large/4), "%d files of %d KiB", files, large>>10)
}
