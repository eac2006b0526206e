package vfs

import (
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// Life identifies the time during which nothing that was written below the held directory
// can have been lost: from one mount of its file system, in one run of the kernel, to the
// next. It is the kernel's boot id and the mount's. Life returns "" if either is unknown.
func (h *Held) Life(path string) string {
	_, dir, _ := h.find(path)
	if dir == nil {
		return ""
	}
	boot, err := safefile.KernelText("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	var st unix.Statx_t
	// The unique id (Linux 6.8) is not used again after an unmount; the older one may be.
	for _, mask := range []int{unix.STATX_MNT_ID_UNIQUE, unix.STATX_MNT_ID} {
		err = unix.Statx(dir.Fd(), "", unix.AT_EMPTY_PATH, mask, &st)
		if err == nil && st.Mask&uint32(mask) != 0 {
			return strings.TrimSpace(string(boot)) + "/" + strconv.FormatUint(st.Mnt_id, 10)
		}
	}
	return ""
}

// Booted returns when this run of the kernel began, by the system clock. known is false if that
// is unknown.
func Booted() (at time.Time, known bool) {
	var up unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &up)
	return time.Now().Add(-time.Duration(up.Nano())), err == nil
}
