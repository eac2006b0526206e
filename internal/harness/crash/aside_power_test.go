package crash

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

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
			state, err := os.MkdirTemp(base, "state-")
			require.NoError(t, err)
			defer os.RemoveAll(state)
			require.NoError(t, c.build(state))
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
