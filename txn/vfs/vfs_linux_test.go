package vfs_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// TestRenameNewIsUnsupportedWhereTheKernelRefusesTheFlag provokes EINVAL, the error
// of a file system that does not know the flag, in another way.
func TestRenameNewIsUnsupportedWhereTheKernelRefusesTheFlag(t *testing.T) {
	dir := newDir(t)
	require.ErrorIs(t, vfs.OS{}.RenameNew(dir+"/d", dir+"/d/below"), errors.ErrUnsupported)
}
