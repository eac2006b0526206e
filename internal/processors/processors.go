// Package processors chooses on how many processors Go's runtime runs goroutines.
//
// The client waits for a hook a few milliseconds at each call. With several processors the
// runtime spends a tenth of that on waking and parking threads, whose work one thread does in
// passing: a hook reads and decides, one thing after the other. Only a transaction does things at once.
package processors

import (
	"runtime"
	"slices"
)

var before int // Few; 0 if it has changed nothing

// Few keeps this process on one processor if args, which begin with the name of the program, are
// those of a hook that a call waits for or of the status line, and reports whether it has. Package
// few calls it.
func Few(args []string) bool {
	if len(args) > 1 && slices.Contains([]string{"guard", "hook", "hydrate", "statusline", "step"}, args[1]) {
		before = runtime.GOMAXPROCS(1)
	}
	return before > 0
}

// syncs is how many files are synced at a time at least, however many processors there are.
const syncs = 5

// Many lets as many goroutines run as a transaction has use for, and at least as many as before
// Few. The runtime may take milliseconds to notice that one only waits for the disk, and with two
// processors the third sync would wait for the first two.
func Many() { runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), before, syncs)) }
