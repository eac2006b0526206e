package crash

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Each mutant makes one mistake that an implementation of the protocol could make, through the file
// system or the locker that it is given. What finds it finds nothing wrong without the mistake. That a
// sync is left out, see TestEveryBarrierIsNecessary.
var mutants = []struct {
	name string
	find func(t *testing.T, mistake bool) (violations int)
}{
	{"D is changed before the second barrier", func(t *testing.T, mistake bool) int {
		return cutOnce(t, workloads[3], mistake, func(files vfs.FS) vfs.FS { return &hasty{FS: files} }, nil)
	}},
	{"an interrupted transaction is never rolled back", func(t *testing.T, mistake bool) int {
		return cutOnce(t, workloads[3], mistake, nil, func(files vfs.FS) vfs.FS { return blind{files} })
	}},
	{"a second rollback loses what the first has restored", func(t *testing.T, mistake bool) int {
		return cutOnce(t, workloads[4], mistake, nil, func(files vfs.FS) vfs.FS { return moving{files} })
	}},
	{"a second recovery changes something: the journal stays", func(t *testing.T, mistake bool) int {
		return cutOnce(t, workloads[3], mistake, nil, func(files vfs.FS) vfs.FS { return clinging{files} })
	}},
	{"an error of the sync that commits is ignored", func(t *testing.T, mistake bool) int {
		around := func(files vfs.FS) vfs.FS { return files }
		if mistake {
			around = func(files vfs.FS) vfs.FS { return deaf{files} }
		}
		o, _ := syncFaults(t, workloads[2], false, fates()[:1], around)
		return o.violations
	}},
	{"the checksum is not checked", damagedJournals},
	{"the locks are not checked before the commit", lostLocks},
}

// TestEveryMistakeIsFound, and nothing without it.
func TestEveryMistakeIsFound(t *testing.T) {
	for _, m := range mutants {
		t.Run(strings.ReplaceAll(m.name, " ", "-"), func(t *testing.T) {
			assert.Zero(t, m.find(t, false), "nothing is broken")
			found := m.find(t, true)
			assert.NotZero(t, found)
			t.Logf("found in %d states", found)
		})
	}
}

// cutOnce cuts the power at every step of a workload, and of some recoveries from that.
func cutOnce(t *testing.T, load workload, mistake bool, around, recovers func(vfs.FS) vfs.FS) int {
	load.limits = limits{exhaustive: 64, samples: 12}
	tr := &trial{workload: load, t: t, again: 6, first: mistake}
	if mistake {
		tr.around, tr.recovers = around, recovers
	}
	tr.run()
	return tr.result.violations + tr.recovered.violations
}

func inState(path, name string) bool {
	return filepath.Base(path) == name && strings.HasSuffix(filepath.Dir(path), ".fsmtx")
}

// hasty syncs the directories in S, and S, once D is changed and is synced itself.
type hasty struct {
	vfs.FS
	late []string
}

func (h *hasty) Sync(name string) error {
	if filepath.Base(name) != "list" {
		if info, err := h.Lstat(name); err == nil && info.IsDir() {
			h.late = append(h.late, name)
			return nil
		}
		return h.FS.Sync(name)
	}
	for _, dir := range h.late {
		if err := h.FS.Sync(dir); err != nil {
			return err
		}
	}
	h.late = nil
	return h.FS.Sync(name)
}

// blind sees no journal.
type blind struct{ vfs.FS }

func (b blind) ReadFile(name string) ([]byte, error) {
	if inState(name, "journal") {
		return nil, fs.ErrNotExist
	}
	return b.FS.ReadFile(name)
}

// moving moves backups back instead of linking them.
type moving struct{ vfs.FS }

func (m moving) Link(from, to string) error {
	if strings.Contains(from, "/old/") && filepath.Base(filepath.Dir(to)) == "list" {
		return m.FS.Rename(from, to)
	}
	return m.FS.Link(from, to)
}

// clinging keeps the journal.
type clinging struct{ vfs.FS }

func (c clinging) Remove(name string) error {
	if inState(name, "journal") {
		return nil
	}
	return c.FS.Remove(name)
}

// deaf takes each sync for done.
type deaf struct{ vfs.FS }

func (d deaf) Sync(name string) error {
	_ = d.FS.Sync(name)
	return nil
}

// forging gives each journal the checksum that it should have.
type forging struct{ vfs.FS }

func (f forging) ReadFile(name string) ([]byte, error) {
	data, err := f.FS.ReadFile(name)
	head, body, _ := bytes.Cut(data, []byte("\n"))
	if words := bytes.Split(head, []byte(" ")); inState(name, "journal") && len(words) == 3 {
		sum := sha256.Sum256(append(append(bytes.Clone(words[1]), '\n'), body...))
		data = fmt.Appendf(nil, "%s %s %x\n%s", words[0], words[1], sum, body)
	}
	return data, err
}

// interrupted commits until the rename that commits, which fails, and so does the rollback.
func interruptedList(t *testing.T) (list, journal string) {
	home := filepath.Join(worlds.MemoryDir(t), "home")
	list = filepath.Join(home, listPath)
	require.NoError(t, os.MkdirAll(list, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(list, "1.json"), []byte("old"), 0o644))
	dir, err := txn.Open(t.Context(), list, txn.WithFS(stopped{vfs.OS{}}))
	require.NoError(t, err)
	require.ErrorIs(t, dir.Commit(t.Context(), txn.Change{Deletes: []string{"1.json"},
		Creates: []txn.File{{Name: "2.json", Data: []byte("new"), Mode: 0o644}}, Label: "label"}), txn.ErrRecoveryRequired)
	require.NoError(t, dir.Close())
	return list, filepath.Join(home, "tasks/.list.fsmtx/journal")
}

// stopped neither commits nor rolls back.
type stopped struct{ vfs.FS }

func (s stopped) Rename(from, to string) error {
	if inState(from, "journal") {
		return syscall.EIO
	}
	return s.FS.Rename(from, to)
}

func (s stopped) Remove(name string) error { return syscall.EIO }

// damagedJournals returns how many journals with one wrong byte are acted on.
func damagedJournals(t *testing.T, mistake bool) (acted int) {
	list, journal := interruptedList(t)
	sound, err := os.ReadFile(journal)
	require.NoError(t, err)
	files := vfs.FS(vfs.OS{})
	if mistake {
		files = forging{files}
	}
	for i := bytes.Index(sound, []byte("label")); i >= 0 && i < len(sound) && acted == 0; i += 11 {
		damaged := bytes.Clone(sound)
		damaged[i] ^= 1
		require.NoError(t, os.WriteFile(journal, damaged, 0o600))
		_, err := txn.Recover(t.Context(), list, txn.WithFS(files))
		if _, untrusted := errors.AsType[*txn.JournalError](err); !untrusted {
			acted++
		}
	}
	return acted
}

// losing loses its locks while D is changed. trusting does not look.
type losing struct {
	checks   int
	trusting bool
}

var errLost = errors.New("lost")

func (*losing) Bind(vfs.FS, string, string)                  {}
func (*losing) Lock(context.Context, []string) (bool, error) { return true, nil }
func (*losing) Unlock() error                                { return nil }
func (*losing) Reap() error                                  { return nil }

func (l *losing) Check() error {
	if l.checks++; l.checks > 1 && !l.trusting {
		return errLost
	}
	return nil
}

// lostLocks returns how many changes are committed without locks.
func lostLocks(t *testing.T, mistake bool) (committed int) {
	list := filepath.Join(worlds.MemoryDir(t), "list")
	dir, err := txn.Open(t.Context(), list, txn.WithLocker(&losing{trusting: mistake}))
	require.NoError(t, err)
	defer dir.Close()
	if err = dir.Commit(t.Context(), txn.Change{Creates: []txn.File{{Name: "1.json", Mode: 0o644}}}); err == nil {
		return 1
	}
	require.ErrorIs(t, err, errLost)
	entries, err := os.ReadDir(list)
	require.NoError(t, err)
	require.False(t, slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "1.json" }))
	return 0
}

// TestAnAnsweredHydrationSurvivesATouchOfD: the power is cut, a start in which something touches D
// fails on a full disk, and another start comes. Whatever the cut has left, what was answered is there.
func TestAnAnsweredHydrationSurvivesATouchOfD(t *testing.T) {
	tr := &trial{workload: workloads[3], t: t}
	tr.base = worlds.MemoryDir(t)
	home := filepath.Join(tr.base, "home")
	change := tr.prepare(home)
	d, err := load(home)
	require.NoError(t, err)
	tr.unsync(d)
	dir := tr.open(home, recorder(vfs.OS{}, home, d, nil, nil))
	require.NoError(t, dir.Commit(t.Context(), change))
	require.NoError(t, dir.Close())
	states := 0
	d.cuts(limits{exhaustive: 256, samples: 64}, rand.New(rand.NewPCG(1, 2)), func(c *disk) {
		states++
		state, err := os.MkdirTemp(tr.base, "state-")
		require.NoError(t, err)
		defer os.RemoveAll(state)
		require.NoError(t, c.build(state))
		list := filepath.Join(state, listPath)
		require.NoError(t, os.Mkdir(list+"/.lock.lock", 0o755)) // D gets another time
		require.NoError(t, os.Remove(list+"/.lock.lock"))
		_, _ = txn.Recover(t.Context(), list, txn.WithFS(fullDisk{vfs.OS{}}))
		_, err = txn.Recover(t.Context(), list)
		require.NoError(t, err)
		require.Equal(t, tr.after, contents(t, state))
	})
	require.NotZero(t, states)
}

// fullDisk has no room for anything.
type fullDisk struct{ vfs.FS }

func (fullDisk) Overwrite(string, []byte) error             { return syscall.ENOSPC }
func (fullDisk) WriteNew(string, []byte, fs.FileMode) error { return syscall.ENOSPC }
func (fullDisk) Mkdir(string, fs.FileMode) error            { return syscall.ENOSPC }
func (fullDisk) Link(string, string) error                  { return syscall.ENOSPC }
