//go:build unix

package process

// Sh returns the path of a POSIX shell.
func Sh() (string, error) { return "/bin/sh", nil }
