// Package startup makes a short process cheap: a hook lives for milliseconds, while the client waits
// for it at each call. It begins with one processor and with a large stack. Packages are initialised
// in the order of their paths as soon as their imports are, and this one imports next to nothing:
// half of what there is to save is spent before main.
package startup

import (
	"os"
	"runtime"
	"slices"
	"time"
)

var _ = few(os.Args)

var before int // few; 0 if it has changed nothing

// few keeps this process on one processor if args, which begin with the name of the program, are
// those of a hook that a call waits for or of the status line, and reports whether it has. With
// several processors the runtime spends a tenth of a hook's time on waking and parking threads, whose
// work one thread does in passing: a hook reads and decides, one thing after the other. Only a
// transaction does things at once.
func few(args []string) bool {
	if len(args) > 1 && slices.Contains([]string{"guard", "hook", "hydrate", "statusline"}, args[1]) {
		before = runtime.GOMAXPROCS(1)
	}
	return before > 0
}

// syncs is the least number of files that are synced at a time, however many processors there are.
const syncs = 5

// ManyProcessors lets as many goroutines run as a transaction has use for, and at least as many as
// before few. The runtime may take milliseconds to notice that one only waits for the disk, and with
// two processors the third sync would wait for the first two.
func ManyProcessors() { runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), before, syncs)) }

// Began is a few milliseconds after the process began.
var Began = time.Now()

// The runtime begins with a few kilobytes of stack and copies them each time it has to grow, for which it looks
// up each function that is active. In a process that lives for milliseconds these tables are not in
// memory yet: a hook that grew four times spent a twentieth of its time on that. So the main
// goroutine, which runs the initialisers too, gets a large stack while it is shallow.
func init() { grow() }

// size is what grow makes room for, in bytes: as much as a hook that decides about a step needs.
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
