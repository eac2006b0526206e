package hydrate_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
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

// WritePending and StartSync wait when the file is synced.
func (d slowDisk) WritePending(name string, data []byte, perm fs.FileMode) (vfs.Unsynced, error) {
	return d.opened(d.FS.WritePending(name, data, perm))
}

func (d slowDisk) StartSync(name string) (vfs.Unsynced, error) { return d.opened(d.FS.StartSync(name)) }

func (d slowDisk) opened(u vfs.Unsynced, err error) (vfs.Unsynced, error) {
	if err != nil {
		return nil, err
	}
	return slowFile{u, d}, nil
}

type slowFile struct {
	vfs.Unsynced
	disk slowDisk
}

func (f slowFile) Sync() error {
	f.disk.wait()
	return f.Unsynced.Sync()
}

// WriteNew syncs the file once.
func (d slowDisk) WriteNew(name string, data []byte, perm fs.FileMode) error {
	d.wait()
	return d.FS.WriteNew(name, data, perm)
}

// crowded is a home whose list has tasks of others, with descriptions of this size.
func crowded(t *testing.T, others, size int) *home {
	h := newHome(t)
	require.NoError(t, os.MkdirAll(h.list(), 0o755))
	for i := range others {
		h.write(fmt.Sprintf(".claude/tasks/list/%d.json", i+1), fmt.Sprintf(`{"id": "%d", "subject": "s", "description": "%s", `+
			`"status": "pending", "blocks": [], "blockedBy": []}`, i+1, strings.Repeat("x", size)))
	}
	return h
}

// steps gives the skill this number of steps.
func (h *home) steps(n int) {
	h.write(".claude/skills/skill/fsm.json", workflowOf(n, "step", "", true))
}

// run hydrates the list. files is nil for the operating system's file system.
func (h *home) run(files vfs.FS) {
	_, err := hydrate.Run(context.Background(), call, h.env, hydrate.Options{LockTimeout: time.Hour, FS: files})
	require.NoError(h.t, err)
}

// disk counts what a hydration requests from the disk.
type disk struct {
	syncs int64
	waits time.Duration // concurrent waits count once
}

func (h *home) ask(t *testing.T, steps int) disk {
	h.steps(steps)
	return count(t, h.run)
}

// next counts what the next event requests that locks the list.
func (h *home) next(t *testing.T) disk {
	return count(t, func(files vfs.FS) {
		_, err := tasks.List{Dir: h.list(), FS: files}.Recover(context.Background())
		require.NoError(h.t, err)
	})
}

func count(t *testing.T, do func(vfs.FS)) (d disk) {
	synctest.Test(t, func(t *testing.T) {
		var syncs atomic.Int64
		start := time.Now()
		do(slowDisk{vfs.OS{}, &syncs})
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
			h := crowded(t, others, 10)
			require.EqualValues(t, n+10, h.ask(t, n).syncs, "%d tasks beside %d", n, others)
			for range 15 { // beyond the length of the history
				require.Equal(t, disk{}, h.next(t))
				require.EqualValues(t, 2*n+9, h.ask(t, n).syncs, "%d tasks that replace as many beside %d", n, others)
			}
			require.Equal(t, disk{}, h.next(t))
		}
	}
}

// TestThereAreFourBarriers: a hydration waits for the disk four times: for its files, for their
// names, for the list, and for its commit.
func TestThereAreFourBarriers(t *testing.T) {
	for _, n := range []int{1, 10, 32, 60} {
		h := crowded(t, 5, 10)
		require.Equal(t, 4*time.Second, h.ask(t, n).waits, "%d tasks", n)
		require.Equal(t, 4*time.Second, h.ask(t, n).waits, "%d tasks that replace as many", n)
	}
}

// TestMemoryDoesNotGrowWithTheFiles: tasks of other programs are read into one buffer.
func TestMemoryDoesNotGrowWithTheFiles(t *testing.T) {
	allocated := func(others, size int) uint64 {
		h := crowded(t, others, size)
		h.steps(3)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		h.run(nil)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	const files, large = 100, 256 << 10
	allocated(1, 1) // what is allocated once
	small, big := allocated(files, 1), allocated(files, large)
	require.Less(t, big-small, uint64(files*large/4), "%d files of %d KiB", files, large>>10)
}
