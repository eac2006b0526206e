package tasks

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// memoryList returns an empty list, in memory if that is possible.
func memoryList(t *testing.T) *List {
	l := &List{Dir: filepath.Join(worlds.MemoryDir(t), "list")}
	require.NoError(t, os.Mkdir(l.Dir, 0o755))
	return l
}

// vanishing deletes the named file of the list before the operation with index n.
// reached reports whether there was such an operation.
func (l *List) vanishing(name string, n int) (reached func() bool) {
	count := 0
	l.FS = &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(faultfs.Step) error {
		if count == n {
			_ = os.Remove(filepath.Join(l.Dir, name))
		}
		count++
		return nil
	}}
	return func() bool { return count > n }
}

// TestReplaceTreatsAVanishedFileAsDeleted: a client that deletes a task takes no lock
// (fact 13).
func TestReplaceTreatsAVanishedFileAsDeleted(t *testing.T) {
	plan := planner(t, `[{"id": 1, "subject": "a"}, {"id": 2, "subject": "b"}]`, nil)
	for _, name := range []string{"1.json", "2.json", "3.json", "4.json", "5.json", tasksHighWaterName} {
		for n, more := 0, true; more; n++ {
			l := memoryList(t)
			tasksWrite(t, l.Dir, "1.json", tasksTask(tasksManualTask, "1.json"))
			tasksWrite(t, l.Dir, "2.json", tasksTask(tasksTaggedTask, "2.json"))
			tasksWrite(t, l.Dir, "3.json", tasksTask(tasksTaggedTask, "3.json"))
			tasksWrite(t, l.Dir, tasksHighWaterName, "3") // as the client does before it deletes 3.json
			reached := l.vanishing(name, n)
			_, err := l.Replace(t.Context(), Label{Command: "skill"}, plan)
			more = reached()
			require.NoError(t, err, "%s deleted before operation %d", name, n)
			got := taskFiles(t, l.Dir)
			for _, old := range []string{"2.json", "3.json"} {
				assert.NotContains(t, got, old)
			}
			for _, kept := range []string{"1.json", "4.json", "5.json"} {
				if kept != name {
					assert.Contains(t, got, kept, "%s deleted before operation %d", name, n)
				}
			}
		}
	}
}

// TestRecoverTreatsAVanishedFileAsDeleted recovers from a replacement that died before it
// deleted anything.
func TestRecoverTreatsAVanishedFileAsDeleted(t *testing.T) {
	plan := planner(t, `[{"id": 1, "subject": "a"}, {"id": 2, "subject": "b"}]`, nil)
	for _, name := range []string{"2.json", "4.json", "5.json", "5.json.lock", ".lock.lock", tasksHighWaterName} {
		for n, more := 0, true; more; n++ {
			l := memoryList(t)
			tasksWrite(t, l.Dir, "2.json", tasksTask(tasksTaggedTask, "2.json"))
			tasksWrite(t, l.Dir, "3.json", tasksTask(tasksTaggedTask, "3.json"))
			frozen := false
			l.before(func(s faultfs.Step) error {
				if frozen = frozen || s.Op == "remove" && filepath.Dir(s.Path) == l.Dir && filepath.Base(s.Path) == "2.json"; frozen {
					return faultfs.ErrFrozen
				}
				return nil
			})
			_, err := l.Replace(t.Context(), Label{}, plan)
			require.ErrorIs(t, err, txn.ErrRecoveryRequired)

			reached := l.vanishing(name, n)
			_, err = l.Recover(t.Context())
			more = reached()
			require.NoError(t, err, "%s deleted before operation %d", name, n)
			want := []string{"2.json", "3.json"}
			got := taskFiles(t, l.Dir)
			if len(got) == 1 { // it vanished after the recovery had looked for it
				want = slices.DeleteFunc(want, func(deleted string) bool { return deleted == name })
			}
			assert.Equal(t, want, got, "%s deleted before operation %d", name, n)
		}
	}
}
