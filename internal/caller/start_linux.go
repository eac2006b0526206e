package caller

import (
	"bytes"
	"strconv"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// StartOf returns the start time of a process, in clock ticks since boot, and the boot id.
// It is empty if there is no such process; a zombie counts as none.
func StartOf(pid int) string {
	stat, err := safefile.KernelText("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The second field is the program's name in parentheses, which may contain any character.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return ""
	}
	boot, _ := safefile.KernelText("/proc/sys/kernel/random/boot_id")
	return string(fields[19]) + " " + string(bytes.TrimSpace(boot))
}
