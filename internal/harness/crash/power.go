package crash

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// limits bounds the number of states that are built at one point of a run.
type limits struct {
	exhaustive int // up to this many combinations, all are built
	samples    int // otherwise this many random ones, besides the plain ones
}

// cuts yields the states that power cuts at this point may leave. It always yields
// the plain ones: no pending effect survives, all do, all but one, only one.
func (d *disk) cuts(l limits, rng *rand.Rand, yield func(*disk)) {
	total := 1
	for _, e := range d.pending {
		if total *= e.choices(); total > l.exhaustive {
			break
		}
	}
	fate := make([]int, len(d.pending))
	if total <= l.exhaustive {
		for more := true; more; more = d.next(fate) {
			yield(d.cut(fate))
		}
		return
	}
	for _, f := range d.plainFates() {
		yield(d.cut(f))
	}
	for range l.samples {
		for i, e := range d.pending {
			fate[i] = rng.IntN(e.choices())
		}
		yield(d.cut(fate))
	}
}

// next increments fate; it returns false after the last combination.
func (d *disk) next(fate []int) bool {
	for i, e := range d.pending {
		if fate[i]++; fate[i] < e.choices() {
			return true
		}
		fate[i] = 0
	}
	return false
}

// manyPending limits, roughly, how many pending effects are lost or kept one at a time.
const manyPending = 12

func (d *disk) plainFates() [][]int {
	n := len(d.pending)
	fates := [][]int{make([]int, n), slices.Repeat([]int{kept}, n)}
	for i := range n {
		if n > manyPending && i%(n/manyPending) != 0 {
			continue
		}
		but, just := slices.Repeat([]int{kept}, n), make([]int, n)
		but[i], just[i] = lost, kept
		fates = append(fates, but, just)
	}
	return fates
}

// key is equal for disks on which every reachable path is the same inode with the
// same bytes.
func (d *disk) key() [sha256.Size]byte {
	var b strings.Builder
	d.walk(root, "", func(path string, at inode) {
		fmt.Fprintf(&b, "%s\x00%d\x00%d\x00%s\x00", path, at, len(d.files[at]), d.files[at])
	})
	return sha256.Sum256([]byte(b.String()))
}

// walk visits every name reachable from dir, directories before their contents.
func (d *disk) walk(dir inode, path string, visit func(path string, at inode)) {
	for _, name := range slices.Sorted(maps.Keys(d.dirs[dir])) {
		at := d.dirs[dir][name]
		visit(path+name, at)
		if d.mode[at].IsDir() {
			d.walk(at, path+name+"/", visit)
		}
	}
}
