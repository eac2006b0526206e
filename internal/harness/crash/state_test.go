//go:build unix

package crash

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// stateWrites are calls that change state files, in order. The power is cut during each.
var stateWrites = []struct {
	do     func(d *txn.Dir) error
	before string // what a.json and b.jsonl hold, with a bar between them
	after  string
	lazy   bool // once the call has returned, a power cut may still leave before
}{
	{func(d *txn.Dir) error { return d.WriteState("a.json", []byte("first")) }, "|", "first|", false},
	{func(d *txn.Dir) error { return d.WriteState("a.json", []byte("second")) }, "first|", "second|", false},
	{func(d *txn.Dir) error { return d.AppendState("b.jsonl", []byte("one")) }, "second|", "second|one\n", false},
	{func(d *txn.Dir) error { return d.AppendState("b.jsonl", []byte("two")) }, "second|one\n", "second|one\ntwo\n", false},
	{func(d *txn.Dir) error { return d.RemoveState("a.json") }, "second|one\ntwo\n", "|one\ntwo\n", false},
	{func(d *txn.Dir) error { return d.RemoveState("b.jsonl") }, "|one\ntwo\n", "|", false},
	{func(d *txn.Dir) error { return d.AppendStateLazily("b.jsonl", []byte("three")) }, "|", "|three\n", true},
	{func(d *txn.Dir) error { return d.AppendState("b.jsonl", []byte("four")) }, "|", "|three\nfour\n", false},
}

// stateCuts cuts the power after every step of stateWrites. It returns the number of states
// and of violations: a state must be the one before or after the call, and once the call
// has returned the one after. first is the first violation. dropped is as in recorder.
func stateCuts(t *testing.T, dropped func(faultfs.Step) bool) (states, violations int, first string) {
	base, rng := worlds.MemoryDir(t), rand.New(rand.NewPCG(1, 2))
	home := filepath.Join(base, "home")
	list := filepath.Join(home, listPath)
	require.NoError(t, os.MkdirAll(list, 0o755))
	setup, err := txn.Open(t.Context(), list)
	require.NoError(t, err)
	require.NoError(t, setup.Close())
	d, err := load(home)
	require.NoError(t, err)
	var allowed func(string) bool
	look := func(faultfs.Step) {
		d.cuts(limits{exhaustive: 64, samples: 16}, rng, func(c *disk) {
			states++
			c.built(t, base, func(state string) {
				if got := stateFiles(t, filepath.Join(state, listPath)); !allowed(got) {
					violations++
					first = cmp.Or(first, got)
				}
			})
		})
	}
	allowed = func(got string) bool { return got == "|" }
	dir, err := txn.Open(context.Background(), list, txn.WithFS(recorder(vfs.OS{}, home, d, dropped, look)))
	require.NoError(t, err)
	defer dir.Close()
	for _, w := range stateWrites {
		allowed = func(got string) bool {
			// Of a line that is being added there may be nothing, some, or all.
			return got == w.before || got == w.after || strings.HasPrefix(w.after, got) && strings.HasPrefix(got, w.before)
		}
		require.NoError(t, w.do(dir))
		if !w.lazy {
			allowed = func(got string) bool { return got == w.after }
		}
		look(faultfs.Step{})
	}
	return states, violations, first
}

func stateFiles(t *testing.T, list string) string {
	_, err := txn.Recover(t.Context(), list)
	require.NoError(t, err)
	a, err := txn.ReadState(list, "a.json")
	require.NoError(t, err)
	b, err := txn.ReadState(list, "b.jsonl")
	require.NoError(t, err)
	return string(a) + "|" + string(b)
}

// TestPowerLossLeavesStateFilesWhole: a state file has the old or the new content, and the
// new one once the call has returned. If any of the syncs is dropped, some power cut
// violates that.
func TestPowerLossLeavesStateFilesWhole(t *testing.T) {
	states, violations, first := stateCuts(t, nil)
	assert.Zero(t, violations, "%q", first)
	t.Logf("%d states", states)
	for name, is := range map[string]func(string) bool{
		"S":                 func(path string) bool { return strings.HasSuffix(path, ".fsmtx") },
		"the written file":  func(path string) bool { return strings.Contains(path, "/tmp/") },
		"the appended file": func(path string) bool { return strings.HasSuffix(path, "b.jsonl") },
	} {
		_, violations, _ := stateCuts(t, func(s faultfs.Step) bool { return s.Op == "sync" && is(s.Path) })
		assert.NotZero(t, violations, "no power cut shows that %s is not synced", name)
	}
}

// TestPowerLossLosesNothingThatIsSetAside: the journal is damaged, so that the
// only copies of the tasks that it deleted are in the directory that is moved to the quarantine.
func TestPowerLossLosesNothingThatIsSetAside(t *testing.T) {
	base, rng := worlds.MemoryDir(t), rand.New(rand.NewPCG(1, 2))
	home := filepath.Join(base, "home")
	list, journal := filepath.Join(home, listPath), filepath.Join(home, "tasks/.list.fsmtx/journal")
	require.NoError(t, os.MkdirAll(list, 0o755))
	kept := []string{"a deleted task", "another one", "a created task", "a damaged journal"}
	require.NoError(t, os.WriteFile(filepath.Join(list, "1.json"), []byte(kept[0]), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(list, "2.json"), []byte(kept[1]), 0o644))
	dead := false
	files := &faultfs.Steps{FS: vfs.OS{}, Before: func(s faultfs.Step) error {
		if dead = dead || s.Op == "rename" && s.Path == journal; dead {
			return faultfs.ErrFrozen
		}
		return nil
	}}
	dir, err := txn.Open(t.Context(), list, txn.WithFS(files))
	require.NoError(t, err)
	require.ErrorIs(t, dir.Commit(context.Background(), txn.Change{Deletes: []string{"1.json", "2.json"},
		Creates: []txn.File{{Name: "3.json", Data: []byte(kept[2]), Mode: 0o644}}}), txn.ErrRecoveryRequired)
	require.NoError(t, dir.Close())
	require.NoError(t, os.WriteFile(journal, []byte(kept[3]), 0o600))

	d, err := load(home)
	require.NoError(t, err)
	states, done := 0, false
	look := func(s faultfs.Step) {
		d.cuts(limits{exhaustive: 64, samples: 16}, rng, func(c *disk) {
			states++
			c.built(t, base, func(state string) {
				for range 2 { // a second recovery changes nothing
					require.Subset(t, texts(t, state), kept, "%s", s)
					_, err = txn.Recover(t.Context(), filepath.Join(state, listPath))
					if _, untrusted := errors.AsType[*txn.JournalError](err); untrusted {
						require.False(t, done, "it was moved away")
						_, err = txn.SetAside(t.Context(), filepath.Join(state, listPath))
					}
					require.NoError(t, err, "%s", s)
				}
			})
		})
	}
	moved, err := txn.SetAside(t.Context(), list, txn.WithFS(recorder(vfs.OS{}, home, d, nil, look)))
	require.NoError(t, err)
	require.Len(t, moved, 2)
	done = true
	look(faultfs.Step{})
	require.Greater(t, states, 100)
}

// texts returns what the files below a directory hold.
func texts(t *testing.T, dir string) (all []string) {
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		all = append(all, string(data))
		return err
	}))
	return all
}
