//go:build disks && linux

package disks_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/medium"
	"github.com/fsmtx/fsmtx/internal/harness/overseer"
)

// onEach runs a test on each file system that this machine can mount, and skips the
// others.
func onEach(t *testing.T, test func(t *testing.T, d *drive, empty medium.Image)) {
	for _, f := range fileSystems {
		t.Run(strings.ReplaceAll(f.Name, " ", "-"), func(t *testing.T) {
			d, err := newDrive(t, f)
			if errors.Is(err, medium.ErrMissing) {
				t.Skipf("skipped: %v", err)
			}
			require.NoError(t, err)
			test(t, d, d.Save())
		})
	}
}

// TestPowerCutsOnRealFileSystems cuts the power during each operation, once undisturbed
// and once beside a program that syncs. The recovered content must be the one before or
// after the operation, and the one after it once the operation has reported success.
func TestPowerCutsOnRealFileSystems(t *testing.T) {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "file system\toperation\tflushes\twrites\tstates\tdistinct\ttried\tviolations\trefused\tby hand")
	onEach(t, func(t *testing.T, d *drive, empty medium.Image) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, op := range operations {
			var r row
			for _, decide := range []overseer.Decide{nil, d.neighbour(rng)} {
				tr := d.play(t, empty, op, decide, rng)
				tr.try((*states + 1) / 2)
				r.add(tr.row)
			}
			fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", d.FileSystem.Name, op.name, r.flushes, r.writes, r.states,
				r.distinct, r.tried, r.violations(), r.refused, r.byHand)
			assert.Zero(t, r.violations(), r.first)
			if r.refused > 0 {
				t.Logf("%s: the kernel does not mount %d of %d states: %s", op.name, r.refused, r.tried, r.why)
			}
			assert.Less(t, 2*r.refused, r.tried, r.why)
		}
	})
	_ = w.Flush()
	_, _ = os.Stdout.WriteString(table.String())
}

func (r *row) add(o row) {
	r.flushes += o.flushes
	r.writes += o.writes
	r.states += o.states
	r.distinct += o.distinct
	r.tried += o.tried
	r.unlike += o.unlike
	r.lost += o.lost
	r.unusable += o.unusable
	r.refused += o.refused
	r.byHand += o.byHand
	r.first, r.why = cmp.Or(r.first, o.first), cmp.Or(r.why, o.why)
}

// TestAProgramWithoutSyncsIsNoticed: with syncs that return at once and do nothing,
// every file system loses what was acknowledged.
func TestAProgramWithoutSyncsIsNoticed(t *testing.T) {
	onEach(t, func(t *testing.T, d *drive, empty medium.Image) {
		rng := rand.New(rand.NewPCG(3, 4))
		for _, op := range operations {
			if op.interrupted != nil {
				continue // a recovery that is lost is done again
			}
			tr := d.play(t, empty, op, pretending, rng)
			tr.try((*states + 1) / 2)
			t.Logf("%s without syncs: of %d tried, %d are lost, and %d neither before nor after", op.name, tr.tried, tr.lost, tr.unlike)
			assert.NotZero(t, tr.lost, "%s without syncs is not noticed", op.name)
		}
	})
}
