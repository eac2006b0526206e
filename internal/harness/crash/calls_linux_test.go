package crash

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/harness/kernel"
	"github.com/fsmtx/fsmtx/internal/harness/overseer"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// TestAHydrationMakesFewSystemCalls, of those that may fail: with 10 tasks in place of 10, and a full history. What the same program
// needs for a skill without a workflow is not counted.
func TestAHydrationMakesFewSystemCalls(t *testing.T) {
	w := newWorld(t)
	w.addSkill(t, "ten", 10)
	for range 12 { // beyond the length of the history
		_, err := w.hydrate("ten", nil)
		require.NoError(t, err)
	}
	_, err := tasks.List{Dir: w.List()}.Recover(t.Context()) // as the next event
	require.NoError(t, err)
	count := func(skill string) int {
		o, calls, _ := w.faulty(t, fmt.Sprintf(`"hook_event_name":"PostToolUse","tool_name":"Skill","tool_input":{"skill":%[1]q},`+
			`"tool_response":{"success":true,"commandName":%[1]q}`, skill), noFault)
		require.Zero(t, o.code, o.stderr)
		return len(calls)
	}
	before := w.Tasks(t)
	idle, all := count("none"), count("ten")
	assert.NotEqual(t, worlds.Names(before), worlds.Names(w.Tasks(t)))
	t.Logf("%d calls, of which %d are those of a hydration", all, all-idle)
	assert.Less(t, all-idle, 600)
}

// TestPowerModelWritesAsTheProgramDoes: the system calls that write a file as a transaction does are those of the model, in one go
// each. Nothing changes a name, and no directory is synced: that is up to the transaction.
func TestPowerModelWritesAsTheProgramDoes(t *testing.T) {
	text := []byte("what a staged file holds")
	var made, modelled []string
	var err error
	name := filepath.Join(t.TempDir(), "staged")
	kernel.Answering(t, func() { err = vfs.OS{}.WriteNew(name, text, 0o644) }, func(c kernel.Call) unix.Errno {
		switch c.Number {
		case unix.SYS_OPENAT:
			assert.EqualValues(t, unix.O_CREAT|unix.O_EXCL, c.Args[2]&(unix.O_CREAT|unix.O_EXCL|unix.O_TRUNC))
			made = append(made, "create staged")
			return 0
		case unix.SYS_WRITE:
			assert.EqualValues(t, len(text), c.Args[2])
		}
		word, ok := map[int32]string{unix.SYS_WRITE: "write", unix.SYS_FSYNC: "sync"}[c.Number]
		assert.True(t, ok, "system call %d", c.Number)
		made = append(made, fmt.Sprint(word, " ", filepath.Base(c.Path())))
		return 0
	}, slices.Concat([]int32{unix.SYS_OPENAT}, overseer.Changes, overseer.Syncs)...)
	require.NoError(t, err)

	files := &faultfs.Steps{FS: vfs.OS{}, Before: func(s faultfs.Step) error { modelled = append(modelled, s.String()); return nil }}
	require.NoError(t, files.WriteNew(filepath.Join(t.TempDir(), "staged"), text, 0o644))
	require.Equal(t, []string{"create staged", "write staged", "sync staged"}, made)
	require.Equal(t, made, modelled, "the model does something else")
}
