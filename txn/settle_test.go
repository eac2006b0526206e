package txn

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// postponed commits replacing without the sync of D.
func postponed(t testing.TB) (dir, settling string) {
	dir = newList(t)
	require.NoError(t, commit(t, dir, replacing, WithLateSync()))
	return dir, filepath.Join(stateDirOf(dir), settlingName)
}

// rewrite changes the journal at path.
func rewrite(t testing.TB, dir, path string, change func(*journal)) {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	j, err := parseJournal(data, "../"+filepath.Base(dir))
	require.NoError(t, err)
	change(j)
	data, err = j.encode()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data, 0o600))
}

// TestTheNextOpenSyncsTheNames once. Until then the transaction is in the history, and is not
// interrupted.
func TestTheNextOpenSyncsTheNames(t *testing.T) {
	want := after(t)
	dir, settling := postponed(t)
	require.Equal(t, want, contents(t, dir))
	require.FileExists(t, settling)
	r, err := OpenReader(dir)
	require.NoError(t, err)
	assert.False(t, r.IsInterrupted())
	h, err := r.History()
	require.NoError(t, err)
	require.Len(t, h, 1)
	r.Close()
	report, err := Inspect(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, Report{Outcome: Clean}, report)
	require.NoError(t, os.Remove(filepath.Join(dir, "4.json")))
	var steps []string
	for range 2 {
		d, err := Open(t.Context(), dir, WithFS(before(func(s faultfs.Step) error {
			if s.Op == "sync" || s.Path == settling {
				steps = append(steps, s.Op+" "+filepath.Base(s.Path))
			}
			return nil
		})))
		require.NoError(t, err)
		require.Equal(t, Report{Outcome: Clean}, d.Recovered())
		require.NoError(t, d.Close())
	}
	assert.ElementsMatch(t, []string{"sync list", "sync " + filepath.Base(stateDirOf(dir)), "remove " + settlingName}, steps)
	assert.Equal(t, "remove "+settlingName, steps[2])
	require.NoFileExists(t, settling)
	assert.NotContains(t, contents(t, dir), "4.json", "another program has deleted it")
	cutPower(t, dir)
	report, err = Recover(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, Report{Outcome: Clean}, report)
	assert.NotContains(t, contents(t, dir), "4.json", "its name was durable")
}

// TestTheNextCommitSyncsTheNamesFirst: its record must not be beside one whose names can be lost.
func TestTheNextCommitSyncsTheNamesFirst(t *testing.T) {
	dir := newList(t)
	settled := false
	d, err := Open(t.Context(), dir, WithLateSync(), WithFS(before(func(s faultfs.Step) error {
		settled = settled || s.Op == "remove" && filepath.Base(s.Path) == settlingName
		if s.Op == "mkdir" && strings.HasPrefix(filepath.Base(s.Path), txnPrefix+"n0000000002") {
			assert.True(t, settled)
		}
		return nil
	})))
	require.NoError(t, err)
	require.NoError(t, d.Commit(t.Context(), replacing))
	require.False(t, settled)
	require.NoError(t, d.Commit(t.Context(), Change{Creates: []File{{"5.json", nil, 0o644}}}))
	require.True(t, settled)
	require.NoError(t, d.Close())
	require.Len(t, history(t, dir), 2)
}

// TestAPowerCutBeforeTheNamesAreSynced: what it lost is there again, what came back is gone again.
func TestAPowerCutBeforeTheNamesAreSynced(t *testing.T) {
	want := after(t)
	for name, lose := range map[string]func(t *testing.T, dir, settling string){
		"nothing": func(*testing.T, string, string) {},
		"a created name": func(t *testing.T, dir, _ string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "4.json")))
		},
		"the bytes of a created file": func(t *testing.T, dir, _ string) {
			require.NoError(t, os.Truncate(filepath.Join(dir, "4.json"), 3))
		},
		"a deletion": func(t *testing.T, dir, _ string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "2.json"), []byte("old 2.json"), 0o640))
		},
		"the staged files and the backups": func(t *testing.T, dir, _ string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "3.json")))
			require.NoError(t, os.RemoveAll(filepath.Join(stateDirOf(dir), txnPrefix+history0(t, dir).ID)))
		},
		"the name in the history": func(t *testing.T, dir, _ string) {
			require.NoError(t, os.Remove(filepath.Join(stateDirOf(dir), donePrefix+history0(t, dir).ID)))
		},
		"both names, for the first one": func(t *testing.T, dir, settling string) {
			require.NoError(t, os.Remove(filepath.Join(stateDirOf(dir), donePrefix+history0(t, dir).ID)))
			require.NoError(t, os.Rename(settling, filepath.Join(stateDirOf(dir), journalName)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, settling := postponed(t)
			cutPower(t, dir)
			lose(t, dir, settling)
			missing := Clean
			if strings.HasPrefix(name, "a ") || strings.HasPrefix(name, "the bytes") || strings.HasPrefix(name, "the staged") ||
				strings.HasPrefix(name, "both") {
				missing = Completed
			}
			r, err := Recover(t.Context(), dir)
			require.NoError(t, err)
			assert.Equal(t, missing, r.Outcome)
			assert.Empty(t, r.Conflicts)
			assert.Equal(t, want, contents(t, dir))
			for _, gone := range []string{settlingName, journalName} {
				assert.NoFileExists(t, filepath.Join(stateDirOf(dir), gone))
			}
			h := history(t, dir)
			require.Len(t, h, 1)
			assert.Equal(t, replacing.Record, h[0].Record)
			assert.Equal(t, []string{".", "2.json"}, names(t, h[0].Backups))
		})
	}
}

// TestACompletionIsRepeatedWhole: it changes D, which would show that names have lasted. So the record
// durably is the journal again before.
func TestACompletionIsRepeatedWhole(t *testing.T) {
	dir, _ := postponed(t)
	cutPower(t, dir)
	require.NoError(t, os.Remove(filepath.Join(dir, "4.json")))
	var order []string
	_, err := Recover(t.Context(), dir, WithFS(before(func(s faultfs.Step) error {
		switch {
		case s.Op == "rename" && s.To == filepath.Join(stateDirOf(dir), journalName), s.Op == "sync" && s.Path == stateDirOf(dir):
			order = append(order, s.Op)
		case isLinkInto(dir)(s):
			order = append(order, "link")
		}
		return nil
	})))
	require.NoError(t, err)
	assert.Equal(t, []string{"rename", "sync", "link"}, order[:3])
}

func history0(t testing.TB, dir string) Entry {
	h, err := ReadHistory(dir)
	require.NoError(t, err)
	return h[0]
}

// TestNamesThatLastedAreNotRestored: D has changed a minute later, and that is on the disk; or a
// later transaction was committed; or D was removed.
func TestNamesThatLastedAreNotRestored(t *testing.T) {
	booted, known := vfs.Booted()
	require.True(t, known)
	began := booted.Add(-time.Hour)
	for name, c := range map[string]struct {
		changed  time.Time // D
		restored bool
	}{
		"a second later":             {began.Add(time.Second), true},
		"two minutes later":          {began.Add(2 * time.Minute), false},
		"in this run of the kernel":  {booted.Add(time.Second), true},
		"before the transaction":     {began.Add(-time.Hour), true},
		"just before the power went": {booted.Add(-time.Second), false},
	} {
		dir, settling := postponed(t)
		cutPower(t, dir)
		rewrite(t, dir, settling, func(j *journal) { j.Time = began })
		require.NoError(t, os.Remove(filepath.Join(dir, "4.json")))
		require.NoError(t, os.Chtimes(dir, c.changed, c.changed))
		_, err := Recover(t.Context(), dir)
		require.NoError(t, err)
		_, restored := contents(t, dir)["4.json"]
		assert.Equal(t, c.restored, restored, name)
		require.NoFileExists(t, settling)
	}
	dir, settling := postponed(t)
	record, err := os.ReadFile(settling)
	require.NoError(t, err)
	require.NoError(t, commit(t, dir, Change{Creates: []File{{"5.json", nil, 0o644}}}))
	require.NoError(t, os.WriteFile(settling, record, 0o600)) // an older program does not know it
	require.NoError(t, os.Remove(filepath.Join(dir, "4.json")))
	cutPower(t, dir)
	r, err := Recover(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, Report{Outcome: Clean}, r)
	assert.NotContains(t, contents(t, dir), "4.json")
	require.NoFileExists(t, settling)

	dir, settling = postponed(t)
	cutPower(t, dir)
	require.NoError(t, os.RemoveAll(dir))
	_, err = Recover(t.Context(), dir)
	require.NoError(t, err)
	require.NoDirExists(t, dir)
	require.NoFileExists(t, settling)
}

// TestALateChangeOfDIsSyncedAtOnce: the disk was slow, or the machine was asleep between the record and
// the last change of D. That change must not show later that the names have lasted.
func TestALateChangeOfDIsSyncedAtOnce(t *testing.T) {
	for wait, late := range map[time.Duration]bool{lasting / 2: false, 2 * lasting: true} {
		synctest.Test(t, func(t *testing.T) {
			dir, synced := newList(t), false
			require.NoError(t, commit(t, dir, replacing, WithLateSync(), WithFS(before(func(s faultfs.Step) error {
				if isRemovalFrom(dir)(s) {
					time.Sleep(wait)
				}
				synced = synced || s.Op == "sync" && s.Path == dir
				return nil
			}))))
			assert.Equal(t, late, synced, wait)
			_, err := os.Lstat(filepath.Join(stateDirOf(dir), settlingName))
			assert.Equal(t, late, err != nil, wait)
			require.Len(t, history(t, dir), 1)
		})
	}
}

// TestWhereTheEntryIsLostNamesMayBe: D has changed later, but the record has lost its name in the
// history, which came after it.
func TestWhereTheEntryIsLostNamesMayBe(t *testing.T) {
	dir, settling := postponed(t)
	booted, known := vfs.Booted()
	require.True(t, known)
	began, later := booted.Add(-time.Hour), booted.Add(-time.Minute)
	cutPower(t, dir)
	rewrite(t, dir, settling, func(j *journal) { j.Time = began })
	require.NoError(t, os.Remove(filepath.Join(stateDirOf(dir), donePrefix+history0(t, dir).ID)))
	require.NoError(t, os.Chtimes(dir, later, later))
	recovered(t, dir)
	require.Len(t, history(t, dir), 1)
}

// TestADamagedRecordOfTheLastTransaction is reported by the history as any other. Without a name
// there it is not acted on, and can be set aside.
func TestADamagedRecordOfTheLastTransaction(t *testing.T) {
	for _, cut := range []bool{false, true} {
		dir, settling := postponed(t)
		if cut {
			cutPower(t, dir)
		}
		require.NoError(t, os.WriteFile(settling, []byte("fsmtx-journal 3"), 0o600))
		want := tree(t, dir)
		_, err := Recover(t.Context(), dir)
		require.NoError(t, err)
		assert.Equal(t, want, tree(t, dir))
		assert.ErrorIs(t, history(t, dir)[0].Err, ErrJournalTorn)
		require.NoFileExists(t, settling)
	}
	dir, settling := postponed(t)
	require.NoError(t, os.Remove(filepath.Join(stateDirOf(dir), donePrefix+history0(t, dir).ID)))
	require.NoError(t, os.WriteFile(settling, []byte("fsmtx-journal 3"), 0o600))
	want := tree(t, dir)
	_, err := Recover(t.Context(), dir)
	var damaged *JournalError
	require.ErrorAs(t, err, &damaged)
	assert.Equal(t, settling, damaged.Path)
	assert.Equal(t, want, tree(t, dir))
	moved, err := SetAside(t.Context(), dir)
	require.NoError(t, err)
	require.Len(t, moved, 2, "the directory of its transaction, too")
	require.NoError(t, commit(t, dir, Change{Creates: []File{{"5.json", nil, 0o644}}}))

	dir, settling = postponed(t)
	moved, err = SetAside(t.Context(), dir)
	require.NoError(t, err)
	assert.Empty(t, moved, "a good one is not set aside")
	require.FileExists(t, settling)
}

// TestEveryFailureToPostponeIsCompleted: the transaction has happened, whatever fails after it.
func TestEveryFailureToPostponeIsCompleted(t *testing.T) {
	want := after(t)
	for _, fails := range []func(faultfs.Step) bool{
		func(s faultfs.Step) bool { return strings.HasPrefix(filepath.Base(s.To), donePrefix) }, // link, then rename
		func(s faultfs.Step) bool { return s.Op == "rename" && filepath.Base(s.To) == settlingName },
	} {
		for _, cut := range []bool{false, true} {
			dir := newList(t)
			require.NoError(t, commit(t, dir, replacing, WithLateSync(), WithFS(failing(syscall.EIO, fails))))
			require.FileExists(t, filepath.Join(stateDirOf(dir), journalName))
			if cut {
				cutPower(t, dir)
			}
			_, err := Recover(t.Context(), dir)
			require.NoError(t, err)
			assert.Equal(t, want, contents(t, dir))
			require.Len(t, history(t, dir), 1)
			require.NoFileExists(t, filepath.Join(stateDirOf(dir), journalName))
		}
	}
	for _, fails := range []string{"list", ".list.fsmtx"} { // the next Open says so, and the one after it tries again
		dir, settling := postponed(t)
		_, err := Open(t.Context(), dir, WithFS(failing(syscall.EIO, func(s faultfs.Step) bool {
			return s.Op == "sync" && filepath.Base(s.Path) == fails
		})))
		require.ErrorIs(t, err, syscall.EIO)
		require.FileExists(t, settling)
		require.NoError(t, commit(t, dir, Change{}))
		require.NoFileExists(t, settling)
	}
}

// A transaction that has an entry in the history has happened, although its journal still has its
// name: what another program has replaced or deleted since is not restored.
func TestAJournalWithAnEntryIsNotRolledBack(t *testing.T) {
	for _, dies := range []bool{false, true} {
		t.Run(fmt.Sprintf("dies: %t", dies), func(t *testing.T) {
			want := after(t)
			dir, dead := newList(t), false
			_ = commit(t, dir, replacing, WithLateSync(), WithFS(before(func(s faultfs.Step) error {
				here := s.Op == "rename" && filepath.Base(s.To) == settlingName
				if dead = dead || here && dies; dead || here {
					return faultfs.ErrFrozen
				}
				return nil
			})))
			require.FileExists(t, filepath.Join(stateDirOf(dir), journalName))
			created := replacing.Creates[0].Name
			require.NoError(t, os.WriteFile(dir+"/new", []byte("a later version"), 0o600))
			require.NoError(t, os.Rename(dir+"/new", filepath.Join(dir, created)))
			want[created] = "a later version"
			found, err := Inspect(t.Context(), dir)
			require.NoError(t, err)
			r, err := Recover(t.Context(), dir)
			require.NoError(t, err)
			require.Equal(t, found, r)
			require.Equal(t, Committed, r.Outcome)
			require.Equal(t, want, contents(t, dir))
			require.Len(t, history(t, dir), 1)
			require.NoFileExists(t, filepath.Join(stateDirOf(dir), journalName))
			require.NoFileExists(t, filepath.Join(stateDirOf(dir), settlingName))
		})
	}
}

// TestWithoutASecondNameTheNamesAreSyncedAtOnce: a journal that stays is rolled back if another
// program has replaced a file meanwhile.
func TestWithoutASecondNameTheNamesAreSyncedAtOnce(t *testing.T) {
	dir, steps := newList(t), []string(nil)
	require.NoError(t, commit(t, dir, replacing, WithLateSync(), WithFS(before(func(s faultfs.Step) error {
		isEntry := strings.HasPrefix(filepath.Base(s.To), donePrefix)
		if s.Op == "link" && isEntry {
			return syscall.ENOSPC
		} else if s.Op == "sync" || s.Op == "rename" && isEntry {
			steps = append(steps, s.Op+" "+filepath.Base(s.Path))
		}
		return nil
	}))))
	list, state := filepath.Base(dir), filepath.Base(stateDirOf(dir))
	require.Equal(t, []string{"sync " + list, "rename " + journalName, "sync " + state}, steps[max(0, len(steps)-3):])
	require.NoFileExists(t, filepath.Join(stateDirOf(dir), journalName))
	require.Len(t, history(t, dir), 1)
	r, err := Recover(t.Context(), dir)
	require.NoError(t, err)
	require.Equal(t, Clean, r.Outcome)
	require.Equal(t, after(t), contents(t, dir))
}

// TestWithoutAHistoryTheNamesAreSyncedAtOnce: the record would be dropped.
func TestWithoutAHistoryTheNamesAreSyncedAtOnce(t *testing.T) {
	dir := newList(t)
	require.NoError(t, commit(t, dir, replacing, WithLateSync(), WithHistory(0)))
	require.NoFileExists(t, filepath.Join(stateDirOf(dir), settlingName))
}
