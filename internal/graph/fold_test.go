package graph

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// chainOf returns n steps, each after the one before, of which the first ones are done and the
// next one is in progress.
func chainOf(n, done int) (all []Step) {
	for i := range n {
		s := Step{ID: int64(i + 1), Subject: "S"}
		if i > 0 {
			s.BlockedBy = []int64{int64(i)}
		}
		if i < done {
			s.State = Done
		} else if i == done {
			s.State = InProgress
		}
		all = append(all, s)
	}
	return all
}

// TestFoldAChain of two hundred steps into a few: the work is seen.
func TestFoldAChain(t *testing.T) {
	g := New("w", chainOf(200, 60))
	assert.Equal(t, `w: 200 steps, one after another, 60 done

1  ●   1 to 60 60 steps
2  ◐        61 S
3  ◌ 62 to 200 139 steps

197 steps are folded; --unfold draws them all
● done   ◐ in progress   ○ ready   ◌ blocked
`, g.Text(80, false, 60))
	assert.Same(t, g, g.fold(200), "there is room")
}

// TestFold: every step is in the folded graph or stands for one that is not, no cycle arises, what
// can be worked on stays, and so do the ends of loops.
func TestFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := dag(t, 25)
		done := rapid.IntRange(0, len(all)).Draw(t, "done")
		for i := range all[:done] {
			all[i].State = Done
		}
		for i := range all {
			if rapid.IntRange(0, 9).Draw(t, "leads back") == 0 {
				all[i].Outcomes = []Outcome{{Name: "a", Back: all[rapid.IntRange(0, i).Draw(t, "to")].ID, Max: 1}}
			}
		}
		g := New("", all)
		f := g.fold(0)
		var ids []int64
		stays := map[int64]State{}
		for _, s := range f.Steps {
			if len(s.Folded) == 0 {
				ids = append(ids, s.ID)
				stays[s.ID] = s.State
			}
			ids = append(ids, s.Folded...)
		}
		slices.Sort(ids)
		var want []int64
		for _, s := range g.Steps {
			want = append(want, s.ID)
			if s.State == Ready || s.State == InProgress || len(s.Outcomes) > 0 {
				require.Contains(t, stays, s.ID)
			}
			if state, is := stays[s.ID]; is {
				require.Equal(t, s.State, state)
			}
		}
		slices.Sort(want)
		require.Equal(t, want, ids)
		require.Empty(t, f.Cyclic)
	})
}

// TestFoldLayers of which each step waits for several of the layer above: what can be worked on is seen on one screen.
func TestFoldLayers(t *testing.T) {
	var all []Step
	for id := int64(1); id <= 200; id++ {
		s := Step{ID: id, Subject: "S"}
		for _, before := range []int64{id - 13, id - 11, id - 10, id - 8} {
			if before > 0 && (before-1)/10 == (id-1)/10-1 {
				s.BlockedBy = append(s.BlockedBy, before)
			}
		}
		all = append(all, s)
	}
	g := New("w", all)
	assert.Len(t, g.fold(60).Steps, 11)
	text := g.Text(80, false, 60)
	assert.Less(t, strings.Count(text, "\n"), 40, text)
	assert.Contains(t, text, "11 to 200 190 steps")
	ready := New("w", all[:10])
	assert.Same(t, ready, ready.fold(5), "all can be worked on")
}
