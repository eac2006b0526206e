package steps

import (
	"bytes"
	"os"
	"strconv"
)

// startOf returns the time at which a process was started, in clock ticks since the
// machine was, and with the machine's boot id: empty if there is no such process. A
// zombie counts as none.
func startOf(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The second field is the program's name in parentheses, which may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return ""
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(fields[19]) + " " + string(bytes.TrimSpace(boot))
}
