package process

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

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

// FileSystem returns the name of the file system of dir. An ext4 without a journal is told apart: a
// sync costs little there, but giving a new file an inode costs the more, the more files were deleted
// in the last minutes.
func FileSystem(dir string) string {
	var at unix.Statfs_t
	Check(unix.Statfs(dir, &at))
	names := map[int64]string{
		unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs",
		unix.TMPFS_MAGIC: "tmpfs", unix.OVERLAYFS_SUPER_MAGIC: "overlay",
	}
	name := names[int64(at.Type)]
	switch {
	case name == "":
		return fmt.Sprintf("%#x", at.Type)
	case name == "ext4" && !hasJournal(dir):
		return "ext4 without a journal"
	}
	return name
}

// hasJournal reports whether the kernel keeps a journal for the ext4 of dir, or it cannot be found out.
func hasJournal(dir string) bool {
	var at unix.Stat_t
	Check(unix.Stat(dir, &at))
	device, err := os.Readlink(fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(at.Dev), unix.Minor(at.Dev)))
	if err != nil {
		return true
	}
	name := filepath.Base(device)
	if _, err := os.Stat("/proc/fs/ext4/" + name); err != nil {
		return true
	}
	journals, err := filepath.Glob("/proc/fs/jbd2/" + name + "-*")
	return err != nil || len(journals) > 0
}
