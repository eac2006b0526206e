//go:build unix

package crash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// sequence is a list to which one thing after another happens, and the states that it may be in.
type sequence struct {
	t       *testing.T
	base    string
	home    string
	disk    *disk
	rng     *rand.Rand
	commits int
	broken  bool // a sync of a file has failed since the last power cut
	allowed []map[string]string
	log     []string
}

func (q *sequence) list() string { return filepath.Join(q.home, listPath) }

// files returns a file system on which calls fail, reads too, or the process dies, or both, and what
// that was. Of the syncs only those of files fail.
func (q *sequence) files(steps int) (files vfs.FS, died, failed *string) {
	died, failed = new(string), new(string)
	kind, n, dies, fails := q.rng.IntN(5), -1, -1, []int{}
	if kind == 1 || kind == 2 || kind == 4 {
		dies = q.rng.IntN(steps)
	}
	if kind >= 3 {
		fails = []int{q.rng.IntN(steps), q.rng.IntN(steps)}
	}
	return &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(s faultfs.Step) error {
		step, ok := within(q.home, s)
		if !ok {
			return nil
		}
		n++
		if *died != "" || n == dies {
			*died = cmp.Or(*died, s.String())
			return faultfs.ErrFrozen
		}
		if slices.Contains(fails, n) && q.fail(step) {
			*failed += s.String() + "; "
			return &fs.PathError{Op: s.Op, Path: s.Path, Err: syscall.EIO}
		}
		q.disk.apply(step)
		return nil
	}}, died, failed
}

// fail lets a step fail. It returns false for the sync of a directory, which does not fail here.
func (q *sequence) fail(s faultfs.Step) bool {
	if s.Op != "sync" {
		return true
	}
	_, _, at := q.disk.find(s.Path)
	if q.disk.mode[at].IsDir() {
		return false
	}
	q.disk.fail(at, func() bool { return q.rng.IntN(2) == 0 })
	q.broken = true
	return true
}

// transact commits changes, perhaps not to the end. The history is short.
func (q *sequence) transact() error {
	files, died, failed := q.files(150)
	dir, err := txn.Open(context.Background(), q.list(), txn.WithHistory(1+q.rng.IntN(2)), txn.WithFS(files))
	if err != nil {
		q.note("open, death at %q, failure of %q: %v", *died, *failed, err)
		return unless(*died+*failed != "", err)
	}
	defer dir.Close()
	for n := 1 + q.rng.IntN(2); n > 0 && *died == ""; n-- {
		if *failed == "" { // a record that could not be read is looked at by the next one
			if err := q.check(contents(q.t, q.home)); err != nil {
				return err
			}
		}
		c, restored := q.change(dir, *failed == "" && !q.broken)
		err := dir.Commit(context.Background(), c)
		q.note("commit %v, death at %q, failure of %q: %v", c, *died, *failed, err)
		switch after := q.with(c, restored); {
		case err == nil:
			q.allowed = after
		case *died != "", errors.Is(err, txn.ErrUnknown), errors.Is(err, txn.ErrRecoveryRequired):
			q.allowed = append(q.allowed, after...)
		case *failed == "":
			return err
		}
	}
	return nil
}

// change returns a change of some of five names, which are used again and again, and what it restores,
// if it may restore something.
func (q *sequence) change(dir *txn.Dir, mayRestore bool) (c txn.Change, restored map[string]string) {
	q.commits++
	c.Record, restored = fmt.Sprint("record ", q.commits), map[string]string{}
	free, now := map[string]bool{}, contents(q.t, q.home)
	for i := range 5 {
		name := fmt.Sprint(i, ".json")
		has := func(m map[string]string) bool { return m[name] != "" }
		some := slices.ContainsFunc(q.allowed, has)
		all := !slices.ContainsFunc(q.allowed, func(m map[string]string) bool { return !has(m) })
		switch free[name] = !some && now[name] == ""; {
		case q.rng.IntN(2) == 0:
		case free[name]:
			c.Creates = append(c.Creates, txn.File{Name: name, Data: fmt.Append(nil, "task ", q.commits, ";"), Mode: 0o644})
			free[name] = false
		case all && exists(filepath.Join(q.list(), name)):
			c.Deletes = append(c.Deletes, name)
		}
	}
	if !mayRestore || q.rng.IntN(2) == 0 {
		return c, restored
	}
	history, _ := dir.History()
	for _, e := range history {
		for _, f := range e.Deleted {
			if data, err := os.ReadFile(filepath.Join(e.Backups, f.Name)); err == nil && len(data) > 0 && free[f.Name] {
				c.Restores = append(c.Restores, txn.Restore{ID: e.ID, Name: f.Name})
				free[f.Name], restored[f.Name] = false, string(data)
			}
		}
	}
	return c, restored
}

// with returns the states after a change of the allowed ones.
func (q *sequence) with(c txn.Change, restored map[string]string) (all []map[string]string) {
	for _, m := range q.allowed {
		m = maps.Clone(m)
		maps.Copy(m, restored)
		for _, name := range c.Deletes {
			delete(m, name)
		}
		for _, f := range c.Creates {
			m[f.Name] = string(f.Data)
		}
		m[record] = c.Record
		all = append(all, m)
	}
	return all
}

// client is an event without mishaps, and then a task is deleted or gets other content.
func (q *sequence) client() error {
	dir, err := txn.Open(context.Background(), q.list(), txn.WithFS(recorder(vfs.OS{}, q.home, q.disk, nil, nil)))
	if err != nil {
		return err
	}
	defer dir.Close()
	now := contents(q.t, q.home)
	if err := q.check(now); err != nil {
		return err
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(now)), func(name string) bool { return name == record })
	if len(names) == 0 {
		return nil
	}
	name, how := names[q.rng.IntN(len(names))], q.rng.IntN(3)
	q.commits++
	text := fmt.Sprint("update ", q.commits, ";")
	q.note("client %d: %s, %q", how, name, text)
	path, in := filepath.Join(q.list(), name), listPath+"/"+name
	q.allowed[0][name] = text
	switch how {
	case 0: // minutes pass: what the event has removed from S is removed on the disk
		err = os.Remove(path)
		q.disk.apply(faultfs.Step{Op: "remove", Path: in})
		q.disk.apply(faultfs.Step{Op: "sync", Path: listPath})
		q.disk.apply(faultfs.Step{Op: "sync", Path: "tasks/.list.fsmtx"})
		delete(q.allowed[0], name)
	case 1:
		err = os.WriteFile(path, []byte(text), 0o644)
		q.disk.apply(faultfs.Step{Op: "overwrite", Path: in, Data: []byte(text)})
		q.disk.apply(faultfs.Step{Op: "sync", Path: in})
	default:
		err = dir.ReplaceFiles(txn.File{Name: name, Data: []byte(text)})
	}
	return err
}

func unless(expected bool, err error) error {
	if expected {
		return nil
	}
	return err
}

// check returns an error unless the list is as it may be. From then on it may not be otherwise.
func (q *sequence) check(got map[string]string) error {
	if !slices.ContainsFunc(q.allowed, func(m map[string]string) bool { return maps.Equal(m, got) }) {
		return fmt.Errorf("%v is none of %v", got, q.allowed)
	}
	q.allowed = []map[string]string{got}
	return nil
}

func (q *sequence) recover() error {
	files, died, failed := q.files(45)
	r, err := txn.Recover(context.Background(), q.list(), txn.WithFS(files), txn.WithHistory(1+q.rng.IntN(2)))
	q.note("recovery, death at %q, failure of %q: %v %v", *died, *failed, r.Outcome, err)
	if err != nil || *died+*failed != "" {
		return unless(*died+*failed != "", err)
	}
	return q.check(contents(q.t, q.home))
}

// cut cuts the power. A third of the cuts keep all or nothing.
func (q *sequence) cut() error {
	fate := make([]int, len(q.disk.pending))
	how := q.rng.IntN(6)
	for i, e := range q.disk.pending {
		switch how {
		case 0:
		case 1:
			fate[i] = kept
		default:
			fate[i] = q.rng.IntN(e.choices())
		}
	}
	q.note("power cut: %v", fate)
	home, err := os.MkdirTemp(q.base, "home-")
	require.NoError(q.t, err)
	require.NoError(q.t, q.disk.cut(fate).build(home))
	require.NoError(q.t, os.RemoveAll(q.home))
	q.home, q.broken = home, false
	q.disk, err = load(home)
	require.NoError(q.t, err)
	return nil
}

func (q *sequence) note(format string, args ...any) {
	q.log = append(q.log, fmt.Sprintf(format, args...))
}

// run returns what went wrong.
func (q *sequence) run() error {
	for range 4 + q.rng.IntN(8) {
		do := []func() error{q.transact, q.transact, q.transact, q.recover, q.client, q.cut, q.cut}[q.rng.IntN(7)]
		if err := do(); err != nil {
			return err
		}
	}
	_ = q.cut()
	for range 4 {
		if err := q.recover(); err != nil {
			return err
		}
	}
	return q.client()
}

// TestOneMishapAfterAnother: transactions, recoveries, deaths and failing calls within
// them, power cuts, and what the client and a step's end do, in any order. What has been acknowledged,
// and what a recovery has found, stays.
func TestOneMishapAfterAnother(t *testing.T) {
	base := worlds.MemoryDir(t)
	defer os.RemoveAll(base)
	sequences := uint64(500)
	if *every {
		sequences = 50_000
	}
	for seed := range sequences {
		home, err := os.MkdirTemp(base, "home-")
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Join(home, listPath), 0o755))
		q := &sequence{t: t, base: base, home: home, rng: rand.New(rand.NewPCG(seed, 1)), allowed: []map[string]string{{}}}
		q.disk, err = load(home)
		require.NoError(t, err)
		require.NoError(t, q.run(), "sequence %d:\n%s", seed, strings.Join(q.log, "\n"))
		require.NoError(t, os.RemoveAll(q.home))
	}
}
