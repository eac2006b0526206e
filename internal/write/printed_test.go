package write

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/graph"
	"github.com/fsmtx/fsmtx/internal/outline"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// TestTheLeftAreCounted: of what is left out of a text some parts are listed, and the number of the others is right.
func TestTheLeftAreCounted(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "a.md:1: left out: part 1\n", maxLeft: "a.md:8: left out: part 8\n",
		maxLeft + 3: "a.md: left out: 3 more parts, see there\n"} {
		var o outline.Outline
		for i := range n {
			o.Left = append(o.Left, outline.Left{Line: i + 1, What: fmt.Sprintf("part %d", i+1)})
		}
		var out strings.Builder
		printTaken(terminal.Streams{Out: &out}, "a.md", o, ", see there")
		assert.True(t, strings.HasSuffix(out.String(), want), "%d: %s", n, out.String())
		assert.Equal(t, min(n, maxLeft+1), strings.Count(out.String(), "\n"))
	}
}

// TestWhatCanBeRepaired: a file with a mistake that is known, and not standard input.
func TestWhatCanBeRepaired(t *testing.T) {
	const known, unknown = `[{"id": "1", "subject": "A"}]`, `[{"id": 1}]`
	assert.True(t, checkSpec("a/fsm.json", []byte(known)).fixable)
	assert.False(t, checkSpec("-", []byte(known)).fixable)
	assert.False(t, checkSpec("a/fsm.json", []byte(unknown)).fixable)
}

// TestEveryStateHasASign, and is drawn in one of the ways that a drawing has.
func TestEveryStateHasASign(t *testing.T) {
	var drawn []graph.Step
	for i, w := range state.Words() {
		assert.NotEmpty(t, graph.Sign(string(w)), w)
		drawn = append(drawn, graph.Step{ID: int64(i + 1), State: graph.State(w)})
	}
	assert.NotContains(t, graph.New("All", drawn).Mermaid(), ":::\n")
	assert.NotRegexp(t, `s\d+".*:::(skipped|gone|checking|unchecked|waiting)`, graph.New("All", drawn).Mermaid())
}
