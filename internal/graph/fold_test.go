package graph

import (
	"slices"
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
	f, is := g.Fold(60)
	require.True(t, is)
	assert.Equal(t, `w: 200 steps, one after another, 60 done

1  ●   1 to 59 59 steps
2  ●        60 S
3  ◐        61 S
4  ◌ 62 to 199 138 steps
5  ◌       200 S

195 steps are folded; --unfold draws them all
● done   ◐ in progress   ○ ready   ◌ blocked
`, f.Text(80, false))
	_, is = g.Fold(200)
	assert.False(t, is, "there is room")
	assert.Contains(t, g.HTML(), `<svg id="folded"`)
	assert.Contains(t, g.HTML(), `<svg hidden id="whole"`)
	assert.NotContains(t, New("w", chainOf(8, 2)).HTML(), `id="folded"`)
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
		f, _ := g.Fold(0)
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

// TestFoldAbreast of steps that wait for the same step and that the same step waits for, until they
// can be worked on.
func TestFoldAbreast(t *testing.T) {
	steps := func(first, middle State) []Step {
		all := []Step{{ID: 1, State: first}}
		last := Step{ID: 40}
		for id := int64(2); id < 40; id++ {
			all, last.BlockedBy = append(all, Step{ID: id, State: middle, BlockedBy: []int64{1}}), append(last.BlockedBy, id)
		}
		return append(all, last)
	}
	f, is := New("w", steps(Ready, Blocked)).Fold(24)
	require.True(t, is)
	require.Len(t, f.Steps, 3)
	assert.Equal(t, "2 to 39", f.Steps[1].Number)
	assert.Equal(t, []int64{2}, f.Steps[2].BlockedBy)
	_, is = New("w", steps(Done, Ready)).Fold(24)
	assert.False(t, is)
}
