package tasks

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

func TestParseRecord(t *testing.T) {
	text := "12 34 5.json.lock\nnonsense\n1 2\n1 x 3.json.lock\n1 2 ../x.lock\n1 2 a\x00.lock\n1 2 5.json\n7 8 a b.json.lock\n"
	assert.Equal(t, []lock{{"5.json.lock", 12, 34}, {"a b.json.lock", 7, 8}}, parseRecord([]byte(text)))
}

func TestReapReleasesRecordedLocks(t *testing.T) {
	l := newLockedList(t)
	l.take("1.json")
	require.NoError(t, boundLocks(l.dir, l.scratch).Reap())
	assert.Empty(t, l.names())
	entries, err := os.ReadDir(l.scratch)
	require.NoError(t, err)
	assert.Empty(t, entries)
	require.NoError(t, l.Unlock())
}

// TestReapKeepsALockOfAnotherProgram: the recorded lock was replaced by another
// program's, which got the same inode.
func TestReapKeepsALockOfAnotherProgram(t *testing.T) {
	l := newLockedList(t)
	l.take()
	other := time.Unix(time.Now().Unix(), int64((l.held[0].nanos+1)%1e9))
	require.NoError(t, os.Chtimes(l.at(listLock), time.Time{}, other))
	require.NoError(t, boundLocks(l.dir, l.scratch).Reap())
	assert.DirExists(t, l.at(listLock))
	require.NoError(t, l.Unlock())
}

func TestReapWithoutScratchDoesNothing(t *testing.T) {
	l := newLockedList(t)
	require.NoError(t, l.Reap())
	assert.NoDirExists(t, l.scratch)
}

// TestReapIgnoresOtherFiles: only a record is read.
func TestReapIgnoresOtherFiles(t *testing.T) {
	l := newLockedList(t)
	require.NoError(t, os.MkdirAll(filepath.Join(l.scratch, "full", "directory"), 0o755))
	require.NoError(t, l.Reap())
	assert.DirExists(t, filepath.Join(l.scratch, "full", "directory"))
}

// TestReapIgnoresARecordThatIsNotAFile: a power cut on a file system without a journal
// left directories under the names of records, an empty one and a full one.
func TestReapIgnoresARecordThatIsNotAFile(t *testing.T) {
	l := newLockedList(t)
	l.take()
	require.NoError(t, os.MkdirAll(filepath.Join(l.scratch, recordPrefix+"0"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(l.scratch, recordPrefix+"1", "file"), 0o755))
	require.NoError(t, boundLocks(l.dir, l.scratch).Reap())
	assert.Empty(t, l.names(), "the locks of the other record are released")
	assert.NoDirExists(t, filepath.Join(l.scratch, recordPrefix+"0"))
	require.NoError(t, l.Unlock())
}

func TestReapReturnsReadErrors(t *testing.T) {
	for _, fault := range []string{"readdir", "read", "lstat"} {
		l := newLockedList(t)
		l.take()
		reaper := boundLocks(l.dir, l.scratch)
		reaper.files = &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(s faultfs.Step) error {
			if s.Op == fault {
				return syscall.EIO
			}
			return nil
		}}
		require.ErrorIs(t, reaper.Reap(), syscall.EIO, fault)
		assert.Equal(t, []string{listLock}, l.names(), fault)
		require.NoError(t, l.Unlock())
	}
}
