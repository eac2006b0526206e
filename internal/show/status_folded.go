package show

import (
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/internal/state"
)

// rows joins the steps that are not needed for the same reason, where they come one after the
// other in the tree. Every other step is a row of its own.
func rows(s *state.State, all []node) (rows [][]node) {
	for i, n := range all {
		if i > 0 && isFolded(s, n) && isFolded(s, all[i-1]) && n.WhyNotNeeded() == all[i-1].WhyNotNeeded() {
			rows[len(rows)-1] = append(rows[len(rows)-1], n)
		} else {
			rows = append(rows, []node{n})
		}
	}
	return rows
}

// isFolded reports whether a step is shown without its gates and the last decision about it: it is
// not needed, and no other workflow is under it.
func isFolded(s *state.State, n node) bool { return n.NotNeeded && len(s.Under(n.Current)) == 0 }

// foldedText names the steps of a row that are not needed.
func foldedText(row []node) string {
	var names []string
	for _, n := range row {
		names = append(names, fmt.Sprintf("#%d %s", n.ID, n.Subject))
	}
	why := row[0].WhyNotNeeded()
	if why != "" {
		why = ": " + why
	}
	return strings.Join(names, ", ") + " (not needed" + why + ")"
}
