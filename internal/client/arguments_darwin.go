package client

import "golang.org/x/sys/unix"

// arguments returns the command line of a process.
func arguments(pid int) ([]string, error) {
	data, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil, err
	}
	return parseProcargs(data)
}
