//go:build !linux

package process

import "syscall"

// Sync has the system write everything; there is no call for one file system.
func Sync(string) { _ = syscall.Sync() }
