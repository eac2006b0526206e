package txn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

func isLinkInto(dir string) func(faultfs.Step) bool {
	return func(s faultfs.Step) bool { return s.Op == "link" && filepath.Dir(s.To) == dir }
}

func isRemovalFrom(dir string) func(faultfs.Step) bool {
	return func(s faultfs.Step) bool { return s.Op == "remove" && filepath.Dir(s.Path) == dir }
}

// cutPower gives every record of the list another life, as a new start of the kernel does.
func cutPower(t testing.TB, dir string) {
	t.Helper()
	for _, pattern := range []string{journalName, committingName, settlingName, donePrefix + "*"} {
		paths, err := filepath.Glob(filepath.Join(stateDirOf(dir), pattern))
		require.NoError(t, err)
		for _, path := range paths {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			j, err := parseJournal(data, "../"+filepath.Base(dir))
			require.NoError(t, err)
			if j.whole {
				j.Life = "an earlier one"
			}
			data, err = j.encode()
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, data, 0o600))
		}
	}
	if err := os.Remove(filepath.Join(stateDirOf(dir), lifeName)); err != nil {
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	if failed := filepath.Join(stateDirOf(dir), failedName); os.Truncate(failed, 0) == nil {
		require.NoError(t, os.WriteFile(failed, []byte("an earlier one"), 0o600))
	}
}

func after(t testing.TB) map[string]string {
	dir := newList(t)
	require.NoError(t, commit(t, dir, replacing))
	return contents(t, dir)
}

// TestADurableRecordIsCompleted stops the process at every step between the commit and the
// answer. Recovery completes the transaction, and says so.
func TestADurableRecordIsCompleted(t *testing.T) {
	want := after(t)
	for _, cut := range []bool{false, true} {
		for name, is := range map[string]func(dir string) func(faultfs.Step) bool{
			"before the first file": isLinkInto,
			"before the deletion":   isRemovalFrom,
			"before the end": func(string) func(faultfs.Step) bool {
				return func(s faultfs.Step) bool { return strings.HasPrefix(filepath.Base(s.To), donePrefix) }
			},
		} {
			dir := newList(t)
			if name == "before the end" {
				require.NoError(t, commit(t, dir, replacing, WithFS(failing(syscall.EIO, is(dir)))), "it has happened")
			} else {
				freeze(t, dir, is(dir))
			}
			require.FileExists(t, filepath.Join(stateDirOf(dir), journalName), name)
			if cut {
				cutPower(t, dir)
			}
			r, err := Inspect(t.Context(), dir)
			require.NoError(t, err)
			assert.Equal(t, Completed, r.Outcome, name)
			r, err = Recover(t.Context(), dir)
			require.NoError(t, err)
			assert.Equal(t, Completed, r.Outcome, name)
			assert.Equal(t, replacing.Label, r.Label)
			assert.Empty(t, r.Conflicts)
			assert.Equal(t, want, contents(t, dir), name)
			h := history(t, dir)
			require.Len(t, h, 1)
			assert.Equal(t, []string{".", "2.json"}, names(t, h[0].Backups))
			r, err = Recover(t.Context(), dir)
			require.NoError(t, err)
			assert.Equal(t, Report{Outcome: Clean}, r)
		}
	}
}

// TestWhatCannotBeLinkedIsRolledBack: where files cannot be linked into D, a transaction that creates
// files alone finds that out after its commit, and dies before it is rolled back. If D was hidden by
// a mount since a power cut, the transaction may have happened: it is completed where it did.
func TestWhatCannotBeLinkedIsRolledBack(t *testing.T) {
	fails := func(dir string) Option { return WithFS(failing(syscall.EXDEV, isLinkInto(dir))) }
	create := Change{Creates: replacing.Creates}
	for _, cut := range []bool{false, true} {
		dir := newList(t)
		want := contents(t, dir)
		interruptAt(t, dir, create, isLinkInto(dir))
		if cut {
			cutPower(t, dir)
			_, err := Recover(t.Context(), dir, fails(dir))
			require.ErrorIs(t, err, syscall.EXDEV)
			for _, f := range create.Creates {
				want[f.Name] = string(f.Data)
			}
			r, err := Recover(t.Context(), dir)
			require.NoError(t, err)
			require.Equal(t, Completed, r.Outcome)
		} else {
			r, err := Recover(t.Context(), dir, fails(dir))
			require.NoError(t, err)
			require.Equal(t, RolledBack, r.Outcome)
		}
		require.Equal(t, want, contents(t, dir))
		_, err := Open(t.Context(), dir, fails(dir))
		require.NoError(t, err)
	}
}

// freeze stops replacing as a death does: the rollback does not run either.
func freeze(t testing.TB, dir string, is func(faultfs.Step) bool) {
	t.Helper()
	interruptAt(t, dir, replacing, is)
}

func interruptAt(t testing.TB, dir string, c Change, is func(faultfs.Step) bool, opts ...Option) {
	t.Helper()
	dead := false
	err := commit(t, dir, c, append(opts, WithFS(before(func(s faultfs.Step) error {
		if dead = dead || is(s); dead {
			return faultfs.ErrFrozen
		}
		return nil
	})))...)
	require.True(t, errors.Is(err, ErrRecoveryRequired) || errors.Is(err, ErrUnknown), "%v", err)
}

// TestNothingIsChangedBeforeTheRecordIsDurable, and only a constant number of files is synced.
func TestNothingIsChangedBeforeTheRecordIsDurable(t *testing.T) {
	dir := newList(t)
	require.NoError(t, commit(t, dir, Change{Creates: []File{{"0.json", nil, 0o644}}}))
	for _, n := range []int{1, 40} {
		var steps []string
		c := Change{}
		for i := range n {
			c.Creates = append(c.Creates, File{fmt.Sprintf("%d-%d.json", n, i), []byte("new"), 0o644})
		}
		require.NoError(t, commit(t, dir, c, WithFS(before(func(s faultfs.Step) error {
			if s.Op == "sync" {
				steps = append(steps, strings.TrimSuffix(s.String(), "~"))
			}
			if isLinkInto(dir)(s) {
				steps = append(steps, "link")
			}
			return nil
		}))))
		slices.Sort(steps[1:3]) // at the same time, as the last two
		slices.Sort(steps[len(steps)-2:])
		assert.Equal(t, []string{"sync S/committing", "sync S", "sync " + filepath.Base(filepath.Dir(dir)), "link", "sync S",
			"sync " + filepath.Base(dir)}, slices.Compact(steps), "%d files", n)
	}
}

// TestAFailureAfterTheCommitIsRolledBack: each step fails in turn. The record is gone before
// the error is returned, so that a power cut does not bring the transaction back.
func TestAFailureAfterTheCommitIsRolledBack(t *testing.T) {
	for n := 0; ; n++ {
		dir := newList(t)
		list := tree(t, dir)
		var failed *faultfs.Step
		d, err := Open(t.Context(), dir, WithFS(faultfs.Fail(vfs.OS{}, n, syscall.EIO, func(s faultfs.Step) { failed = &s })))
		if err == nil {
			err = d.Commit(t.Context(), replacing)
			require.NoError(t, d.Close())
		}
		if failed == nil {
			require.NoError(t, err)
			return
		}
		if err == nil {
			require.Equal(t, []string{"1.json", "3.json", "4.json"}, slices.Sorted(maps.Keys(contents(t, dir))), "%s", failed)
		} else {
			require.Equal(t, list, tree(t, dir), "%s", failed)
		}
		_, statErr := os.Lstat(filepath.Join(stateDirOf(dir), committingName))
		unknown := failed.Op == "sync" && failed.Path == stateDirOf(dir) && err != nil
		require.Equal(t, statErr == nil, unknown, "%s: %v", failed, err)
		if unknown {
			require.ErrorIs(t, err, ErrUnknown)
		}
		r, err := Recover(t.Context(), dir)
		require.NoError(t, err, "%s", failed)
		require.Empty(t, r.Conflicts)
	}
}

// TestAnUnknownOutcomeIsDecidedByRecovery: nothing happens before a power cut, after which the
// record may be on the disk.
func TestAnUnknownOutcomeIsDecidedByRecovery(t *testing.T) {
	want := after(t)
	for _, cut := range []bool{false, true} {
		dir := newList(t)
		list := tree(t, dir)
		failing := failing(syscall.EIO, func(s faultfs.Step) bool { return s.Op == "sync" && s.Path == stateDirOf(dir) })
		d, err := Open(t.Context(), dir, WithFS(failing))
		require.NoError(t, err)
		require.ErrorIs(t, d.Commit(t.Context(), replacing), ErrUnknown)
		require.Equal(t, list, tree(t, dir), "nothing is changed before the commit")
		if cut {
			require.NoError(t, d.Close())
			cutPower(t, dir)
			assert.Equal(t, Completed, recovered(t, dir).Outcome)
			assert.Equal(t, want, contents(t, dir))
			continue
		}
		require.Error(t, d.Commit(t.Context(), Change{Creates: []File{{"9.json", nil, 0o644}}}), "the record has to be removed first")
		require.NoError(t, d.Close())
		recovered(t, dir)
		assert.Equal(t, list, tree(t, dir))
	}
}

// beginning commits replacing up to the last name of the record, which it does not give. It returns
// the record's path.
func beginning(t testing.TB) (dir, record string) {
	dir = newList(t)
	record = filepath.Join(stateDirOf(dir), committingName)
	freeze(t, dir, func(s faultfs.Step) bool { return s.Op == "rename" && s.Path == record })
	require.FileExists(t, record)
	return dir, record
}

// recovered recovers the list, after Inspect has said the same.
func recovered(t testing.TB, dir string) Report {
	want, err := Inspect(t.Context(), dir)
	require.NoError(t, err)
	r, err := Recover(t.Context(), dir)
	require.NoError(t, err)
	require.Equal(t, want, r)
	for _, name := range []string{committingName, journalName, settlingName} {
		require.NoFileExists(t, filepath.Join(stateDirOf(dir), name))
	}
	again, err := Recover(t.Context(), dir)
	require.NoError(t, err)
	require.Equal(t, Report{Outcome: Clean}, again)
	return r
}

// TestADeathWhileCommittingIsRolledBack: the record may not be on the disk, and nothing was
// changed.
func TestADeathWhileCommittingIsRolledBack(t *testing.T) {
	dir, record := beginning(t)
	list := tree(t, dir)
	reader, err := OpenReader(dir)
	require.NoError(t, err)
	defer reader.Close()
	assert.True(t, reader.IsInterrupted())
	r := recovered(t, dir)
	assert.Equal(t, Report{Outcome: RolledBack, ID: r.ID, Time: r.Time, Label: replacing.Label}, r)
	assert.Equal(t, list, tree(t, dir))
	assert.False(t, reader.IsInterrupted())
	assert.Empty(t, history(t, dir))
	assert.NoDirExists(t, filepath.Join(filepath.Dir(record), txnPrefix+r.ID))
	require.NoError(t, commit(t, dir, replacing))
}

// TestATornRecordHasChangedNothing: a power cut left a part of it, or bytes of another file.
func TestATornRecordHasChangedNothing(t *testing.T) {
	for name, tear := range map[string]func(data []byte) []byte{
		"empty":      func([]byte) []byte { return nil },
		"a part":     func(data []byte) []byte { return data[:len(data)/2] },
		"all but 1":  func(data []byte) []byte { return data[:len(data)-1] },
		"zeros":      func(data []byte) []byte { return make([]byte, len(data)) },
		"half zeros": func(data []byte) []byte { clear(data[len(data)/2:]); return data },
		"others":     func(data []byte) []byte { data[len(data)-1] ^= 1; return data },
	} {
		dir, record := beginning(t)
		list := tree(t, dir)
		data, err := os.ReadFile(record)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(record, tear(data), 0o600))
		assert.Equal(t, Report{Outcome: Clean}, recovered(t, dir), name)
		assert.Equal(t, list, tree(t, dir), name)
		left, err := filepath.Glob(filepath.Join(filepath.Dir(record), txnPrefix+"*"))
		require.NoError(t, err)
		assert.Empty(t, left, name)
		require.NoError(t, commit(t, dir, replacing))
	}
}

// TestALostLastNameOfARecord: a power cut has lost the journal's name, and perhaps what came
// after it: the transaction has happened.
func TestALostLastNameOfARecord(t *testing.T) {
	want := after(t)
	for name, until := range map[string]func(dir string) func(faultfs.Step) bool{
		"nothing was done": func(dir string) func(faultfs.Step) bool {
			return func(s faultfs.Step) bool { return s.Op == "rename" && filepath.Base(s.Path) == committingName }
		},
		"a file is created": isRemovalFrom,
		"a file is deleted": func(string) func(faultfs.Step) bool {
			return func(s faultfs.Step) bool { return strings.HasPrefix(filepath.Base(s.To), donePrefix) }
		},
	} {
		dir := newList(t)
		if name == "a file is deleted" {
			require.NoError(t, commit(t, dir, replacing, WithFS(failing(syscall.EIO, until(dir)))))
		} else {
			freeze(t, dir, until(dir))
		}
		record := filepath.Join(stateDirOf(dir), committingName)
		if err := os.Rename(filepath.Join(stateDirOf(dir), journalName), record); err != nil {
			require.FileExists(t, record)
		}
		cutPower(t, dir)
		assert.Equal(t, Completed, recovered(t, dir).Outcome, name)
		assert.Equal(t, want, contents(t, dir), name)
		assert.Len(t, history(t, dir), 1)
	}
	for _, done := range []bool{false, true} { // the same with the names that come last
		dir, settling := postponed(t)
		require.NoError(t, os.Link(settling, filepath.Join(stateDirOf(dir), committingName)))
		if done {
			require.NoError(t, os.Remove(settling))
		}
		require.NoError(t, os.Remove(filepath.Join(dir, "3.json")))
		cutPower(t, dir)
		assert.Equal(t, Completed, recovered(t, dir).Outcome)
		assert.Equal(t, want, contents(t, dir))
		assert.Len(t, history(t, dir), 1)
	}
}

// TestARecordThatAnOlderProgramHasPassedBy, which does not know its name, is not completed. The
// older program has removed the transaction's directory, has committed a transaction with the
// same number, or was interrupted itself.
func TestARecordThatAnOlderProgramHasPassedBy(t *testing.T) {
	other := Change{Creates: []File{{"9.json", []byte("of the older program"), 0o644}}, Record: "of the older program"}
	for name, older := range map[string]func(dir string){
		"looks": func(dir string) {
			_, err := Recover(t.Context(), dir)
			require.NoError(t, err)
		},
		"commits":        func(dir string) { require.NoError(t, commit(t, dir, other)) },
		"is interrupted": func(dir string) { interruptAt(t, dir, other, isLinkInto(dir)) },
		"is interrupted in a large change": func(dir string) {
			interruptAt(t, dir, other, isLinkInto(dir), staged)
		},
	} {
		for _, cut := range []bool{false, true} {
			if cut && (name == "looks" || name == "is interrupted in a large change") {
				continue // nobody was told anything since: it may be completed
			}
			dir, record := beginning(t)
			data, err := os.ReadFile(record)
			require.NoError(t, err)
			require.NoError(t, os.Remove(record))
			older(dir)
			require.NoError(t, os.WriteFile(record, data, 0o600))
			if cut {
				cutPower(t, dir)
			}
			list := tree(t, dir)
			if r := recovered(t, dir); name != "is interrupted" {
				assert.NotEqual(t, Completed, r.Outcome, "%s, cut %v", name, cut)
				assert.Equal(t, list, tree(t, dir), "%s, cut %v", name, cut)
			}
			assert.FileExists(t, filepath.Join(dir, "2.json"), "%s, cut %v", name, cut)
		}
	}
}

// TestARecordIsDurableBeforeItIsCompleted, in another life, too: that may be another mount of the
// same file system, and no power cut.
func TestARecordIsDurableBeforeItIsCompleted(t *testing.T) {
	dir, _ := beginning(t)
	cutPower(t, dir)
	var steps []string
	_, err := Recover(t.Context(), dir, WithFS(before(func(s faultfs.Step) error {
		if s.Op == "sync" || isLinkInto(dir)(s) {
			steps = append(steps, cmp.Or(s.To, s.Path))
		}
		return nil
	})))
	require.NoError(t, err)
	i := slices.Index(steps, stateDirOf(dir))
	require.Positive(t, i)
	assert.Contains(t, steps[0], "/.journal", "the record is written anew")
	assert.Contains(t, steps[:slices.IndexFunc(steps, func(path string) bool { return filepath.Dir(path) == dir })], filepath.Dir(dir))
	assert.Less(t, i, slices.IndexFunc(steps, func(path string) bool { return filepath.Dir(path) == dir }))
}

// TestTwoTransactionsAreFinished in their order, if a failed sync has left the journals of both.
func TestTwoTransactionsAreFinished(t *testing.T) {
	dir, settling := postponed(t)
	require.NoError(t, os.Rename(settling, filepath.Join(stateDirOf(dir), journalName)))
	cutPower(t, dir)
	data, err := os.ReadFile(filepath.Join(stateDirOf(dir), journalName))
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(stateDirOf(dir), journalName)))
	record := filepath.Join(stateDirOf(dir), committingName)
	interruptAt(t, dir, Change{Creates: []File{{"9.json", []byte("9"), 0o644}}, Deletes: []string{"3.json"}},
		func(s faultfs.Step) bool { return s.Op == "rename" && s.Path == record })
	require.NoError(t, os.WriteFile(filepath.Join(stateDirOf(dir), journalName), data, 0o600))
	require.NoError(t, os.Remove(filepath.Join(dir, "4.json")))
	cutPower(t, dir)
	r := recovered(t, dir)
	assert.Equal(t, Completed, r.Outcome)
	assert.Equal(t, []string{"4.json", "9.json"}, r.Created)
	assert.Equal(t, []string{".", "1.json", "4.json", "9.json"}, names(t, dir))
	assert.Len(t, history(t, dir), 2)
}

// TestARecordThatCannotBeRemoved leaves the outcome unknown: the sync of the record has failed, and
// so has what withdraws it.
func TestARecordThatCannotBeRemoved(t *testing.T) {
	for _, op := range []string{"remove", "sync"} {
		dir := newList(t)
		list := tree(t, dir)
		record := filepath.Join(stateDirOf(dir), committingName)
		err := commit(t, dir, replacing, WithFS(before(func(s faultfs.Step) error {
			if s.Path == record && s.Op == "sync" || s.Op == op && (s.Path == record || s.Path == stateDirOf(dir)) {
				return syscall.EIO
			}
			return nil
		})))
		require.ErrorIs(t, err, ErrUnknown, op)
		recovered(t, dir)
		assert.Equal(t, list, tree(t, dir), op)
	}
}

// TestWithoutAPowerCutNothingIsTouched: what another program has done since the commit stays,
// and no file is looked at.
func TestWithoutAPowerCutNothingIsTouched(t *testing.T) {
	dir := newList(t)
	require.NoError(t, commit(t, dir, replacing))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "3.json"), nil, 0o644))
	require.NoError(t, os.Remove(filepath.Join(dir, "4.json")))
	list := tree(t, dir)
	r, err := Recover(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, Report{Outcome: Clean}, r)
	assert.Equal(t, list, tree(t, dir))
}

// TestAPowerCutDamagesOnlyWhatIsRepaired: of the created files one is empty, one was changed
// by another program, one deleted. Only the first is written again, once.
func TestAPowerCutDamagesOnlyWhatIsRepaired(t *testing.T) {
	dir := newList(t)
	c := Change{Label: "l", Deletes: []string{"2.json"}}
	for _, name := range []string{"empty", "half", "zeros", "changed", "deleted", "whole"} {
		c.Creates = append(c.Creates, File{name, []byte("the bytes of " + name), 0o640})
	}
	require.NoError(t, commit(t, dir, c))
	for name, text := range map[string]string{"empty": "", "half": "the by", "zeros": strings.Repeat("\x00", 18), "changed": "later"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	require.NoError(t, os.Remove(filepath.Join(dir, "deleted")))
	backups := history(t, dir)[0].Backups
	require.NoError(t, os.WriteFile(filepath.Join(backups, "2.json"), nil, 0o600))
	cutPower(t, dir)

	r, err := Recover(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, Completed, r.Outcome)
	assert.Equal(t, []string{"empty", "half", "zeros"}, r.Created)
	require.Len(t, r.Conflicts, 1, "nobody writes zeros, so they are kept")
	assert.Equal(t, Conflict{"zeros", r.Conflicts[0].MovedTo, whyPartial}, r.Conflicts[0])
	got := contents(t, dir)
	for _, name := range []string{"empty", "half", "zeros", "whole"} {
		assert.Equal(t, "the bytes of "+name, got[name])
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o640), info.Mode().Perm(), name)
	}
	assert.Equal(t, "later", got["changed"])
	assert.NotContains(t, got, "deleted")
	kept, err := os.ReadFile(filepath.Join(backups, "2.json"))
	require.NoError(t, err)
	assert.Equal(t, "old 2.json", string(kept), "the deleted file can be restored")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "empty"), nil, 0o644))
	r, err = Recover(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, Report{Outcome: Clean}, r, "it looks once in a life")
}

// TestOnlyTheLastUseOfANameIsRepaired: a later transaction has deleted the file, and another
// one restored it with later bytes.
func TestOnlyTheLastUseOfANameIsRepaired(t *testing.T) {
	dir := newList(t)
	path := filepath.Join(dir, "7.json")
	require.NoError(t, commit(t, dir, Change{Creates: []File{{"7.json", []byte("first"), 0o644}}}))
	require.NoError(t, os.WriteFile(path, []byte("second"), 0o644))
	at := time.Unix(1600000000, 5)
	require.NoError(t, os.Chtimes(path, at, at))
	require.NoError(t, commit(t, dir, Change{Deletes: []string{"7.json"}}))
	cutPower(t, dir)
	_, err := Recover(t.Context(), dir)
	require.NoError(t, err)
	assert.NoFileExists(t, path)
	h := history(t, dir)
	require.NoError(t, commit(t, dir, Change{Restores: []Restore{{h[1].ID, "7.json"}}}))
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	cutPower(t, dir)
	_, err = Recover(t.Context(), dir)
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "second", string(text))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, at.UnixNano(), info.ModTime().UnixNano(), "a restored file keeps its time")
}

// TestAFileOfAnyTimeCanBeDeleted, also of a year that no JSON has.
func TestAFileOfAnyTimeCanBeDeleted(t *testing.T) {
	for _, seconds := range []int64{1e12, -1e11} {
		dir := newList(t)
		at := unix.NsecToTimespec(0)
		at.Sec = seconds
		require.NoError(t, unix.UtimesNanoAt(unix.AT_FDCWD, filepath.Join(dir, "2.json"), []unix.Timespec{at, at}, 0))
		freeze(t, dir, isRemovalFrom(dir))
		cutPower(t, dir)
		recovered(t, dir)
		assert.NoFileExists(t, filepath.Join(dir, "2.json"))
	}
}

// TestAStagedTransactionUsesNames, too: the file is of the last one, and not damaged.
func TestAStagedTransactionUsesNames(t *testing.T) {
	dir := newList(t)
	require.NoError(t, commit(t, dir, Change{Creates: []File{{"7.json", []byte("the first"), 0o644}}}))
	require.NoError(t, commit(t, dir, Change{Deletes: []string{"7.json"}}, staged))
	require.NoError(t, commit(t, dir, Change{Creates: []File{{"7.json", []byte("the"), 0o644}}}, staged))
	cutPower(t, dir)
	assert.Equal(t, Report{Outcome: Clean}, recovered(t, dir))
	assert.Equal(t, "the", contents(t, dir)["7.json"])
}

// TestTheLongestNameCanBeUsed, also where the file is written under another name first.
func TestTheLongestNameCanBeUsed(t *testing.T) {
	name := strings.Repeat("n", maxName)
	for _, limit := range []int{0, DefaultRecordLimit} {
		dir := newList(t)
		require.NoError(t, commit(t, dir, Change{Creates: []File{{name, []byte("text"), 0o644}}}, WithRecordLimit(limit)))
		if limit > 0 {
			cutPower(t, dir)
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("a\x00"), 0o644))
			assert.Len(t, recovered(t, dir).Conflicts, 1)
			cutPower(t, dir)
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("b\x00"), 0o644))
			assert.Len(t, recovered(t, dir).Conflicts, 1)
		}
		require.Equal(t, "text", contents(t, dir)[name])
		d, err := Open(t.Context(), dir)
		require.NoError(t, err)
		require.NoError(t, d.ReplaceFiles(File{Name: name, Data: []byte("replaced")}))
		require.NoError(t, d.Close())
		require.Equal(t, "replaced", contents(t, dir)[name])
	}
}

// TestARecoveryLosesNothingOfAnotherProgram: after the death another program has written what
// the transaction deletes, and has taken a name that it creates. So it is rolled back, unless
// the power failed: then the file may be a later version of the one that was created.
func TestARecoveryLosesNothingOfAnotherProgram(t *testing.T) {
	for _, cut := range []bool{false, true} {
		dir := newList(t)
		freeze(t, dir, isLinkInto(dir))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "2.json"), []byte("later 2"), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "3.json"), []byte("another's"), 0o644))
		left := contents(t, dir)
		if cut {
			cutPower(t, dir)
		}
		r, err := Recover(t.Context(), dir)
		require.NoError(t, err)
		if !cut {
			assert.Equal(t, RolledBack, r.Outcome)
			require.Len(t, r.Conflicts, 1)
			assert.Empty(t, r.Conflicts[0].MovedTo)
			assert.Equal(t, left, contents(t, dir), "both stay where they are")
			assert.Empty(t, history(t, dir))
			continue
		}
		require.Len(t, r.Conflicts, 1)
		data, err := os.ReadFile(r.Conflicts[0].MovedTo)
		require.NoError(t, err)
		assert.Equal(t, "later 2", string(data))
		assert.Equal(t, "another's", contents(t, dir)["3.json"])
		assert.NotContains(t, contents(t, dir), "2.json")
	}
}

// TestAClockThatWasSetBackLosesNoLaterVersion: a power cut has brought back a file that the transaction
// deletes. A version that another program has written since is kept, also if the clock was set back. An
// older one, which the power cut has brought back as well, is deleted.
func TestAClockThatWasSetBackLosesNoLaterVersion(t *testing.T) {
	booted, known := vfs.Booted()
	require.True(t, known)
	for name, c := range map[string]struct {
		written time.Time // the version that is there; the transaction has seen one of an hour from now
		kept    bool
	}{
		"before this run of the kernel": {booted.Add(-time.Hour), false},
		"in this run of the kernel":     {booted.Add(time.Second), true},
	} {
		dir := newList(t)
		path := filepath.Join(dir, "2.json")
		later := time.Now().Add(time.Hour)
		require.NoError(t, os.Chtimes(path, later, later))
		require.NoError(t, commit(t, dir, replacing, WithLateSync()))
		cutPower(t, dir)
		require.NoError(t, os.WriteFile(path, []byte("another version"), 0o640))
		require.NoError(t, os.Chtimes(path, c.written, c.written))
		r, err := Recover(t.Context(), dir)
		require.NoError(t, err)
		assert.NoFileExists(t, path, name)
		assert.Equal(t, c.kept, len(r.Conflicts) == 1, name)
		if c.kept {
			aside, err := os.ReadFile(r.Conflicts[0].MovedTo)
			require.NoError(t, err)
			assert.Equal(t, "another version", string(aside))
		}
	}
}

// TestALostNameIsWrittenAgain: after a power cut nothing of what was not synced is left.
func TestALostNameIsWrittenAgain(t *testing.T) {
	want := after(t)
	dir := newList(t)
	freeze(t, dir, isRemovalFrom(dir))
	cutPower(t, dir)
	require.NoError(t, os.Remove(filepath.Join(dir, "3.json")))
	dirs, err := filepath.Glob(filepath.Join(stateDirOf(dir), txnPrefix+"*"))
	require.NoError(t, err)
	for _, lost := range dirs {
		require.NoError(t, os.RemoveAll(lost))
	}
	_, err = Recover(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, want, contents(t, dir))
	assert.Equal(t, []string{".", "2.json"}, names(t, history(t, dir)[0].Backups))
}

// TestAnyByteOfARecordCounts changes each byte of a record, in the history and before.
func TestAnyByteOfARecordCounts(t *testing.T) {
	dir := newList(t)
	freeze(t, dir, isLinkInto(dir))
	path := filepath.Join(stateDirOf(dir), journalName)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := range data {
		changed := slices.Clone(data)
		changed[i] ^= 1
		_, err := parseJournal(changed, "../"+filepath.Base(dir))
		require.Error(t, err, "byte %d", i)
		_, err = parseJournal(data[:i], "../"+filepath.Base(dir))
		require.Error(t, err, "the first %d bytes", i)
	}
	_, err = parseJournal(append(slices.Clone(data), 0), "../"+filepath.Base(dir))
	require.ErrorIs(t, err, ErrJournalTorn)
	changed := slices.Clone(data)
	changed[len(data)-1] ^= 1
	require.NoError(t, os.WriteFile(path, changed, 0o600))
	list := tree(t, dir)
	_, err = Recover(t.Context(), dir)
	require.ErrorIs(t, err, ErrJournalTorn)
	require.Equal(t, list, tree(t, dir))
	moved, err := SetAside(t.Context(), dir)
	require.NoError(t, err)
	require.NotEmpty(t, moved)
	_, err = Recover(t.Context(), dir)
	require.NoError(t, err)
}

// TestALargeTransactionIsStaged: its record would be larger than the limit, in the bytes of
// its files or by their number.
func TestALargeTransactionIsStaged(t *testing.T) {
	for _, c := range []Change{
		{Creates: []File{{"9.json", make([]byte, 2000), 0o644}}},
		{Creates: slices.Collect(func(yield func(File) bool) {
			for i := range 20 {
				yield(File{fmt.Sprintf("%d-9.json", i), nil, 0o644})
			}
		})},
	} {
		dir := newList(t)
		require.NoError(t, commit(t, dir, c, WithRecordLimit(1000)))
		h := history(t, dir)
		data, err := os.ReadFile(filepath.Join(stateDirOf(dir), donePrefix+h[0].ID))
		require.NoError(t, err)
		assert.Contains(t, string(data[:20]), "fsmtx-journal 2 ")
		assert.NotContains(t, string(data), `"mtime"`)
	}
}

// TestAnEntryIsDroppedOnceItsFilesAreDurable: those that still exist are synced.
func TestAnEntryIsDroppedOnceItsFilesAreDurable(t *testing.T) {
	dir := newList(t)
	one := WithHistory(1)
	require.NoError(t, commit(t, dir, Change{Creates: []File{{"7.json", []byte("7"), 0o644}, {"8.json", []byte("8"), 0o644}}}, one))
	require.NoError(t, os.Remove(filepath.Join(dir, "8.json")))
	synced, fails := []string{}, true
	files := before(func(s faultfs.Step) error {
		if s.Op == "sync" && filepath.Dir(s.Path) == dir {
			if synced = append(synced, filepath.Base(s.Path)); fails {
				return syscall.EIO
			}
		}
		return nil
	})
	require.NoError(t, commit(t, dir, Change{Creates: []File{{"9.json", nil, 0o644}}}, one, WithFS(files)))
	assert.Equal(t, []string{"7.json"}, synced)
	require.Len(t, history(t, dir), 2, "its file is not durable")
	cutPower(t, dir) // which may be another mount, and no power cut
	commitErr := commit(t, dir, Change{}, one, WithFS(files))
	require.NoError(t, commitErr)
	require.Len(t, history(t, dir), 3, "its file is not durable")
	fails = false
	for _, want := range []int{3, 1} {
		d, err := Open(context.Background(), dir, one, WithFS(files))
		require.NoError(t, err)
		require.NoError(t, d.Close())
		require.Len(t, history(t, dir), want, "a sync that succeeds after one that failed shows nothing")
		cutPower(t, dir)
	}
}

// TestAFailedSyncOfATaskIsRemembered, whoever made it: a large transaction that was to delete the file, or
// the one that drops the record, which has lost its directory.
func TestAFailedSyncOfATaskIsRemembered(t *testing.T) {
	one := WithHistory(1)
	for name, fails := range map[string]func(dir string, files vfs.FS) error{
		"to delete it": func(dir string, files vfs.FS) error {
			return commit(t, dir, Change{Deletes: []string{"7.json"}}, staged, WithFS(files))
		},
		"to drop its record": func(dir string, files vfs.FS) error {
			require.NoError(t, os.RemoveAll(filepath.Join(stateDirOf(dir), txnPrefix+history0(t, dir).ID)))
			require.NoError(t, commit(t, dir, create("8.json"), one, WithFS(files)))
			return syscall.EIO
		},
	} {
		dir := newList(t)
		require.NoError(t, commit(t, dir, Change{Creates: []File{{"7.json", []byte("7"), 0o644}}}, one))
		require.ErrorIs(t, fails(dir, failing(syscall.EIO, func(s faultfs.Step) bool {
			return s.Op == "sync" && s.Path == filepath.Join(dir, "7.json")
		})), syscall.EIO, name)
		require.NoError(t, commit(t, dir, create("9.json"), one))
		cutPower(t, dir)
		require.NoError(t, os.Truncate(filepath.Join(dir, "7.json"), 0)) // what the failed sync has lost
		recovered(t, dir)
		require.Equal(t, "7", contents(t, dir)["7.json"], name)
	}
}

// TestTwoDamagedVersionsAreKept: the second power cut must not replace what was kept after the first.
func TestTwoDamagedVersionsAreKept(t *testing.T) {
	dir := newList(t)
	require.NoError(t, commit(t, dir, replacing))
	path, kept := filepath.Join(dir, "3.json"), []string(nil)
	for _, text := range []string{"first\x00", "second\x00"} {
		cutPower(t, dir)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		r := recovered(t, dir)
		require.Len(t, r.Conflicts, 1)
		kept = append(kept, r.Conflicts[0].MovedTo)
		require.Equal(t, "new 3.json", contents(t, dir)["3.json"])
	}
	for i, want := range []string{"first\x00", "second\x00"} {
		text, err := os.ReadFile(kept[i])
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
	}
}

// TestARecordThatCannotBeReadNowIsStillNeeded: a read fails that may succeed later. The bytes of the
// files are looked at later, and until they are durable the record is kept.
func TestARecordThatCannotBeReadNowIsStillNeeded(t *testing.T) {
	dir, one := newList(t), WithHistory(1)
	path := filepath.Join(dir, "7.json")
	require.NoError(t, commit(t, dir, Change{Creates: []File{{"7.json", []byte("7"), 0o644}}}, one))
	entry := filepath.Join(stateDirOf(dir), donePrefix+history0(t, dir).ID)
	unreadable := WithFS(failing(syscall.EMFILE, func(s faultfs.Step) bool { return s.Op == "read" && s.Path == entry }))
	require.NoError(t, commit(t, dir, Change{Creates: []File{{"8.json", nil, 0o644}}}, one, unreadable))
	require.FileExists(t, entry, "nothing has made 7.json durable")
	cutPower(t, dir)
	require.NoError(t, os.Truncate(path, 0))
	_, err := Recover(t.Context(), dir, unreadable)
	require.NoError(t, err)
	_, err = Recover(t.Context(), dir)
	require.NoError(t, err)
	require.Equal(t, "7", contents(t, dir)["7.json"])
	require.NoError(t, os.WriteFile(entry, nil, 0o600))
	require.NoError(t, commit(t, dir, Change{}, one))
	require.NoFileExists(t, entry, "a damaged one is of no use")
}

// TestWhatWasNotLookedAtIsStillNeeded: the look for damage fails once. What comes after it, which would
// drop the record, does not.
func TestWhatWasNotLookedAtIsStillNeeded(t *testing.T) {
	for _, op := range []string{"read", "readdir"} {
		dir, one := newList(t), WithHistory(1)
		require.NoError(t, commit(t, dir, Change{Creates: []File{{"7.json", []byte("7"), 0o644}}}, one))
		entry, s := filepath.Join(stateDirOf(dir), donePrefix+history0(t, dir).ID), stateDirOf(dir)
		cutPower(t, dir)
		require.NoError(t, os.Truncate(filepath.Join(dir, "7.json"), 0))
		failed := false
		files := &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(step faultfs.Step) error {
			if !failed && step.Op == op && (step.Path == entry || step.Path == s) {
				failed = true
				return syscall.EIO
			}
			return nil
		}}
		d, err := Open(t.Context(), dir, one, WithFS(files))
		if err == nil {
			require.NoError(t, d.Commit(t.Context(), Change{Creates: []File{{"8.json", nil, 0o644}}}))
			require.NoError(t, d.Close())
		}
		require.True(t, failed)
		_, err = Recover(t.Context(), dir)
		require.NoError(t, err)
		require.Equal(t, "7", contents(t, dir)["7.json"], op)
	}
}

// TestAnUnreadRecordMayHaveUsedNames: the file is not of the earlier transaction, whose bytes it could be
// a beginning of.
func TestAnUnreadRecordMayHaveUsedNames(t *testing.T) {
	dir := newList(t)
	for _, text := range []string{"task 1", "task 2"} {
		require.NoError(t, commit(t, dir, Change{Creates: []File{{"7.json", []byte(text), 0o644}}}))
		require.NoError(t, os.Remove(filepath.Join(dir, "7.json")))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "7.json"), []byte("task"), 0o644))
	entry := filepath.Join(stateDirOf(dir), donePrefix+history(t, dir)[1].ID)
	cutPower(t, dir)
	unreadable := failing(syscall.EMFILE, func(s faultfs.Step) bool { return s.Op == "read" && s.Path == entry })
	r, err := Recover(t.Context(), dir, WithFS(unreadable))
	require.NoError(t, err)
	assert.Equal(t, Report{Outcome: Clean}, r)
	assert.Equal(t, []string{"7.json"}, recovered(t, dir).Created)
	assert.Equal(t, "task 2", contents(t, dir)["7.json"])
}

// TestWithoutALifeThePowerMayHaveFailed: the kernel tells its boot id to one process, and not to the next.
func TestWithoutALifeThePowerMayHaveFailed(t *testing.T) {
	dir := newList(t)
	require.NoError(t, commit(t, dir, replacing))
	require.NoError(t, os.Truncate(filepath.Join(dir, "3.json"), 0))
	d, err := open(t.Context(), dir, newOptions(nil))
	require.NoError(t, err)
	d.lived.Do(func() {}) // lifeNow stays empty
	r, err := d.recover(t.Context())
	require.NoError(t, err)
	require.NoError(t, d.Close())
	require.Equal(t, []string{"3.json"}, r.Created)
	require.Equal(t, "new 3.json", contents(t, dir)["3.json"])
}

// TestAVersionThatIsNotIntactIsDamaged: what the caller does not take for whole is written again,
// and nothing of it is lost. What no transaction creates stays.
func TestAVersionThatIsNotIntactIsDamaged(t *testing.T) {
	for _, intact := range []bool{true, false} {
		dir := newList(t)
		require.NoError(t, commit(t, dir, replacing))
		cutPower(t, dir)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "3.json"), []byte("torn"), 0o644))
		require.NoError(t, os.Remove(filepath.Join(dir, "4.json")))
		require.NoError(t, os.Mkdir(filepath.Join(dir, "4.json"), 0o755))
		r, err := Recover(t.Context(), dir, WithIntact(func(data []byte) bool { return intact && string(data) == "torn" }))
		require.NoError(t, err)
		require.DirExists(t, filepath.Join(dir, "4.json"))
		got, err := os.ReadFile(filepath.Join(dir, "3.json"))
		require.NoError(t, err)
		if intact {
			assert.Equal(t, "torn", string(got))
			assert.Empty(t, r.Conflicts)
			continue
		}
		assert.Equal(t, "new 3.json", string(got))
		assert.Equal(t, []string{"3.json"}, r.Created)
		require.Len(t, r.Conflicts, 1)
		aside, err := os.ReadFile(r.Conflicts[0].MovedTo)
		require.NoError(t, err)
		assert.Equal(t, "torn", string(aside))
	}
	dir := newList(t)
	require.NoError(t, commit(t, dir, replacing))
	cutPower(t, dir)
	require.NoError(t, os.Truncate(filepath.Join(dir, "3.json"), vfs.MaxFileBytes+1))
	r, err := Recover(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, Report{Outcome: Clean}, r, "no transaction created a file of that size")
}

// TestTheJournalIsDurableBeforeItIsFollowed: its name and those of the directories above are synced.
// It is not written anew, because to replace a file may lose its name on some file systems.
func TestTheJournalIsDurableBeforeItIsFollowed(t *testing.T) {
	for _, cut := range []bool{false, true} {
		dir := newList(t)
		freeze(t, dir, isLinkInto(dir))
		if cut {
			cutPower(t, dir)
		}
		journal := filepath.Join(stateDirOf(dir), journalName)
		was, err := os.Lstat(journal)
		require.NoError(t, err)
		var steps []string
		r, err := Recover(t.Context(), dir, WithFS(before(func(s faultfs.Step) error {
			if isLinkInto(dir)(s) || isRemovalFrom(dir)(s) {
				is, err := os.Lstat(journal)
				require.NoError(t, err)
				require.True(t, os.SameFile(was, is))
				require.Subset(t, steps, []string{stateDirOf(dir), filepath.Dir(dir)})
				steps = append(steps, "changed")
			} else if s.Op == "sync" {
				steps = append(steps, s.Path)
			}
			return nil
		})))
		require.NoError(t, err)
		assert.Equal(t, Completed, r.Outcome)
		assert.Contains(t, steps, "changed")
	}
}

// TestAReaderSeesAnInterruptedTransaction until it is recovered.
func TestAReaderSeesAnInterruptedTransaction(t *testing.T) {
	w := newWorld(t)
	w.setJournal(t, w.journal)
	for _, want := range []bool{true, false} {
		r, err := OpenReader(w.d)
		require.NoError(t, err)
		assert.Equal(t, want, r.IsInterrupted())
		r.Close()
		_, err = Recover(t.Context(), w.d)
		require.NoError(t, err)
	}
}
