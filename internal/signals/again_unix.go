//go:build unix

package signals

import "syscall"

// again lets a signal that was held have its effect.
func again(s syscall.Signal) { _ = syscall.Kill(syscall.Getpid(), s) }
