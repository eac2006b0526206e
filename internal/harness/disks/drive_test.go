//go:build disks && linux

package disks_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/medium"
)

const mib = medium.MiB

// fileSystems are the kinds and modes on which every operation is tried.
var fileSystems = []medium.FileSystem{
	ext4("ext4 data=ordered", "data=ordered"),
	ext4("ext4 data=writeback", "data=writeback"),
	ext4("ext4 fast_commit", "data=ordered", "-O", "fast_commit"),
	withoutJournal(),
	medium.XFS,
	{Name: "btrfs", Kind: "btrfs", Size: 128 * mib, Mkfs: []string{"mkfs.btrfs", "-q", "-f", "-K"}},
	{Name: "f2fs", Kind: "f2fs", Size: 128 * mib, Mkfs: []string{"mkfs.f2fs", "-q", "-f", "-t", "0"}},
}

// ext4 is one way to make and to mount it.
func ext4(name, options string, mkfs ...string) medium.FileSystem {
	f := medium.Ext4
	f.Name, f.Options, f.Mkfs = name, options, slices.Concat(f.Mkfs, mkfs)
	return f
}

func withoutJournal() medium.FileSystem {
	f := ext4("ext4 without journal", "", "-O", "^has_journal")
	f.Check = []string{"e2fsck", "-fy"}
	return f
}

// drive is a disk on which the operations run.
type drive struct{ *medium.Own }

// newDrive makes an empty file system, for the time of the test. It fails with
// medium.ErrMissing if this machine cannot make or mount it.
func newDrive(t *testing.T, f medium.FileSystem) (*drive, error) {
	d, err := medium.Here(t.TempDir(), f)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	if err := d.Mount(); err != nil {
		return nil, err
	}
	return &drive{d}, d.Unmount()
}
