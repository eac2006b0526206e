package process

import (
	"cmp"
	"fmt"
	"log"
	"os"

	"golang.org/x/sys/unix"
)

// Sync waits until the file system of dir has written everything. It does not sync other
// file systems: one that does not respond would block the benchmark.
func Sync(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	if err := unix.Syncfs(int(d.Fd())); err != nil {
		log.Fatalf("syncing %s: %v", dir, err)
	}
}

// FileSystem returns the name of the file system of dir.
func FileSystem(dir string) string {
	var at unix.Statfs_t
	Check(unix.Statfs(dir, &at))
	names := map[int64]string{
		unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs",
		unix.TMPFS_MAGIC: "tmpfs", unix.OVERLAYFS_SUPER_MAGIC: "overlay",
	}
	return cmp.Or(names[int64(at.Type)], fmt.Sprintf("%#x", at.Type))
}
