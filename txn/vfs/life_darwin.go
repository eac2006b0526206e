package vfs

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Life identifies the time during which nothing that was written below the held directory
// can have been lost: one run of the kernel, with one file system at the path. It returns
// "" if that is unknown.
func (h *Held) Life(path string) string {
	_, dir, _ := h.find(path)
	if dir == nil {
		return ""
	}
	boot, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil || boot == "" {
		return ""
	}
	var st unix.Statfs_t
	if err := unix.Fstatfs(dir.Fd(), &st); err != nil {
		return ""
	}
	return fmt.Sprintf("%s/%x", boot, st.Fsid.Val)
}

// Booted returns when this run of the kernel began, by the system clock. known is false if that
// is unknown.
func Booted() (at time.Time, known bool) {
	began, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return time.Time{}, false
	}
	return time.Unix(began.Unix()), true
}
