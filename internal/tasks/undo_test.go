package tasks

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// history returns the committed changes of the list.
func (l *List) history(t *testing.T) []txn.Entry {
	entries, err := txn.ReadHistory(l.Dir)
	require.NoError(t, err)
	return entries
}

// last returns the id of the last change.
func (l *List) last(t *testing.T) string {
	h := l.history(t)
	require.NotEmpty(t, h)
	return h[len(h)-1].ID
}

// replace hydrates the list with n tasks.
func (l *List) replace(t *testing.T, n int) (id string) {
	var entries []string
	for i := range n {
		entries = append(entries, `{"id": `+string(rune('1'+i))+`, "subject": "a"}`)
	}
	_, err := l.Replace(t.Context(), Label{Invocation: newInvocation(), Command: "skill"},
		planner(t, "["+strings.Join(entries, ",")+"]", nil))
	require.NoError(t, err)
	return l.last(t)
}

var invocations int

// newInvocation returns a different invocation each time.
func newInvocation() string { invocations++; return strconv.Itoa(invocations) }

// listed returns the names and contents of the tasks.
func (l *List) listed(t *testing.T) map[string]string {
	all := map[string]string{}
	for _, name := range taskFiles(t, l.Dir) {
		data, err := os.ReadFile(filepath.Join(l.Dir, name))
		require.NoError(t, err)
		all[name] = string(data)
	}
	return all
}

// TestUndo: deleted files are restored as the same inodes, created files are removed,
// their ids are not used again, and undoing the undo restores the change.
func TestUndo(t *testing.T) {
	l := newList(t)
	write(t, l.Dir, "1.json", task(manualTask, "1.json"))
	l.replace(t, 2)
	old := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	require.NoError(t, os.Chtimes(filepath.Join(l.Dir, "2.json"), old, old))
	before, was := l.listed(t), inode(t, filepath.Join(l.Dir, "2.json"))
	id := l.replace(t, 3)
	after := l.listed(t)

	plan, err := l.PlanUndo(l.history(t), id, false)
	require.NoError(t, err)
	u, err := l.Undo(t.Context(), id, false)
	require.NoError(t, err)
	assert.Equal(t, plan, u)
	assert.Equal(t, []string{"2.json", "3.json"}, u.Restored)
	assert.Equal(t, []string{"4.json", "5.json", "6.json"}, u.Removed)
	assert.Equal(t, before, l.listed(t))
	assert.Equal(t, was, inode(t, filepath.Join(l.Dir, "2.json")))
	info, err := os.Stat(filepath.Join(l.Dir, "2.json"))
	require.NoError(t, err)
	assert.True(t, info.ModTime().Equal(old))
	snap, _, err := l.Read(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 6, snap.HighWater)
	assert.Equal(t, map[string]string{id: l.last(t)}, Undone(l.history(t)))

	_, err = l.Undo(t.Context(), id, false)
	require.ErrorIs(t, err, ErrUndone)
	undoing := l.last(t)
	_, err = l.Undo(t.Context(), undoing, false)
	require.NoError(t, err)
	assert.Equal(t, after, l.listed(t))
	assert.Equal(t, map[string]string{undoing: l.last(t)}, Undone(l.history(t)))
	_, err = l.Undo(t.Context(), id, false)
	require.NoError(t, err, "its undo was undone")
	assert.Equal(t, before, l.listed(t))
}

// TestUndoIsPlannedInTheDirectoryThatIsHeld puts another directory at the path of the list once the locks of the tasks are
// held: what lies there decides nothing.
func TestUndoIsPlannedInTheDirectoryThatIsHeld(t *testing.T) {
	l := newList(t)
	id := l.replace(t, 2)
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.Mkdir(other, 0o755))
	write(t, other, "1.json", task(manualTask, "1.json"))
	reads := 0
	l.FS = &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(s faultfs.Step) error {
		if s.Op != "read" || filepath.Base(s.Path) != "1.json" {
			return nil
		}
		if reads++; reads == 2 { // the first time no lock was held
			return errors.Join(os.Rename(l.Dir, l.Dir+".away"), os.Rename(other, l.Dir))
		}
		return nil
	}}
	dir, err := l.Open(t.Context())
	require.NoError(t, err)
	defer dir.Close()
	history, err := dir.History()
	require.NoError(t, err)
	u, err := l.planLocked(t.Context(), dir, history, undoRequest{id: id})
	require.NoError(t, err)
	require.Equal(t, 2, reads)
	assert.Equal(t, []string{"1.json", "2.json"}, u.Removed)
}

func inode(t *testing.T, path string) uint64 {
	require.FileExists(t, path)
	return files.Inode(path)
}

// TestUndoIsOfAllOrNothing: what was changed since is removed only with force, with its changed content; and where something cannot be
// restored, nothing is undone.
func TestUndoIsOfAllOrNothing(t *testing.T) {
	l := newList(t)
	l.replace(t, 2)
	id := l.replace(t, 4)
	write(t, l.Dir, "3.json", task(manualTask, "3.json"))
	require.NoError(t, os.Remove(filepath.Join(l.Dir, "4.json")))
	before := l.listed(t)
	_, err := l.PlanUndo(l.history(t), id, false)
	var worked *WorkedOnError
	require.ErrorAs(t, err, &worked)
	assert.Equal(t, []string{"3.json", "4.json"}, worked.Names)
	_, err = l.Undo(t.Context(), id, false)
	require.ErrorAs(t, err, &worked)
	write(t, l.Dir, "1.json", task(manualTask, "1.json"))
	_, err = l.Undo(t.Context(), id, true)
	require.ErrorIs(t, err, ErrNotKept)
	require.ErrorContains(t, err, filepath.Join(l.Dir, "1.json"))
	require.NoError(t, os.Remove(filepath.Join(l.Dir, "1.json")))
	require.NoError(t, os.Mkdir(filepath.Join(l.Dir, "4.json"), 0o755))
	_, err = l.Undo(t.Context(), id, true)
	require.ErrorIs(t, err, vfs.ErrNotRegular)
	require.NoError(t, os.Remove(filepath.Join(l.Dir, "4.json")))
	backup := filepath.Join(l.history(t)[1].Backups, "2.json")
	require.NoError(t, os.Rename(backup, backup+".away"))
	_, err = l.PlanUndo(l.history(t), id, false)
	require.ErrorIs(t, err, ErrNotKept, "force would be of no use")
	_, err = l.Undo(t.Context(), id, true)
	require.ErrorIs(t, err, ErrNotKept)
	require.ErrorContains(t, err, "2.json")
	require.NoError(t, os.Rename(backup+".away", backup))
	assert.Equal(t, before, l.listed(t))

	u, err := l.Undo(t.Context(), id, true)
	require.NoError(t, err)
	assert.Equal(t, []string{"3.json", "5.json", "6.json"}, u.Removed, "force removes the changed file, too")
	assert.Equal(t, []string{"1.json", "2.json"}, taskFiles(t, l.Dir))
	_, err = l.Undo(t.Context(), l.last(t), false)
	require.NoError(t, err)
	assert.Equal(t, before, l.listed(t), "with its changed content")
}

func TestUndoOfAReplacedChange(t *testing.T) {
	l := newList(t)
	first := l.replace(t, 2)
	second := l.replace(t, 2)
	for _, force := range []bool{false, true} {
		_, err := l.Undo(t.Context(), first, force)
		require.ErrorIs(t, err, ErrReplaced)
		require.ErrorContains(t, err, second)
	}
	_, err := l.Undo(t.Context(), second, false)
	require.NoError(t, err)
	undo := l.last(t)
	_, err = l.Undo(t.Context(), undo, false)
	require.NoError(t, err)
	_, err = l.Undo(t.Context(), first, true)
	require.ErrorIs(t, err, ErrReplaced)
	require.ErrorContains(t, err, second, "which is there again")
	_, err = l.Undo(t.Context(), second, false)
	require.NoError(t, err)
	_, err = l.Undo(t.Context(), first, false)
	require.NoError(t, err, "the change that replaced it was undone")
	assert.Empty(t, taskFiles(t, l.Dir))

	l.replace(t, 2)
	third, last := l.replace(t, 1), l.replace(t, 1)
	s, err := txn.StateDir(l.Dir)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(s, "done-"+last), nil, 0o600))
	_, err = l.Undo(t.Context(), third, true)
	require.ErrorIs(t, err, txn.ErrJournalTorn, "what came later is not known")

	_, err = l.Undo(t.Context(), "none", false)
	require.ErrorIs(t, err, ErrNoChange)
	_, err = (&List{Dir: filepath.Join(t.TempDir(), "absent")}).PlanUndo(nil, first, false)
	require.ErrorIs(t, err, ErrNoChange)
}

// TestUndoTakesWhatCameUnderTheSteps, and its undo brings all of it back, with what was done to it.
func TestUndoTakesWhatCameUnderTheSteps(t *testing.T) {
	l := newList(t)
	before := l.replace(t, 1)
	was := l.listed(t)
	call := l.replace(t, 2)
	add := func(label Label, under int64) string {
		l.Record = func(*fsmspec.Plan) (Record, error) { return Record{Under: under}, nil }
		spec, err := fsmspec.Parse([]byte(`[{"id": 1, "subject": "a"}]`))
		require.NoError(t, err)
		_, err = l.Replace(t.Context(), label, func(snap fsmspec.Snapshot) (*fsmspec.Plan, error) {
			return spec.Plan(label.Command, snap, fsmspec.Policy{Scope: fsmspec.ScopeSkill})
		})
		require.NoError(t, err)
		return l.last(t)
	}
	copies := add(Label{Command: "copies", Step: 2}, 0)
	nested := add(Label{Command: "nested"}, 4)
	again := add(Label{Command: "nested"}, 4)
	write(t, l.Dir, "6.json", task(taggedTask, "6.json"))
	after := l.listed(t)

	_, err := l.Undo(t.Context(), copies, true)
	require.ErrorIs(t, err, ErrPart)
	_, err = l.Undo(t.Context(), before, true)
	require.ErrorIs(t, err, ErrReplaced)
	_, err = l.Undo(t.Context(), call, false)
	var worked *WorkedOnError
	require.ErrorAs(t, err, &worked)
	assert.Equal(t, []string{"6.json"}, worked.Names)
	u, err := l.Undo(t.Context(), call, true)
	require.NoError(t, err)
	assert.Equal(t, []string{copies, nested, again}, u.Under)
	assert.Equal(t, was, l.listed(t))
	by := l.last(t)
	assert.Equal(t, map[string]string{call: by, copies: by, nested: by, again: by}, Undone(l.history(t)))
	_, err = l.Undo(t.Context(), again, true)
	require.ErrorIs(t, err, ErrUndone)

	_, err = l.Undo(t.Context(), by, false)
	require.NoError(t, err)
	assert.Equal(t, after, l.listed(t))
	_, err = l.Undo(t.Context(), call, false)
	require.ErrorAs(t, err, &worked, "it was worked on before it was brought back")
	_, err = l.Undo(t.Context(), again, false)
	require.ErrorAs(t, err, &worked)
	u, err = l.Undo(t.Context(), again, true)
	require.NoError(t, err)
	assert.Equal(t, []string{"5.json"}, u.Restored, "the call that it had replaced")
	_, err = l.Undo(t.Context(), call, false)
	require.NoError(t, err)
	assert.Equal(t, was, l.listed(t))
}

// unsynced does not wait for the disk, to make these tests fast.
type unsynced struct{ vfs.OS }

func (unsynced) Sync(string) error { return nil }

// TestUndoIsAllOrNothing: if any step fails, or the process dies before it, the list
// holds all of the change or nothing of it, and the history agrees.
func TestUndoIsAllOrNothing(t *testing.T) {
	worlds.Long(t)
	for _, dies := range []bool{false, true} {
		for n, met := 0, true; met; n++ {
			l := newList(t)
			l.FS = unsynced{}
			l.replace(t, 2)
			before := l.listed(t)
			id := l.replace(t, 3)
			after, left := l.listed(t), n
			met = false
			l.FS = &faultfs.Steps{FS: unsynced{}, Reads: !dies, Before: func(faultfs.Step) error {
				if left--; left == -1 || left < 0 && dies {
					met = true
					return syscall.EIO
				}
				return nil
			}}
			_, err := l.Undo(t.Context(), id, false)
			l.FS = unsynced{}
			_, failed := l.Recover(t.Context())
			require.NoError(t, failed)
			undone := Undone(l.history(t))[id] != ""
			require.Equal(t, map[bool]map[string]string{true: before, false: after}[undone], l.listed(t), "step %d", n)
			if err == nil || !errors.Is(err, txn.ErrUnknown) && !dies {
				require.Equal(t, err == nil, undone, "step %d: %v", n, err)
			}
			require.True(t, met || n > 20, "few steps")
		}
	}
}

// TestUndoPlansAgain: another program changes a file after Undo found it unchanged.
func TestUndoPlansAgain(t *testing.T) {
	l := newList(t)
	id := l.replace(t, 2)
	backup := func(s faultfs.Step) bool { return s.Op == "link" && s.Path == filepath.Join(l.Dir, "1.json") }
	l.once(backup, func() { replaceFile(t, filepath.Join(l.Dir, "1.json")) })
	_, err := l.Undo(t.Context(), id, false)
	var worked *WorkedOnError
	require.ErrorAs(t, err, &worked)
	assert.Equal(t, []string{"1.json"}, worked.Names)
	assert.Equal(t, []string{"1.json", "2.json"}, taskFiles(t, l.Dir))
}

// TestUndoPlansAgainIfANameIsTaken: another program creates a file of the name of one that Undo is about to restore.
func TestUndoPlansAgainIfANameIsTaken(t *testing.T) {
	l := newList(t)
	l.replace(t, 2)
	id := l.replace(t, 1)
	restore := func(s faultfs.Step) bool { return s.Op == "link" && s.To == filepath.Join(l.Dir, "1.json") }
	l.once(restore, func() { write(t, l.Dir, "1.json", task(manualTask, "1.json")) })
	_, err := l.Undo(t.Context(), id, false)
	require.ErrorIs(t, err, ErrNotKept)
	assert.Equal(t, []string{"1.json", "3.json"}, taskFiles(t, l.Dir))
	data, err := os.ReadFile(filepath.Join(l.Dir, "1.json"))
	require.NoError(t, err)
	assert.Equal(t, task(manualTask, "1.json"), string(data))
}

func TestUndoTimesOutOnAListThatKeepsChanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newList(t)
		id := l.replace(t, 2)
		name := filepath.Join(l.Dir, "1.json")
		l.FS = slowLink{then: func(from string) {
			if from == name {
				replaceFile(t, name)
			}
		}}
		_, err := l.Undo(t.Context(), id, true)
		require.ErrorIs(t, err, errTimeout)
		assert.Equal(t, []string{"1.json", "2.json"}, taskFiles(t, l.Dir))
	})
}

// replaceFile gives a task another inode.
func replaceFile(t *testing.T, path string) {
	require.NoError(t, os.WriteFile(path+".new", []byte(task(manualTask, "1.json")), 0o644))
	require.NoError(t, os.Rename(path+".new", path))
}

// TestUndoWaitsForTheTasksItRemoves: the client may be about to write one.
func TestUndoWaitsForTheTasksItRemoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newList(t)
		id := l.replace(t, 2)
		before := l.listed(t)
		require.NoError(t, os.Mkdir(filepath.Join(l.Dir, "2.json"+lockSuffix), 0o755))
		l.Wait = 10 * time.Second
		_, err := l.Undo(t.Context(), id, false)
		require.ErrorIs(t, err, errTimeout)
		var busy *BusyError
		require.ErrorAs(t, err, &busy)
		assert.Equal(t, before, l.listed(t))
	})
}

// TestLabels: the history has a label of each replacement; a transaction of another
// program is skipped.
func TestLabels(t *testing.T) {
	l := newList(t)
	labels, err := l.Labels(t.Context())
	require.NoError(t, err)
	assert.Empty(t, labels)
	assert.NoDirExists(t, l.stateDir())

	first, second := l.replace(t, 1), l.replace(t, 1)
	dir, err := l.Open(t.Context())
	require.NoError(t, err)
	require.NoError(t, dir.Commit(t.Context(), txn.Change{Deletes: taskFiles(t, l.Dir), Label: "another program's"}))
	require.NoError(t, dir.Close())
	labels, err = l.Labels(t.Context())
	require.NoError(t, err)
	var ids []string
	for _, label := range labels {
		ids = append(ids, label.ID)
		assert.Equal(t, "skill", label.Command)
	}
	assert.Equal(t, []string{first, second}, ids)

	require.NoError(t, os.Chmod(l.stateDir(), 0o777))
	_, err = l.Labels(t.Context())
	require.ErrorIs(t, err, txn.ErrUntrustedDir)
}

func TestUndoReturnsWhyALockCouldNotBeReleased(t *testing.T) {
	l := newList(t)
	id := l.replace(t, 1)
	l.before(failStep("remove", filepath.Join(l.Dir, listLock), syscall.EACCES))
	u, err := l.Undo(t.Context(), id, false)
	require.NoError(t, err)
	require.ErrorIs(t, u.Unreleased, syscall.EACCES)
	assert.NotEmpty(t, u.Removed)
}

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
	for _, name := range []string{"1.json", "2.json", "3.json", "4.json", "5.json", highWaterName} {
		for n, more := 0, true; more; n++ {
			l := memoryList(t)
			write(t, l.Dir, "1.json", task(manualTask, "1.json"))
			write(t, l.Dir, "2.json", task(taggedTask, "2.json"))
			write(t, l.Dir, "3.json", task(taggedTask, "3.json"))
			write(t, l.Dir, highWaterName, "3") // as the client does before it deletes 3.json
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
	for _, name := range []string{"2.json", "4.json", "5.json", "5.json.lock", ".lock.lock", highWaterName} {
		for n, more := 0, true; more; n++ {
			l := memoryList(t)
			write(t, l.Dir, "2.json", task(taggedTask, "2.json"))
			write(t, l.Dir, "3.json", task(taggedTask, "3.json"))
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
