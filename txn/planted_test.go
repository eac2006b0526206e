package txn

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// planted is a file that an attacker puts into S or D to redirect or block this package.
type planted struct {
	name string
	// plant changes an interrupted world; outside is a directory with the files
	// secret, 2.json and dir/4.json.
	plant func(t *testing.T, w *world, outside string)
	is    error // what Recover returns
}

// replace replaces path by a symbolic link to target.
func replace(t *testing.T, path, target string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(path))
	require.NoError(t, os.Symlink(target, path))
}

// moved renames a file or directory and replaces it by a symbolic link to its new path.
func moved(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, os.Rename(from, to))
	require.NoError(t, os.Symlink(to, from))
}

const otherID = "n0000000001-20200101t000000-000000001-00000000"

var plantings = []planted{
	{"S is a link to itself elsewhere", func(t *testing.T, w *world, outside string) { moved(t, w.s, outside+"/s") }, ErrUntrustedDir},
	{"S is a link to another directory", func(t *testing.T, w *world, outside string) { replace(t, w.s, outside) }, ErrUntrustedDir},
	{"S is a link to nothing", func(t *testing.T, w *world, outside string) { replace(t, w.s, outside+"/nothing") }, ErrUntrustedDir},
	{"S is a file", func(t *testing.T, w *world, _ string) {
		require.NoError(t, os.RemoveAll(w.s))
		require.NoError(t, os.WriteFile(w.s, nil, 0o600))
	}, ErrUntrustedDir},
	{"S is a FIFO", func(t *testing.T, w *world, _ string) {
		require.NoError(t, os.RemoveAll(w.s))
		require.NoError(t, syscall.Mkfifo(w.s, 0o600))
	}, ErrUntrustedDir},
	{"S is writable by the group", func(t *testing.T, w *world, _ string) { require.NoError(t, os.Chmod(w.s, 0o770)) }, ErrUntrustedDir},
	{"S is writable by all", func(t *testing.T, w *world, _ string) { require.NoError(t, os.Chmod(w.s, 0o702)) }, ErrUntrustedDir},

	{"lock is a link to a file", func(t *testing.T, w *world, outside string) { replace(t, w.in(lockName), outside+"/secret") },
		vfs.ErrNotRegular},
	{"lock is a link to nothing", func(t *testing.T, w *world, outside string) { replace(t, w.in(lockName), outside+"/nothing") },
		vfs.ErrNotRegular},
	{"lock is a FIFO", func(t *testing.T, w *world, _ string) {
		require.NoError(t, os.Remove(w.in(lockName)))
		require.NoError(t, syscall.Mkfifo(w.in(lockName), 0o600))
	}, vfs.ErrNotRegular},
	{"lock is a directory", func(t *testing.T, w *world, _ string) {
		require.NoError(t, os.Remove(w.in(lockName)))
		require.NoError(t, os.Mkdir(w.in(lockName), 0o700))
	}, vfs.ErrNotRegular},

	{"locks is a link", func(t *testing.T, w *world, outside string) { replace(t, w.in(lockerName), outside) }, ErrUntrustedDir},
	{"locks is a file", func(t *testing.T, w *world, _ string) {
		require.NoError(t, os.WriteFile(w.in(lockerName), nil, 0o600))
	}, ErrUntrustedDir},

	{"the transaction's directory is a link", func(t *testing.T, w *world, outside string) {
		moved(t, w.in(txnPrefix+w.id), outside+"/txn")
	}, ErrJournalInvalid},
	{"old is a link", func(t *testing.T, w *world, outside string) {
		replace(t, w.in(txnPrefix+w.id+"/old"), outside)
	}, ErrJournalInvalid},
	{"new is a link", func(t *testing.T, w *world, outside string) {
		replace(t, w.in(txnPrefix+w.id+"/new"), outside+"/dir")
	}, ErrJournalInvalid},
	{"a backup is a link", func(t *testing.T, w *world, outside string) {
		replace(t, w.in(txnPrefix+w.id+"/old/2.json"), outside+"/secret")
	}, ErrJournalInvalid},
	{"a backup is a FIFO", func(t *testing.T, w *world, _ string) {
		require.NoError(t, os.Remove(w.in(txnPrefix+w.id+"/old/2.json")))
		require.NoError(t, syscall.Mkfifo(w.in(txnPrefix+w.id+"/old/2.json"), 0o600))
	}, ErrJournalInvalid},
	{"a staged file is a link", func(t *testing.T, w *world, outside string) {
		replace(t, w.in(txnPrefix+w.id+"/new/4.json"), outside+"/dir/4.json")
	}, ErrJournalInvalid},
	{"the transaction's directory is writable by all", func(t *testing.T, w *world, _ string) {
		require.NoError(t, os.Chmod(w.in(txnPrefix+w.id), 0o777))
	}, ErrJournalInvalid},

	{"a link with the name of a transaction's directory", func(t *testing.T, w *world, outside string) {
		require.NoError(t, os.Symlink(outside, w.in(txnPrefix+otherID)))
	}, nil},
	{"a link in an abandoned transaction", func(t *testing.T, w *world, outside string) {
		require.NoError(t, os.MkdirAll(w.in(txnPrefix+otherID+"/old"), 0o700))
		require.NoError(t, os.Symlink(outside, w.in(txnPrefix+otherID+"/new")))
		require.NoError(t, os.Symlink(outside, w.in(txnPrefix+otherID+"/old/dir")))
	}, nil},
	{"new of a committed transaction is a link", func(t *testing.T, w *world, outside string) {
		require.NoError(t, os.Mkdir(w.in(txnPrefix+otherID), 0o700))
		require.NoError(t, os.Symlink(outside, w.in(txnPrefix+otherID+"/new")))
		require.NoError(t, os.WriteFile(w.in(donePrefix+otherID), w.journal, 0o600))
	}, nil},
	{"a record in the history is a link to a sound one", func(t *testing.T, w *world, outside string) {
		require.NoError(t, os.WriteFile(outside+"/journal", w.journal, 0o600))
		require.NoError(t, os.Symlink(outside+"/journal", w.in(donePrefix+otherID)))
	}, nil},
	{"a record in the history is a FIFO", func(t *testing.T, w *world, _ string) {
		require.NoError(t, syscall.Mkfifo(w.in(donePrefix+otherID), 0o600))
	}, nil},
	{"a record in the history is a directory", func(t *testing.T, w *world, _ string) {
		require.NoError(t, os.MkdirAll(w.in(donePrefix+otherID+"/x"), 0o700))
	}, nil},

	{"conflicts is a link, and there is a conflict", func(t *testing.T, w *world, outside string) {
		require.NoError(t, os.WriteFile(filepath.Join(w.d, "4.json"), []byte("changed since"), 0o644))
		replace(t, w.in(quarantineName), outside)
	}, ErrUntrustedDir},
	{"a conflict's directory is a link", func(t *testing.T, w *world, outside string) {
		require.NoError(t, os.WriteFile(filepath.Join(w.d, "4.json"), []byte("changed since"), 0o644))
		require.NoError(t, os.Mkdir(w.in(quarantineName), 0o700))
		require.NoError(t, os.Symlink(outside, w.in(quarantineName+"/"+w.id)))
	}, ErrUntrustedDir},
	{"conflicts is a link, and the journal is torn", func(t *testing.T, w *world, outside string) {
		w.setJournal(t, w.journal[:100])
		replace(t, w.in(quarantineName), outside)
	}, ErrJournalTorn},

	{"links in the places of the files in D", func(t *testing.T, w *world, outside string) {
		for _, name := range []string{"2.json", "3.json", "4.json", "5.json"} {
			replace(t, filepath.Join(w.d, name), outside+"/secret")
		}
	}, nil},
	{"FIFOs in the places of the files in D", func(t *testing.T, w *world, _ string) {
		for _, name := range []string{"2.json", "3.json", "4.json", "5.json"} {
			require.NoError(t, os.RemoveAll(filepath.Join(w.d, name)))
			require.NoError(t, syscall.Mkfifo(filepath.Join(w.d, name), 0o600))
		}
	}, nil},
	{"directories in the places of the files in D", func(t *testing.T, w *world, outside string) {
		for _, name := range []string{"2.json", "3.json", "4.json", "5.json"} {
			require.NoError(t, os.RemoveAll(filepath.Join(w.d, name)))
			require.NoError(t, os.Mkdir(filepath.Join(w.d, name), 0o700))
			require.NoError(t, os.Symlink(outside, filepath.Join(w.d, name, "link")))
		}
	}, nil},
}

// TestNothingPlantedIsFollowed: a link, pipe or directory instead of a file in S or D does
// not lead to a change outside of them and does not block. Recover either succeeds or
// returns the expected error.
func TestNothingPlantedIsFollowed(t *testing.T) {
	for _, p := range plantings {
		t.Run(strings.ReplaceAll(p.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			outside := w.path("outside")
			p.plant(t, w, outside)
			before, all := tree(t, outside), tree(t, w.root, lockFileName)

			_, err := Inspect(t.Context(), w.d)
			assert.Equal(t, all, tree(t, w.root, lockFileName), "Inspect changed something")
			assert.Equal(t, p.is != nil, err != nil, "inspected: %v", err)
			_, err = Recover(t.Context(), w.d)
			if p.is == nil {
				assert.NoError(t, err)
				w.requireUsable(t)
			} else {
				assert.ErrorIs(t, err, p.is)
			}
			_, _ = SetAside(t.Context(), w.d)
			assert.Equal(t, before, tree(t, outside))
		})
	}
}

// requireUsable fails unless transactions and their history work.
func (w *world) requireUsable(t *testing.T) {
	t.Helper()
	d, err := Open(t.Context(), w.d, WithHistory(1))
	require.NoError(t, err)
	defer d.Close()
	_, err = d.History()
	require.NoError(t, err)
	for _, name := range []string{"10.json", "11.json"} {
		require.NoError(t, d.Commit(t.Context(), Change{Creates: []File{{name, []byte(name), 0o644}}}))
	}
	h, err := d.History()
	require.NoError(t, err)
	assert.NotEmpty(t, h)
}

// TestStateDirOfAnotherUserIsRefused even if the process runs as root and could use it.
func TestStateDirOfAnotherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	w := newWorld(t)
	require.NoError(t, os.Chown(w.s, 65534, 65534))
	before := tree(t, w.root)
	_, err := Recover(t.Context(), w.d)
	require.ErrorIs(t, err, ErrUntrustedDir)
	require.ErrorContains(t, err, "it belongs to user 65534")
	_, err = Inspect(t.Context(), w.d)
	require.ErrorIs(t, err, ErrUntrustedDir)
	assert.Equal(t, before, tree(t, w.root))
}

// TestStateDirIsPrivate: only this user can read S and the lock and journal in it,
// whatever the umask. Staged files and backup links have the modes of the files in D.
func TestStateDirIsPrivate(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	w := newWorld(t)
	_, err := Recover(t.Context(), w.d)
	require.NoError(t, err)
	w.interrupt(t)
	modes := map[string]os.FileMode{}
	require.NoError(t, filepath.WalkDir(w.s, func(path string, e os.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		rel, _ := filepath.Rel(w.s, path)
		modes[strings.ReplaceAll(rel, w.id, "ID")] = info.Mode()
		return err
	}))
	const dir = os.ModeDir | 0o700
	assert.Equal(t, map[string]os.FileMode{
		".": dir, "lock": 0o600, "journal": 0o600, "txn-ID": dir, "txn-ID/new": dir, "txn-ID/old": dir,
		"txn-ID/new/4.json": 0o644, "txn-ID/new/5.json": 0o644, "txn-ID/old/2.json": 0o640, "txn-ID/old/3.json": 0o640,
	}, modes)
}
