package startup

import (
	"runtime/debug"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestTheStackStaysWhereItIs: a goroutine that has called grow uses what grow makes room for
// without its stack being copied; without grow it is copied. The collector, which shrinks stacks, is off.
func TestTheStackStaysWhereItIs(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	require.True(t, isCopied(func() {}))
	require.False(t, isCopied(grow))
	require.False(t, isCopiedBy(Go, func() {}))
}

// isCopied reports whether the stack of a new goroutine is copied by deep calls after first.
func isCopied(first func()) bool {
	return isCopiedBy(func(f func()) { go f() }, first)
}

// isCopiedBy is isCopied with a goroutine that begin begins.
func isCopiedBy(begin func(func()), first func()) bool {
	copied := make(chan bool)
	begin(func() {
		first()
		var local byte
		before := uintptr(unsafe.Pointer(&local))
		deep(64)
		copied <- uintptr(unsafe.Pointer(&local)) != before
	})
	return <-copied
}

// deep calls itself n times, with frames of more than 128 bytes: more than a new stack has, and less than size in all.
//
//go:noinline
func deep(n int) byte {
	var frame [128]byte
	if n > 0 {
		frame[n%128] = deep(n - 1)
	}
	return frame[n%64]
}
