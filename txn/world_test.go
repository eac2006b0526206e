package txn

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// world is a directory D named "list" that a transaction left half changed, and its
// surroundings.
type world struct {
	root    string // holds tasks/list, its state directory, and outside/
	d, s    string
	journal []byte // as written by the transaction
	id      string
	before  map[string]string // tree of D before the transaction
}

// newWorld interrupts a transaction that deletes 2.json and 3.json and creates
// 4.json and 5.json, just before its commit point.
func newWorld(t testing.TB) *world {
	t.Helper()
	root := memoryDir(t)
	w := &world{root: root, d: filepath.Join(root, "tasks/list"), s: filepath.Join(root, "tasks/.list.fsmtx")}
	require.NoError(t, os.MkdirAll(w.d, 0o755))
	for i := range 3 {
		w.write(t, fmt.Sprintf("tasks/list/%d.json", i+1), fmt.Sprintf("old %d", i+1))
	}
	w.write(t, "outside/secret", "old 2")
	w.write(t, "outside/2.json", "old 2")
	w.write(t, "outside/dir/4.json", "new 4")
	w.before = tree(t, w.d)
	w.interrupt(t)
	return w
}

func (w *world) interrupt(t testing.TB) {
	t.Helper()
	dead := false
	d, err := Open(context.Background(), w.d, WithFS(before(func(s faultfs.Step) error {
		if dead = dead || s.Op == "rename" && filepath.Base(s.Path) == journalName; dead {
			return faultfs.ErrFrozen
		}
		return nil
	})))
	require.NoError(t, err)
	require.ErrorIs(t, d.Commit(context.Background(), Change{
		Creates: []File{{"4.json", []byte("new 4"), 0o644}, {"5.json", []byte("new 5"), 0o644}},
		Deletes: []string{"2.json", "3.json"},
		Label:   "a label",
		Record:  "a record",
	}), ErrRecoveryRequired)
	require.NoError(t, d.Close())
	w.journal, err = os.ReadFile(filepath.Join(w.s, journalName))
	require.NoError(t, err)
	j, err := parseJournal(w.journal, "../list")
	require.NoError(t, err)
	w.id = j.ID
}

// memoryDir returns a directory in memory if there is one: syncing to a disk is slow.
func memoryDir(t testing.TB) string {
	if dir, err := os.MkdirTemp("/dev/shm", "fsmtx-test-"); err == nil {
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		dir, err = filepath.Abs(dir) // with its drive
		require.NoError(t, err)
		return dir
	}
	return t.TempDir()
}

func (w *world) path(name string) string { return filepath.Join(w.root, name) }

func (w *world) in(name string) string { return filepath.Join(w.s, name) }

func (w *world) write(t testing.TB, name, text string) {
	t.Helper()
	path := w.path(name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o640))
	require.NoError(t, os.Chtimes(path, time.Time{}, time.Unix(1700000000, 7)))
}

func (w *world) setJournal(t testing.TB, data []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(w.in(journalName), data, 0o600))
}

// sealed returns a journal with the body and its checksum.
func sealed(body string) []byte {
	return []byte(journalMagic + " " + journalVersion + " " + checksum([]byte(body)) + "\n" + body)
}

// body returns the journal without its first line.
func (w *world) body() string {
	_, body, _ := strings.Cut(string(w.journal), "\n")
	return body
}

// tree returns every name below a directory, except those in but, with its type, mode and
// inode, for a file also its modification time and bytes, for a link its target.
func tree(t testing.TB, dir string, but ...string) map[string]string {
	t.Helper()
	m := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		rel = filepath.ToSlash(rel)
		for _, b := range but {
			if rel == b || strings.HasPrefix(rel, b+"/") {
				return nil
			}
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		m[rel] = describeFile(path, info)
		return nil
	})
	require.NoError(t, err)
	return m
}

func describeFile(path string, info fs.FileInfo) string {
	text := fmt.Sprintf("%v #%d", info.Mode(), files.Inode(path))
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := os.Readlink(path)
		return text + " -> " + target
	case info.Mode().IsRegular() && info.Size() > 1<<20:
		return fmt.Sprintf("%s %d %d bytes", text, info.ModTime().UnixNano(), info.Size())
	case info.Mode().IsRegular():
		data, _ := os.ReadFile(path)
		return fmt.Sprintf("%s %d %q", text, info.ModTime().UnixNano(), data)
	}
	return text
}

// lockFileName is the lock file, which every Open changes.
const lockFileName = "tasks/.list.fsmtx/" + lockName

// opened returns a list that is open until the test ends.
func opened(t *testing.T, dir string, opts ...Option) *Dir {
	t.Helper()
	d, err := Open(t.Context(), dir, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// recovered is what Recover reports, and inspected what Inspect does.
func recovered(t testing.TB, dir string, opts ...Option) Report {
	t.Helper()
	r, err := Recover(t.Context(), dir, opts...)
	require.NoError(t, err)
	return r
}

func inspected(t testing.TB, dir string, opts ...Option) Report {
	t.Helper()
	r, err := Inspect(t.Context(), dir, opts...)
	require.NoError(t, err)
	return r
}
