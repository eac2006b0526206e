package txn

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// replace replaces path by a symbolic link to target.
func replace(t *testing.T, path, target string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(path))
	require.NoError(t, os.Symlink(target, path))
}

const otherID = "n0000000001-20200101t000000-000000001-00000000"

// plant puts something into S or D, as an attacker might: what the words say that follow the path, which is relative to S. TXN, ID, OTHER
// and DONE stand for names of the interrupted transaction and of another one. A link leads to a file outside.
func (w *world) plant(t *testing.T, what string) {
	t.Helper()
	words := strings.Fields(what)
	names := strings.NewReplacer("TXN", txnPrefix+w.id, "ID", w.id, "OTHER", txnPrefix+otherID, "DONE", donePrefix+otherID)
	path, outside := w.in(names.Replace(words[0])), w.path("outside")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	if slices.Contains([]string{"link", "FIFO", "directory", "file"}, words[1]) {
		require.NoError(t, os.RemoveAll(path))
	}
	require.NoError(t, map[string]func() error{
		"link": func() error { return os.Symlink(filepath.Join(outside, words[2]), path) },
		"moved": func() error {
			return errors.Join(os.Rename(path, outside+"/moved"), os.Symlink(outside+"/moved", path))
		},
		"FIFO":      func() error { return syscall.Mkfifo(path, 0o600) },
		"directory": func() error { return os.MkdirAll(path+"/x", 0o700) },
		"file":      func() error { return os.WriteFile(path, nil, 0o600) },
		"written":   func() error { return os.WriteFile(path, []byte("changed since"), 0o644) },
		"journal":   func() error { return os.WriteFile(path, w.journal, 0o600) },
		"open":      func() error { return os.Chmod(path, 0o702) },
		"shared":    func() error { return os.Chmod(path, 0o770) },
	}[words[1]](), what)
}

// inD plants the same in the places of all files that the transaction has changed.
func inD(what string) (all []string) {
	for _, name := range []string{"2.json", "3.json", "4.json", "5.json"} {
		all = append(all, "../list/"+name+what)
	}
	return all
}

var plantings = []struct {
	name   string
	is     error // what Recover returns
	plants []string
}{
	{"S is a link to itself elsewhere", ErrUntrustedDir, []string{". moved"}},
	{"S is a link to another directory", ErrUntrustedDir, []string{". link ."}},
	{"S is a link to nothing", ErrUntrustedDir, []string{". link nothing"}},
	{"S is a file", ErrUntrustedDir, []string{". file"}},
	{"S is a FIFO", ErrUntrustedDir, []string{". FIFO"}},
	{"S is writable by the group", ErrUntrustedDir, []string{". shared"}},
	{"S is writable by all", ErrUntrustedDir, []string{". open"}},

	{"lock is a link to a file", vfs.ErrNotRegular, []string{"lock link secret"}},
	{"lock is a link to nothing", vfs.ErrNotRegular, []string{"lock link nothing"}},
	{"lock is a FIFO", vfs.ErrNotRegular, []string{"lock FIFO"}},
	{"lock is a directory", vfs.ErrNotRegular, []string{"lock directory"}},
	{"locks is a link", ErrUntrustedDir, []string{"locks link ."}},
	{"locks is a file", ErrUntrustedDir, []string{"locks file"}},

	{"the transaction's directory is a link", ErrJournalInvalid, []string{"TXN moved"}},
	{"the transaction's directory is writable by all", ErrJournalInvalid, []string{"TXN open"}},
	{"old is a link", ErrJournalInvalid, []string{"TXN/old link ."}},
	{"new is a link", ErrJournalInvalid, []string{"TXN/new link dir"}},
	{"a backup is a link", ErrJournalInvalid, []string{"TXN/old/2.json link secret"}},
	{"a backup is a FIFO", ErrJournalInvalid, []string{"TXN/old/2.json FIFO"}},
	{"a staged file is a link", ErrJournalInvalid, []string{"TXN/new/4.json link dir/4.json"}},

	{"a link with the name of a transaction's directory", nil, []string{"OTHER link ."}},
	{"a link in an abandoned transaction", nil, []string{"OTHER/new link .", "OTHER/old/dir link ."}},
	{"new of a committed transaction is a link", nil, []string{"OTHER/new link .", "DONE journal"}},
	{"a record in the history is a link to a sound one", nil, []string{"../../outside/journal journal", "DONE link journal"}},
	{"a record in the history is a FIFO", nil, []string{"DONE FIFO"}},
	{"a record in the history is a directory", nil, []string{"DONE directory"}},

	{"conflicts is a link, and there is a conflict", ErrUntrustedDir, []string{"../list/4.json written", "conflicts link ."}},
	{"a conflict's directory is a link", ErrUntrustedDir, []string{"../list/4.json written", "conflicts/ID link ."}},
	{"conflicts is a link, and the journal is torn", ErrJournalTorn, []string{"journal written", "conflicts link ."}},

	{"links in the places of the files in D", nil, inD(" link secret")},
	{"FIFOs in the places of the files in D", nil, inD(" FIFO")},
	{"directories in the places of the files in D", nil, slices.Concat(inD(" directory"), inD("/link link ."))},
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
			for _, what := range p.plants {
				w.plant(t, what)
			}
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
