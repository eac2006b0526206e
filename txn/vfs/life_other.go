//go:build !linux && !darwin

package vfs

import "time"

// Life returns "", which means that it is unknown.
func (h *Held) Life(string) string { return "" }

// Booted returns when this run of the kernel began, which is unknown here.
func Booted() (at time.Time, known bool) { return time.Time{}, false }
