package hydrate_test

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// opened returns how often each file in the directories is opened while do runs.
func opened(t *testing.T, do func(), dirs ...string) map[string]int {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	require.NoError(t, err)
	defer unix.Close(fd)
	for _, dir := range dirs {
		// Watch IN_CLOSE too: the kernel merges consecutive equal events.
		_, err := unix.InotifyAddWatch(fd, dir, unix.IN_OPEN|unix.IN_CLOSE)
		require.NoError(t, err)
	}
	do()
	counts := map[string]int{}
	buf := make([]byte, 64<<10)
	for {
		n, err := unix.Read(fd, buf)
		if err == unix.EAGAIN {
			return counts
		}
		require.NoError(t, err)
		for rest := buf[:n]; len(rest) > 0; {
			mask, size := binary.NativeEndian.Uint32(rest[4:]), binary.NativeEndian.Uint32(rest[12:])
			name, _, _ := bytes.Cut(rest[unix.SizeofInotifyEvent:unix.SizeofInotifyEvent+size], []byte{0})
			require.Zero(t, mask&unix.IN_Q_OVERFLOW)
			if mask&(unix.IN_OPEN|unix.IN_ISDIR) == unix.IN_OPEN {
				counts[string(name)]++
			}
			rest = rest[unix.SizeofInotifyEvent+size:]
		}
	}
}

// TestEachFileIsReadOnce: the fsm.json and the tasks that are kept are opened once. A task
// that is deleted is opened five times: for the plan, with the state of its workflow, again under its own lock, for the journal, and
// to sync it. The mark is opened for the plan, and again before it is raised.
func TestEachFileIsReadOnce(t *testing.T) {
	h := crowded(t, 3, 10)
	skill := filepath.Join(h.dir, ".claude/skills/skill")
	want := map[string]int{"1.json": 1, "2.json": 1, "3.json": 1, "fsm.json": 1}
	h.steps(2)

	first := opened(t, func() { h.run(nil) }, h.list(), skill)
	require.Equal(t, want, first)

	second := opened(t, func() { h.run(nil) }, h.list(), skill)
	want["4.json"], want["5.json"], want[".highwatermark"] = 5, 5, 2
	require.Equal(t, want, second)
}
