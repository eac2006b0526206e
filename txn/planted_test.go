package txn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

const otherID = "n0000000001-20200101t000000-000000001-00000000"

// plant puts something into S or D, as an attacker might: what the words say that follow the path, which is relative to S. TXN, ID, OTHER
// and DONE stand for names of the interrupted transaction and of another one. A link leads to a file outside.
func (w *world) plant(t *testing.T, what string) {
	t.Helper()
	words := strings.Fields(what)
	names := strings.NewReplacer("TXN", txnPrefix+w.id, "ID", w.id, "OTHER", txnPrefix+otherID, "DONE", donePrefix+otherID)
	path, outside := w.in(names.Replace(words[0])), w.path("outside")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	if slices.Contains([]string{"link", "FIFO", "directory", "file", "socket"}, words[1]) {
		require.NoError(t, os.RemoveAll(path))
	}
	require.NoError(t, map[string]func() error{
		"link": func() error { return os.Symlink(filepath.Join(outside, words[2]), path) },
		"moved": func() error {
			return errors.Join(os.Rename(path, outside+"/moved"), os.Symlink(outside+"/moved", path))
		},
		"FIFO":      func() error { return files.Mkfifo(path, 0o600) },
		"directory": func() error { return os.MkdirAll(path+"/x", 0o700) },
		"file":      func() error { return os.WriteFile(path, nil, 0o600) },
		"socket": func() error {
			closeSocket, err := files.Socket(path)
			if err == nil {
				t.Cleanup(func() { _ = closeSocket() })
			}
			return err
		},
		"written": func() error { return os.WriteFile(path, []byte("changed since"), 0o644) },
		"journal": func() error { return os.WriteFile(path, w.journal, 0o600) },
		"large":   func() error { return os.Truncate(path, vfs.MaxFileBytes+1) },
		"open":    func() error { return os.Chmod(path, 0o702) },
		"shared":  func() error { return os.Chmod(path, 0o770) },
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
	require.ErrorContains(t, err, "it belongs to user 65534; run fsmtx as that user")
	_, err = Inspect(t.Context(), w.d)
	require.ErrorIs(t, err, ErrUntrustedDir)
	assert.Equal(t, before, tree(t, w.root))
}

// TestStateDirIsPrivate: only this user can read S and the lock and journal in it,
// whatever the umask. Staged files and backup links have the modes of the files in D.
func TestStateDirIsPrivate(t *testing.T) {
	old := files.Umask(0)
	defer files.Umask(old)
	w := newWorld(t)
	recovered(t, w.d)
	w.interrupt(t)
	modes := map[string]os.FileMode{}
	require.NoError(t, filepath.WalkDir(w.s, func(path string, e os.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		rel, _ := filepath.Rel(w.s, path)
		modes[strings.ReplaceAll(filepath.ToSlash(rel), w.id, "ID")] = info.Mode()
		return err
	}))
	const dir = os.ModeDir | 0o700
	assert.Equal(t, map[string]os.FileMode{
		".": dir, "lock": 0o600, "journal": 0o600, "txn-ID": dir, "txn-ID/new": dir, "txn-ID/old": dir,
		"txn-ID/new/4.json": 0o644, "txn-ID/new/5.json": 0o644, "txn-ID/old/2.json": 0o640, "txn-ID/old/3.json": 0o640,
	}, modes)
}

// swap replaces a directory by a symbolic link to outside, which needs only permission to
// write to the directory above.
func swap(dir, outside string) error {
	if err := os.Rename(dir, dir+".away"); err != nil {
		return err
	}
	return os.Symlink(outside, dir)
}

// newOutside returns a directory with all the names that a transaction uses in D and S.
func (w *world) newOutside(t *testing.T) string {
	t.Helper()
	outside := w.path("victim")
	require.NoError(t, os.CopyFS(outside, os.DirFS(w.s)))
	require.NoError(t, os.CopyFS(outside, os.DirFS(w.d)))
	require.NoError(t, os.WriteFile(outside+"/2.json", []byte("old 2"), 0o640))
	require.NoError(t, os.Mkdir(outside+"/"+lockerName, 0o755))
	return outside
}

// TestNothingIsDoneInADirectoryThatIsSwappedIn replaces S, and then D, by a symbolic link
// before each operation of a recovery that is followed by a transaction.
func TestNothingIsDoneInADirectoryThatIsSwappedIn(t *testing.T) {
	run := func(w *world, files vfs.FS) error {
		d, err := Open(t.Context(), w.d, WithFS(files))
		if err != nil {
			return err
		}
		defer d.Close()
		if err := d.WriteState("a", []byte("a")); err != nil {
			return err
		}
		return d.Commit(t.Context(), Change{Creates: []File{{"9.json", []byte("9"), 0o644}}, Deletes: []string{"2.json"}})
	}
	total, err := operations(func(files vfs.FS) error { return run(newWorld(t), files) })
	require.NoError(t, err)
	refused := 0
	for _, of := range []string{"S", "D"} {
		for n := range total {
			if of == "D" && n == 0 {
				continue // a link that this user made before Open is followed
			}
			w := newWorld(t)
			dir := map[string]string{"S": w.s, "D": w.d}[of]
			outside := w.newOutside(t)
			before, ahead := tree(t, outside), n
			err := run(w, &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(faultfs.Step) error {
				if n--; n == -1 {
					return swap(dir, outside)
				}
				return nil
			}})
			if err != nil {
				refused++
			}
			require.Equal(t, before, tree(t, outside), "%s swapped ahead of operation %d: %v", of, ahead, err)
		}
	}
	assert.Less(t, refused, total, "some succeed, in the directories that are held open")
}

// TestNothingIsDoneInADirectoryThatAnotherUserSwapsIn: while transactions run, a process of
// another user replaces S and D by links again and again.
func TestNothingIsDoneInADirectoryThatAnotherUserSwapsIn(t *testing.T) {
	if dir := os.Getenv("FSMTX_TEST_SWAP"); dir != "" {
		swapForEver(dir)
	}
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can start a process of another user")
	}
	w := newWorld(t)
	require.NoError(t, os.Chmod(w.root, 0o755))
	require.NoError(t, os.Chmod(filepath.Dir(w.d), 0o777)) // and not sticky
	outside := w.newOutside(t)
	before := tree(t, outside)
	attacker := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	attacker.Env = append(os.Environ(), "FSMTX_TEST_SWAP="+w.root)
	alive, err := attacker.StdinPipe()
	require.NoError(t, err)
	ready, err := attacker.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, attacker.Start())
	defer func() { _ = alive.Close(); _ = attacker.Wait() }()
	_, err = ready.Read(make([]byte, 1))
	require.NoError(t, err)

	succeeded := 0
	for n := range 500 {
		name := fmt.Sprintf("%d.json", 100+n)
		err := func() error {
			d, err := Open(context.Background(), w.d)
			if err != nil {
				return err
			}
			defer d.Close()
			return d.Commit(context.Background(), Change{Creates: []File{{name, nil, 0o644}}})
		}()
		if err == nil {
			succeeded++
		}
		require.Equal(t, before, tree(t, outside), "transaction %d: %v", n, err)
	}
	t.Logf("%d of 500 transactions succeeded", succeeded)
}

// swapForEver runs in the process of the other user until the test closes its input.
func swapForEver(root string) {
	if files.BeNobody() != nil {
		os.Exit(1)
	}
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); os.Exit(0) }()
	_, _ = os.Stdout.WriteString("ready")
	for {
		for _, name := range []string{".list.fsmtx", "list"} {
			dir := filepath.Join(root, "tasks", name)
			_ = swap(dir, filepath.Join(root, "victim"))
			_ = os.Remove(dir) // the link, or nothing
			_ = os.Rename(dir+".away", dir)
		}
	}
}

// TestALinkedLockFileIsNotWritten: it is a hard link to a file outside S.
func TestALinkedLockFileIsNotWritten(t *testing.T) {
	for call, open := range openers {
		w := newWorld(t)
		require.NoError(t, os.Remove(w.in(lockName)))
		require.NoError(t, os.Link(w.path("outside/secret"), w.in(lockName)))
		before := tree(t, w.root)
		err := open(t.Context(), w.d)
		require.ErrorIs(t, err, vfs.ErrNotOwn, call)
		require.ErrorContains(t, err, w.in(lockName)+": not only this user's: it has 2 hard links")
		assert.Equal(t, before["outside/secret"], tree(t, w.root)["outside/secret"], call)
	}
}

func TestALinkOfAnotherUserIsNotTheDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can give a link away")
	}
	w := newWorld(t)
	link := w.path("tasks/link")
	require.NoError(t, os.Symlink("list", link))
	inspected(t, link)
	require.NoError(t, os.Lchown(link, 65534, 65534))
	for call, open := range openers {
		err := open(t.Context(), link)
		require.ErrorIs(t, err, ErrUntrustedDir, call)
		require.ErrorContains(t, err, "it is a symbolic link that belongs to user 65534")
	}
}

// replacingS replaces S by a directory that others may write to, after the first Lstat of S.
type replacingS struct {
	vfs.OS
	w    *world
	done *bool
}

func (r replacingS) Lstat(name string) (fs.FileInfo, error) {
	info, err := r.OS.Lstat(name)
	if name == r.w.s && !*r.done {
		*r.done = true
		err = errors.Join(err, os.Rename(name, name+".away"), os.Mkdir(name, 0o700), os.Chmod(name, 0o777))
	}
	return info, err
}

// TestTheOpenedStateDirIsChecked, not only the directory that was at the path before.
func TestTheOpenedStateDirIsChecked(t *testing.T) {
	for call, open := range openers {
		w := newWorld(t)
		done := false
		err := open(t.Context(), w.d, WithFS(replacingS{w: w, done: &done}))
		if call == "Recover" { // Recover itself looks at S once before Open does
			require.True(t, done)
		}
		require.ErrorIs(t, err, ErrUntrustedDir, call)
		require.ErrorContains(t, err, "others may write to it (mode 0777)", call)
		assert.Equal(t, []string{"."}, names(t, w.s), call)
	}
}

// TestForget removes S, not what another program puts in its place meanwhile, and no other process gets
// the lock while a file is left. If it fails, it can be repeated.
func TestForget(t *testing.T) {
	forget := func(w *world, ahead func(faultfs.Step) error) error {
		d, err := Open(t.Context(), w.d)
		require.NoError(t, err)
		defer d.Close()
		require.NoError(t, d.Commit(t.Context(), Change{Deletes: names(t, w.d)[1:]}))
		d.files = &faultfs.Steps{FS: d.files, Before: ahead}
		return d.Forget()
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	steps := 0
	w := newWorld(t)
	require.NoError(t, forget(w, func(s faultfs.Step) error {
		if steps++; s.Path == w.s {
			return nil // no file is left
		}
		_, err := Recover(ended, w.d)
		require.ErrorIs(t, err, ErrLocked, "ahead of %s", s)
		return nil
	}))
	require.NoDirExists(t, w.s)
	require.Greater(t, steps, 5)
	for n := range steps {
		for _, fails := range []error{nil, syscall.EACCES} {
			w, at := newWorld(t), n
			outside := w.newOutside(t)
			before := tree(t, outside)
			err := forget(w, func(faultfs.Step) error {
				if at--; at == -1 && fails == nil {
					return swap(w.s, outside)
				} else if at == -1 {
					return fails
				}
				return nil
			})
			require.Equal(t, before, tree(t, outside), "ahead of step %d: %v", n, err)
			if fails == nil {
				require.Error(t, err, "what is there is not S")
				continue
			}
			require.True(t, err == nil || errors.Is(err, fails), "%v", err)
			require.NoError(t, forget(w, func(faultfs.Step) error { return nil }))
			require.NoDirExists(t, w.s)
		}
	}
}
