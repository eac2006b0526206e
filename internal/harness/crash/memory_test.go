package crash

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// memory is the model of a disk as a file system: what was not synced can be lost without a real file.
type memory struct {
	d     *disk
	mu    *sync.Mutex
	after func() // is called after each change
}

func newMemory(d *disk) memory { return memory{d: d, mu: new(sync.Mutex)} }

func (m memory) lock() (unlock func()) {
	m.mu.Lock()
	return m.mu.Unlock
}

func (m memory) do(s faultfs.Step) error {
	m.d.apply(s)
	if m.after != nil {
		m.after()
	}
	return nil
}

func (m memory) at(op, name string) (inode, error) {
	if _, _, at := m.d.find(name); at != 0 {
		return at, nil
	}
	return 0, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// node describes a file of a memory.
type node struct {
	name string
	at   inode
	mode fs.FileMode
	size int
}

func (n node) Name() string                { return n.name }
func (n node) Size() int64                 { return int64(n.size) }
func (n node) Mode() fs.FileMode           { return n.mode }
func (n node) ModTime() time.Time          { return time.Time{} }
func (n node) IsDir() bool                 { return n.mode.IsDir() }
func (n node) Sys() any                    { return nil }
func (n node) SameFile(o fs.FileInfo) bool { other, ok := o.(node); return ok && other.at == n.at }

func (m memory) Lstat(name string) (fs.FileInfo, error) {
	defer m.lock()()
	at, err := m.at("lstat", name)
	return node{filepath.Base(name), at, m.d.mode[at], len(m.d.bytes(at))}, err
}

func (m memory) EvalSymlinks(name string) (string, error) { return name, nil }

func (m memory) ReadDir(name string) (all []fs.DirEntry, err error) {
	defer m.lock()()
	at, err := m.at("readdir", name)
	for _, entry := range slices.Sorted(maps.Keys(m.d.now[at])) {
		in := m.d.now[at][entry]
		all = append(all, fs.FileInfoToDirEntry(node{entry, in, m.d.mode[in], len(m.d.bytes(in))}))
	}
	return all, err
}

func (m memory) ReadFile(name string) ([]byte, error) { return m.ReadFrom(name, 0) }

func (m memory) ReadFrom(name string, offset int64) ([]byte, error) {
	defer m.lock()()
	at, err := m.at("read", name)
	data := m.d.bytes(at)
	return data[min(offset, int64(len(data))):], err
}

func (m memory) Mkdir(name string, _ fs.FileMode) error {
	defer m.lock()()
	if _, err := m.at("mkdir", filepath.Dir(name)); err != nil {
		return err
	}
	if _, _, at := m.d.find(name); at != 0 {
		return fs.ErrExist
	}
	return m.do(faultfs.Step{Op: "mkdir", Path: name})
}

func (m memory) WriteNew(name string, data []byte, _ fs.FileMode) error {
	defer m.lock()()
	return errors.Join(m.do(faultfs.Step{Op: "create", Path: name}), m.do(faultfs.Step{Op: "write", Path: name, Data: data}),
		m.do(faultfs.Step{Op: "sync", Path: name}))
}

func (m memory) Overwrite(name string, data []byte) error {
	defer m.lock()()
	return m.do(faultfs.Step{Op: "overwrite", Path: name, Data: data})
}

func (m memory) AppendLine(name string, line []byte) error {
	defer m.lock()()
	return m.do(faultfs.Step{Op: "append", Path: name, Data: line})
}

func (memory) Chtimes(string, time.Time) error { return nil }

func (m memory) Link(from, to string) error {
	defer m.lock()()
	if _, _, at := m.d.find(to); at != 0 {
		return fs.ErrExist
	}
	_, err := m.at("link", from)
	return errors.Join(err, m.do(faultfs.Step{Op: "link", Path: from, To: to}))
}

func (m memory) Rename(from, to string) error {
	defer m.lock()()
	_, err := m.at("rename", from)
	return errors.Join(err, m.do(faultfs.Step{Op: "rename", Path: from, To: to}))
}

func (m memory) RenameNew(from, to string) error { return m.Rename(from, to) }

func (m memory) Remove(name string) error {
	defer m.lock()()
	_, err := m.at("remove", name)
	return errors.Join(err, m.do(faultfs.Step{Op: "remove", Path: name}))
}

func (m memory) Sync(name string) error {
	defer m.lock()()
	_, err := m.at("sync", name)
	return errors.Join(err, m.do(faultfs.Step{Op: "sync", Path: name}))
}

func (m memory) Lock(_ context.Context, name string, create bool) (fs.FileInfo, func(), error) {
	if _, _, at := m.d.find(name); at == 0 && !create {
		return nil, nil, vfs.ErrMoved
	} else if at == 0 {
		_ = m.Overwrite(name, nil)
	}
	info, err := m.Lstat(name)
	return info, func() {}, err
}

// tasks returns the files of the list.
func (m memory) tasks() string {
	_, _, at := m.d.find("/tasks/list")
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.d.now[at])) {
		text.WriteString(name + "=" + string(m.d.bytes(m.d.now[at][name])) + " ")
	}
	return text.String()
}

// TestTransactionsOnAFakeFileSystem commits, commits again, and is cut at every step, with every
// recovery cut at every step, too: no real file is touched.
func TestTransactionsOnAFakeFileSystem(t *testing.T) {
	ctx, rng, states := context.Background(), rand.New(rand.NewPCG(1, 2)), 0
	m := newMemory(newDisk())
	require.NoError(t, m.Mkdir("/tasks", 0o755))
	require.NoError(t, m.Sync("/"))
	commit := func(c txn.Change) {
		dir, err := txn.Open(ctx, "/tasks/list", txn.WithFS(m))
		require.NoError(t, err)
		require.NoError(t, dir.Commit(ctx, c))
		require.NoError(t, dir.Close())
	}
	file := func(name, text string) txn.File { return txn.File{Name: name, Data: []byte(text), Mode: 0o644} }
	commit(txn.Change{Creates: []txn.File{file("1", "old"), file("2", "kept")}})
	before, after := m.tasks(), "2=kept 3=new 4=newer "
	recovered := func(c *disk, wants ...string) memory {
		states++
		r := newMemory(c)
		_, err := txn.Recover(ctx, "/tasks/list", txn.WithFS(r))
		require.NoError(t, err)
		require.Contains(t, wants, r.tasks())
		return r
	}
	l := limits{exhaustive: 16, samples: 4}
	seen := map[[32]byte]bool{}
	m.after = func() {
		m.d.cuts(l, rng, func(c *disk) {
			if seen[c.key()] {
				return
			}
			seen[c.key()] = true
			again := newMemory(c.clone())
			again.after = func() {
				again.d.cuts(limits{samples: 2}, rng, func(c *disk) { recovered(c, before, after) })
			}
			_, err := txn.Recover(ctx, "/tasks/list", txn.WithFS(again))
			require.NoError(t, err)
			recovered(c, before, after)
		})
	}
	commit(txn.Change{Creates: []txn.File{file("3", "new"), file("4", "newer")}, Deletes: []string{"1"}})
	m.after = nil
	m.d.cuts(limits{exhaustive: 1024, samples: 64}, rng, func(c *disk) { recovered(c, after) })
	t.Logf("%d states", states)
	require.Greater(t, states, 1000)
}
