//go:build !linux && !darwin

package steps

import "strconv"

// startOf returns the process id: on these systems the start time is unknown.
func startOf(pid int) string { return strconv.Itoa(pid) }
