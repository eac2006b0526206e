package vfs_test

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

func TestUmask(t *testing.T) {
	for _, mask := range []int{0, 0o022, 0o077, 0o777, 0o027} {
		before := syscall.Umask(mask)
		got := vfs.Umask()
		now := syscall.Umask(before)
		assert.Equal(t, fs.FileMode(mask), got)
		assert.Equal(t, mask, now, "it is unchanged")
	}
}
