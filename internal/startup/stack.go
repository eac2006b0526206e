package startup

import (
	"time"
)

// Go begins with a few kilobytes of stack and copies them each time it has to grow, for which it looks
// up each function that is active. In a process that lives for milliseconds these tables are not in
// memory yet: a hook that grew four times spent a twentieth of its time on that. So the main
// goroutine, which runs the initialisers too, gets a large stack while it is shallow.
// Began is a few milliseconds after the process began.
var Began = time.Now()

func init() { grow() }

// size is what grow makes room for, in bytes: as much as a hook that judges a step needs.
const size = 24 << 10

// grow makes the stack of the calling goroutine large, which should have called little yet.
func grow() { reserve(false) }

// Go runs f in a goroutine whose stack is large before f needs it: a frame of f, however large, is on
// it.
func Go(f func()) { go run(f) }

//go:noinline
func run(f func()) {
	grow()
	f()
}

// reserve has a frame of size bytes, and touches it only if used.
//
//go:noinline
func reserve(used bool) {
	if used {
		var room [size]byte
		touch(&room)
	}
}

//go:noinline
func touch(room *[size]byte) { room[0]++ }
