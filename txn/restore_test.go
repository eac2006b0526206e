package txn

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// replaced returns a list in which a transaction has replaced 2.json by 3.json and
// 4.json, the tree of the list before, and the change that takes that back.
func replaced(t *testing.T) (dir string, before map[string]string, undo Change) {
	dir = newList(t)
	before = tree(t, dir)
	require.NoError(t, commit(t, dir, replacing))
	undo = Change{Restores: []Restore{{history(t, dir)[0].ID, "2.json"}}, Deletes: []string{"3.json", "4.json"}, Label: "undo"}
	return dir, before, undo
}

func TestRestoreBringsBackTheSameFile(t *testing.T) {
	dir, before, undo := replaced(t)
	undo.Creates = []File{{"5.json", []byte("5"), 0o644}}
	require.NoError(t, commit(t, dir, undo))
	now := tree(t, dir)
	assert.Equal(t, before["2.json"], now["2.json"], "name, inode, mode, time and bytes")
	assert.Equal(t, []string{".", "1.json", "2.json", "5.json"}, names(t, dir))

	h := history(t, dir)
	require.Len(t, h, 2)
	assert.Equal(t, []EntryFile{{"5.json", 1, digest([]byte("5")), 0o644}, {"2.json", 10, digest([]byte("old 2.json")), 0o640}}, h[1].Created)
	assert.Equal(t, []string{".", "3.json", "4.json"}, names(t, h[1].Backups))
	assert.Equal(t, []string{"."}, names(t, h[0].Backups), "what is written to the file in place must not change a backup")
}

// TestARestoredFileIsSyncedBeforeItIsLinked: another program may have written to it after it was deleted.
func TestARestoredFileIsSyncedBeforeItIsLinked(t *testing.T) {
	dir, _, undo := replaced(t)
	var steps []string
	d, err := Open(t.Context(), dir, WithFS(before(func(s faultfs.Step) error {
		if strings.Contains(s.Path, backupName+"/2.json") {
			steps = append(steps, s.Op)
		}
		return nil
	})))
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, d.Commit(t.Context(), undo))
	require.Subset(t, steps, []string{"sync", "link"})
	assert.Less(t, slices.Index(steps, "sync"), slices.Index(steps, "link"), steps)
}

// TestRestoreIsAllOrNothing fails each step of a transaction that restores, or stops before it.
func TestRestoreIsAllOrNothing(t *testing.T) {
	for _, dies := range []bool{false, true} {
		for n, met := 0, true; met; n++ {
			dir, _, undo := replaced(t)
			before, backups, left := tree(t, dir), tree(t, history(t, dir)[0].Backups), n
			met = false
			err := func() error {
				d, err := Open(t.Context(), dir, WithFS(&faultfs.Steps{FS: vfs.OS{}, Reads: !dies, Before: func(faultfs.Step) error {
					if left--; left == -1 || left < 0 && dies {
						met = true
						return syscall.EIO
					}
					return nil
				}}))
				if err != nil {
					return err
				}
				defer d.Close()
				return d.Commit(t.Context(), undo)
			}()
			if err != nil {
				require.ErrorIs(t, err, syscall.EIO)
				_, err = Recover(t.Context(), dir)
				require.NoError(t, err)
			}
			if h := history(t, dir); len(h) == 1 {
				require.Equal(t, before, tree(t, dir), "step %d", n)
				require.Equal(t, backups, tree(t, h[0].Backups), "step %d", n)
			} else {
				require.Equal(t, []string{".", "1.json", "2.json"}, names(t, dir), "step %d", n)
			}
		}
	}
}

// TestRestoreOfAFileThatWasWrittenSince: another program may have had the file open
// when it was deleted.
func TestRestoreOfAFileThatWasWrittenSince(t *testing.T) {
	dir, _, undo := replaced(t)
	backup := filepath.Join(history(t, dir)[0].Backups, "2.json")
	require.NoError(t, os.WriteFile(backup, []byte("written since"), 0o640))
	require.NoError(t, commit(t, dir, undo))
	assert.Equal(t, "written since", contents(t, dir)["2.json"])
	assert.EqualValues(t, 13, history(t, dir)[1].Created[0].Size)
}

func TestRestoreIsRefused(t *testing.T) {
	dir, _, undo := replaced(t)
	id := undo.Restores[0].ID
	s := stateDirOf(dir)
	before := tree(t, dir)
	for title, c := range map[string]struct {
		restore Restore
		plant   func()
		is      error
	}{
		"of an unknown transaction": {Restore{otherID, "2.json"}, nil, ErrNotKept},
		"of no id":                  {Restore{"", "2.json"}, nil, ErrNotKept},
		"of an id that leads out":   {Restore{"x/../" + id, "2.json"}, nil, ErrNotKept},
		"of a file not deleted":     {Restore{id, "1.json"}, nil, ErrNotKept},
		"of a file created":         {Restore{id, "5.json"}, nil, ErrNotKept},
		"of a path":                 {Restore{id, "../old/2.json"}, nil, ErrName},
		"of a link": {Restore{id, "l"}, func() {
			require.NoError(t, os.Symlink("2.json", filepath.Join(s, "txn-"+id, "old", "l")))
		}, vfs.ErrNotRegular},
		"of a directory": {Restore{id, "d"}, func() {
			require.NoError(t, os.Mkdir(filepath.Join(s, "txn-"+id, "old", "d"), 0o700))
		}, vfs.ErrNotRegular},
		"by a link to the backups": {Restore{otherID + "1", "2.json"}, func() {
			require.NoError(t, os.WriteFile(filepath.Join(s, "done-"+otherID+"1"), nil, 0o600))
			require.NoError(t, os.Symlink("txn-"+id, filepath.Join(s, "txn-"+otherID+"1")))
		}, ErrUntrustedDir},
	} {
		if c.plant != nil {
			c.plant()
		}
		bad := undo
		bad.Restores = []Restore{c.restore}
		err := commit(t, dir, bad)
		require.ErrorIs(t, err, c.is, title)
		file := new(FileError)
		require.ErrorAs(t, err, &file, title)
		assert.Equal(t, before, tree(t, dir), title)
	}
	twice := undo
	twice.Restores = append(twice.Restores, twice.Restores...)
	require.ErrorIs(t, commit(t, dir, twice), ErrName)
	twice = undo
	twice.Creates = create("2.json").Creates
	require.ErrorIs(t, commit(t, dir, twice), ErrName)
	assert.Equal(t, before, tree(t, dir))

	require.NoError(t, os.WriteFile(filepath.Join(dir, "2.json"), []byte("another's"), 0o644))
	err := commit(t, dir, undo)
	require.ErrorIs(t, err, ErrExists)
	require.ErrorContains(t, err, "restore 2.json: ")
	assert.Equal(t, "another's", contents(t, dir)["2.json"])
}
