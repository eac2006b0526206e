package graph

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// steps returns steps 1, 2, 3 and so on, each with the ids that it waits for.
func steps(blockedBy ...[]int64) []Step {
	all := make([]Step, len(blockedBy))
	for i, ids := range blockedBy {
		all[i] = Step{ID: int64(i + 1), Subject: fmt.Sprintf("Step %d", i+1), BlockedBy: ids}
	}
	return all
}

// dag draws an acyclic workflow of at most that many steps.
func dag(t *rapid.T, most int) []Step {
	n := rapid.IntRange(0, most).Draw(t, "steps")
	all := make([][]int64, n)
	for i := range all {
		if i > 0 {
			all[i] = rapid.SliceOfN(rapid.Int64Range(1, int64(i)), 0, 3).Draw(t, "blockedBy")
		}
	}
	return steps(all...)
}

func TestFigures(t *testing.T) {
	// A diamond with a tail. The dependency of 4 on 1 follows from others.
	g := New("d", steps(nil, []int64{1}, []int64{1}, []int64{2, 3, 1}, []int64{4}))
	assert.Equal(t, 4, g.Layers)
	assert.Equal(t, 2, g.Width)
	assert.Equal(t, []int64{1, 2, 4, 5}, g.Critical)
	assert.Equal(t, "5 steps in 4 layers, width 2", g.summary())
	assert.Equal(t, "critical path of 4 steps: 1 → 2 → 4 → 5", g.path())
	assert.Equal(t, []string{"dependencies that follow from others, not drawn: 1"}, g.notes())
}

// The critical path of a chain is every step, so it is not marked.
func TestAChainHasNoMarks(t *testing.T) {
	chain, one, two := New("c", steps(nil, []int64{1}, []int64{2, 1})), New("o", steps(nil)), New("t", steps(nil, []int64{1}, nil))
	assert.Equal(t, []int64{1, 2, 3}, chain.Critical)
	assert.Equal(t, "3 steps, one after another", chain.summary())
	assert.Equal(t, "1 step", one.summary())
	assert.Equal(t, "3 steps in 2 layers, width 2", two.summary())
	for g, marks := range map[*Graph]bool{chain: false, one: false, two: true} {
		text, page := g.Text(60, false), g.HTML()
		assert.Equal(t, marks, strings.Contains(text, "critical path (*) of 2 steps: 1 → 2\n"), text)
		assert.Equal(t, marks, strings.Contains(text, "*"), text)
		assert.Equal(t, marks, strings.Contains(page, "critical path"))
		assert.Equal(t, marks, strings.Contains(page, `class="step ready critical"`))
		assert.Equal(t, marks, strings.Contains(g.Mermaid(), "==>"))
	}
}

func TestStates(t *testing.T) {
	all := steps(nil, []int64{1}, []int64{2}, []int64{9}, []int64{3})
	all[0].State, all[1].State = Done, InProgress
	g := New("", all)
	var states []State
	for _, s := range g.Steps {
		states = append(states, s.State)
	}
	assert.Equal(t, []State{Done, InProgress, Blocked, Ready, Blocked}, states, "a blocker that is not in the graph counts as done")
}

func TestCycles(t *testing.T) {
	g := New("", steps([]int64{3}, []int64{1}, []int64{2}, []int64{4}))
	assert.Len(t, g.Cyclic, 2)
	assert.Equal(t, 3, g.Layers)
	assert.Contains(t, strings.Join(g.notes(), "\n"), "which closes a cycle")
	assert.Contains(t, g.Mermaid(), "s3 --> s3")
}

func TestText(t *testing.T) {
	all := steps(nil, nil, []int64{1, 2}, []int64{1}, []int64{3, 4}, []int64{2}, nil)
	all[0].State, all[3].State = Done, InProgress
	all[2].Subject = "A subject that is far too long for a narrow terminal"
	all[4].Gates = []string{"check: make"}
	assert.Equal(t, `w: 7 steps in 3 layers, width 4, 1 done
critical path (*) of 3 steps: 1 → 3 → 5

1  ●       *1 Step 1
   ├─╮
   │ │ ○    2 Step 2
   │◂│─┤
   │ │ │ ○  7 Step 7
2  ◌ │ │   *3 A subject that is far to…
`, strings.Join(strings.Split(New("w", all).Text(39, false), "\n")[:9], "\n")+"\n")
	coloured := New("w", all).Text(60, true)
	assert.Contains(t, coloured, "\x1b[32m●\x1b[0m")
	assert.Contains(t, coloured, "\x1b[33m◐\x1b[0m")
	assert.Contains(t, coloured, "[check: make]")
}

// TestTextFoldsWhatHasEnded of many steps as long as one is open.
func TestTextFoldsWhatHasEnded(t *testing.T) {
	var blockers [][]int64
	for i := range int64(200) {
		blockers = append(blockers, []int64{i})
	}
	blockers[0] = nil
	all := steps(blockers...)
	for i := range 150 {
		all[i].State = Done
	}
	all[40].State, all[150].State = Skipped, InProgress
	text := New("w", all).Text(80, false)
	lines := strings.Split(text, "\n")
	require.Less(t, len(lines), 65, text)
	assert.Contains(t, text, "\n  1  ●   1 Step 1\n"+
		"     ⋮  (148 more, which have ended; --format html has all)\n150  ● 150 Step 150\n151  ◐ 151 Step 151\n")
	for i := range all {
		all[i].State = Done
	}
	assert.Contains(t, New("w", all).Text(80, false), "● 100 Step 100", "nothing is open")
	assert.Contains(t, New("w", all[:most]).Text(80, false), "25 Step 25", "not many")
}

// Following the lines from each step of the drawing leads exactly to the steps after it.
func TestTextShowsTheDependencies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := New("", dag(t, 14))
		var drawing [][]rune
		var at []int // by row: the index of the step, or -1
		for _, r := range g.rows() {
			drawing, at = append(drawing, []rune(r.lanes)), append(at, r.step)
		}
		text := ""
		for _, line := range drawing {
			text += string(line) + "\n"
		}
		for y, i := range at {
			if i < 0 {
				continue
			}
			x := slices.IndexFunc(drawing[y], func(r rune) bool { return strings.ContainsRune("●◐○◌", r) })
			got := reached(drawing, at, y, x)
			want := slices.Sorted(slices.Values(g.reduced[i]))
			require.Equal(t, fmt.Sprint(want), fmt.Sprint(got), "step %d in\n%s", g.Steps[i].ID, text)
		}
	})
}

// reached returns the steps to which the lines lead down from row y and column x.
func reached(drawing [][]rune, at []int, y, x int) []int {
	cell := func(y, x int) rune {
		if y >= len(drawing) || x < 0 || x >= len(drawing[y]) {
			return ' '
		}
		return drawing[y][x]
	}
	found := []int{}
	var down func(y, x int)
	var across func(y, x, dx int)
	down = func(y, x int) { // enters the cell from above
		switch r := cell(y, x); {
		case at[min(y, len(at)-1)] >= 0 && strings.ContainsRune("●◐○◌", r) && y < len(at):
			found = append(found, at[y])
		case r == '│':
			down(y+1, x)
		case strings.ContainsRune("╰╯┴├┤┼", r):
			if strings.ContainsRune("├┤┼", r) {
				down(y+1, x)
			}
			if strings.ContainsRune("╰┴├┼", r) {
				across(y, x+1, 1)
			}
			if strings.ContainsRune("╯┴┤┼", r) {
				across(y, x-1, -1)
			}
		}
	}
	across = func(y, x, dx int) { // enters the cell from the side
		switch r := cell(y, x); r {
		case '─', '│':
			across(y, x+dx, dx)
		case '▸', '◂':
			down(y+1, x+dx)
			across(y, x+dx, dx)
		case '╮', '╭':
			down(y+1, x)
		case '┬':
			down(y+1, x)
			across(y, x+dx, dx)
		}
	}
	down(y+1, x)
	slices.Sort(found)
	return found
}

func TestTextFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := dag(t, 12)
		for i := range all {
			all[i].Subject = strings.Repeat(rapid.SampledFrom([]string{"word ", "日本", "x\n\x1b[31m"}).Draw(t, "subject"), 12)
		}
		text := New("title", all).Text(60, false)
		for line := range strings.Lines(text) {
			require.LessOrEqual(t, terminal.Width(strings.TrimSuffix(line, "\n")), 60, "%s", text)
		}
		require.Equal(t, text, message.Text(text))
	})
}

// The test finds the largest set of steps of which none comes after another by trying all
// sets.
func TestWidthIsTheLargestAntichain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := New("", dag(t, 9))
		reach := g.reachable()
		best := 0
		for set := range 1 << len(g.Steps) {
			n, ok := 0, true
			for i := range g.Steps {
				if set>>i&1 == 0 {
					continue
				}
				n++
				for j := range g.Steps {
					ok = ok && (set>>j&1 == 0 || !reach[i][j])
				}
			}
			if ok {
				best = max(best, n)
			}
		}
		require.Equal(t, best, g.Width)
	})
}

// The page draws the lines of the text: a sign is joined to what is above and below it.
func TestPageDrawsTheLinesOfTheText(t *testing.T) {
	rows := New("", steps(nil, []int64{1}, []int64{1}, []int64{2, 3}, nil)).rows()
	var lines, paths []string
	for y, r := range rows {
		lines = append(lines, r.lanes)
		paths = append(paths, regexp.MustCompile(`class="line" d="([^"]*)"`).FindStringSubmatch(svgLanes(rows, y, cell))[1])
	}
	assert.Equal(t, []string{"○", "├─╮", "│ │ ○", "◌ │", "│ ◌", "│◂╯", "◌"}, lines)
	assert.Equal(t, []string{
		"M4 10V20",
		"M4 10h4M4 10V20M4 10V0" + "M12 10h-4M12 10h4" + "M20 10h-4M20 10V20",
		"M4 10V20M4 10V0" + "M20 10V20M20 10V0",
		"M4 10V20M4 10V0" + "M20 10V20M20 10V0",
		"M4 10V20M4 10V0" + "M20 10V20M20 10V0",
		"M4 10V20M4 10V0" + "M12 10h-4M12 10h4" + "M20 10h-4M20 10V0",
		"M4 10V0",
	}, paths)
}

func TestMarkupIsEscaped(t *testing.T) {
	all := steps(nil, []int64{1}, nil)
	all[0].Subject = "<script>alert(\"1\") & `#` \\ \x1b[31m</script>"
	all[0].Description = "<b>{{steps}}"
	g := New("a\"b</title>", all)
	page := g.HTML()
	assert.NotContains(t, page, "<script>alert")
	assert.NotContains(t, page, "</title></title>")
	assert.NotContains(t, page, "\x1b")
	assert.Contains(t, page, "&lt;b&gt;{{steps}}")
	assert.Equal(t, 1, strings.Count(page, "<tbody>"))
	assert.NotContains(t, page, "://", "the page loads nothing")
	assert.Contains(t, g.Mermaid(), `s0["1 #lt;script#gt;alert(#quot;1#quot;) & #96;#35;#96; #92; #92;x1b[31m#lt;/script#gt;"]:::ready`)
	assert.Contains(t, g.Mermaid(), "s0 ==> s1\n")
}

func TestNoSteps(t *testing.T) {
	g := New("empty", nil)
	assert.Equal(t, "empty: no steps\n", g.Text(60, false))
	page := g.HTML()
	assert.Contains(t, page, "no steps")
	assert.NotContains(t, page, "critical path of 0 steps")
	assert.NotRegexp(t, `(width|viewBox)="[^"]* -`, page, "a drawing has no negative size")
	assert.Equal(t, 0, g.Width)
}
