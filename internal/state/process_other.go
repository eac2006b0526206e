//go:build !linux && !darwin

package state

import "strconv"

// StartOf returns the process id: on these systems the start time is unknown.
func StartOf(pid int) string { return strconv.Itoa(pid) }
