//go:build !linux && !darwin

package steps

import "strconv"

// startOf cannot tell when the process was started.
func startOf(pid int) string { return strconv.Itoa(pid) }
