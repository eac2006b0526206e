//go:build unix && !linux

package main

import (
	"errors"
	"time"
)

// apart fails.
func apart(string, time.Duration) (code int, err error) {
	return 0, errors.New("such disks exist only on Linux")
}

// mountSlow mounts nothing.
func mountSlow(string, time.Duration) (mounted []place, unmount func()) { return nil, func() {} }
