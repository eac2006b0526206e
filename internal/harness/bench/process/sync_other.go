//go:build unix && !linux

package process

import "syscall"

// Sync asks the system to write everything: there is no call for a single file system.
func Sync(string) { _ = syscall.Sync() }

// FileSystem returns a text for tables: only Linux says which file system it is.
func FileSystem(string) string { return "the disk" }
