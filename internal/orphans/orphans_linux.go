package orphans

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes this program the parent of the orphans of its children, or no longer.
func adoptOrphans(on bool) error {
	arg := uintptr(0)
	if on {
		arg = 1
	}
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, arg, 0, 0, 0)
}

// members returns the processes of the system.
func members() (all []member) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if m, ok := memberOf(pid); ok {
			all = append(all, m)
		}
	}
	return all
}

// memberOf returns one process. In its line the name stands in parentheses and may have any characters.
func memberOf(pid int) (m member, ok bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	open, end := strings.IndexByte(string(data), '('), strings.LastIndexByte(string(data), ')')
	if err != nil || open < 0 || end < open {
		return m, false
	}
	fields := strings.Fields(string(data[end+1:]))
	if len(fields) < 20 {
		return m, false
	}
	m = member{pid: pid, name: string(data[open+1 : end]), ended: fields[0] == "Z" || fields[0] == "X"}
	m.parent, _ = strconv.Atoi(fields[1])
	m.group, _ = strconv.Atoi(fields[2])
	m.began, _ = strconv.ParseUint(fields[19], 10, 64)
	return m, true
}
