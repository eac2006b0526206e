//go:build !linux && !darwin

package vfs

// Life returns "", which means that it is unknown.
func (h *Held) Life(string) string { return "" }
