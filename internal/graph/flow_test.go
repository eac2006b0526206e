package graph

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// hunt is a workflow with loops inside loops, a branch and a person's choice.
func hunt() []Step {
	all := steps(nil, []int64{1}, []int64{2}, []int64{3}, []int64{3, 4}, []int64{5})
	all[0].State, all[0].Outcome = Done, "reproduced"
	all[0].Outcomes = []Outcome{{Name: "reproduced"}, {Name: "cannot", Stop: true}}
	all[1].State, all[1].Round, all[1].Rounds = InProgress, 2, 7
	all[2].Outcomes = []Outcome{{Name: "confirmed"}, {Name: "refuted", Back: 2, Max: 6, Used: 1, Then: "stuck"}, {Name: "stuck"}}
	all[3].When = []Condition{{3, []string{"stuck", "lost"}}}
	all[3].Decides = "person"
	all[3].Outcomes = []Outcome{{Name: "hint", Back: 2, Max: 2}, {Name: "give-up", Stop: true}}
	all[5].Outcomes = []Outcome{{Name: "failed", Back: 5, Max: 3}, {Name: "again", Back: 6, Max: 1}, {Name: "wrong", Back: 2, Max: 1}}
	all[5].Gates = []string{"check: make"}
	return all
}

func TestTextOfLoops(t *testing.T) {
	all := hunt()
	assert.Equal(t, `w: 6 steps, one after another, 1 done

1      ● 1 Step 1 = reproduced ■ cannot
2  ╭┬┬▸◐ 2 Step 2 round 2/7
3  ││╰─◌ 3 Step 3 ↺ refuted → 2 (1/6) [ends as confirmed or stuck]
4  │╰──◌ 4 ?stuck|lost Step 4 ↺ hint → 2 (≤2) ■ give-up [a person decides]
5  │╭─▸◌ 5 Step 5
6  ╰┴─↺◌ 6 Step 6 ↺ failed → 5 (≤3) ↺ again → 6 (≤1) ↺ wrong → 2 (≤1) [check: make]

dependencies that follow from others, not drawn: 1
● done   ◐ in progress   ○ ready   ◌ blocked
`, New("w", all).Text(100, false))
	all[3].State = NotNeeded
	text := New("w", all).Text(100, false)
	assert.Contains(t, text, "⊘ 4 ?stuck|lost Step 4")
	assert.Contains(t, text, "1 done\n")
	assert.True(t, strings.HasSuffix(text, "   ⊘ not needed\n"))
}

func TestMarkupOfLoops(t *testing.T) {
	g := New("w", hunt())
	mermaid := g.Mermaid()
	assert.Contains(t, mermaid, "  s2 -->|\"stuck or lost\"| s3\n")
	assert.Contains(t, mermaid, "  s2 -. \"refuted (1/6)\" .-> s1\n")
	assert.Contains(t, mermaid, "  s5 -. \"again (≤1)\" .-> s5\n")
	assert.Contains(t, mermaid, "  s3{{\"4 ", "a person's choice is a hexagon")
	assert.NotContains(t, mermaid, "not_needed")
	page := g.HTML()
	assert.Equal(t, 6, strings.Count(page, `<path class="back" d="M`), "in the legend, and in each row but the first")
	assert.Contains(t, page, "back: refuted to 2 (1/6)")
	assert.Contains(t, page, "<b>1</b> done: reproduced</td>")
	assert.Contains(t, page, "<b>2</b> in progress, round 2/7</td>")
	assert.Contains(t, page, ">if 3: stuck or lost;")
}

// A step that consists of others is a box around them: the arrows lead to the box and away from it, and those of its parts stay in it.
// The way down comes before what leads back, so that it is drawn downwards.
func TestPartsAreInABox(t *testing.T) {
	all := steps(nil, []int64{1}, []int64{1}, []int64{1}, []int64{4}, []int64{2, 3})
	all[2].BlockedBy = []int64{1, 5}
	all[3].Parent, all[4].Parent = 3, 3
	all[5].Outcomes = []Outcome{{Name: "again", Back: 3, Max: 2}}
	g := New("", all)
	mermaid := g.Mermaid()
	assert.Contains(t, mermaid, "  subgraph g2[\"3 Step 3\"]\n    direction TB\n    s3(\"4 Step 4\"):::blocked\n"+
		"    s4(\"5 Step 5\"):::blocked\n  end\n")
	assert.Contains(t, mermaid, `  s0 ==> g2
  s0 --> s1
  s1 --> s5
  g2 ==> s5
  s3 ==> s4
  s5 -. "again (≤2)" .-> g2
`)
	assert.True(t, strings.HasSuffix(mermaid, "  class g2 blocked\n"), "the box has the state of its step")
	page := g.HTML()
	assert.Equal(t, 2, strings.Count(page, `<td class="part" style="--inside:1">`), "the page indents the parts")
}

// What is not needed takes no time.
func TestTheCriticalPathIsNeeded(t *testing.T) {
	all := steps(nil, []int64{1}, []int64{2}, []int64{1}, []int64{3, 4})
	assert.Equal(t, []int64{1, 2, 3, 5}, New("", all).Critical)
	all[1].State, all[2].State = NotNeeded, NotNeeded
	assert.Equal(t, []int64{1, 4, 5}, New("", all).Critical)
}

// The outcomes among which a step chooses are named before it has ended.
func TestOutcomesAreNamedBefore(t *testing.T) {
	all := steps(nil)
	all[0].Outcomes, all[0].Gates = []Outcome{{Name: "merge"}, {Name: "close"}, {Name: "never", Stop: true}}, []string{"check: make"}
	for _, text := range []string{New("", all).Text(80, false), New("", all).Mermaid()} {
		assert.Contains(t, text, "■ never [ends as merge or close, check: make]")
	}
	assert.Contains(t, New("", all).HTML(), "ends as merge or close; check: make")
	all[0].State, all[0].Outcome = Done, "merge"
	assert.NotContains(t, New("", all).Text(80, false), "ends as")
}

// Following the line of an outcome up the gutter leads to the step to which it leads back.
func TestGutterLeadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := dag(t, 10)
		for i := range all {
			if rapid.Bool().Draw(t, "leads back") {
				to := rapid.IntRange(0, i).Draw(t, "to")
				all[i].Outcomes = []Outcome{{Name: "a", Back: all[to].ID, Max: 1}}
			}
		}
		g := New("", all)
		at := make([]int, len(all))
		for i := range at {
			at[i] = i
		}
		text := g.gutter(len(all), at)
		for _, b := range g.backs() {
			if b.from == b.to {
				require.True(t, strings.HasSuffix(text[b.from], "↺"), "%s", strings.Join(text, "\n"))
				continue
			}
			require.Contains(t, climbed(text, b.from), b.to, "%d leads back to %d in\n%s", b.from, b.to, strings.Join(text, "\n"))
		}
	})
}

// climbed returns the rows to which the lines of the gutter lead up from row y.
func climbed(text []string, y int) (rows []int) {
	const turnsUp, vertical, turnsDown = "╰┴┘┼├", "│", "╭┬┼├"
	start := []rune(text[y])
	for x := range start {
		if !strings.ContainsRune(turnsUp, start[x]) {
			continue
		}
		for up := y - 1; up >= 0; up-- {
			c := []rune(text[up])[x]
			if strings.ContainsRune(turnsDown, c) {
				rows = append(rows, up)
			}
			if !strings.ContainsRune(vertical+"├┼", c) {
				break
			}
		}
	}
	return rows
}
