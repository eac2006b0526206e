package write

import (
	"slices"

	"github.com/fsmtx/fsmtx/internal/checks"
	"github.com/fsmtx/fsmtx/internal/outline"
)

// possible returns the hints of a text without those whose commands are not known to check only, and with the commands as they have
// to be typed.
func possible(p checks.Project, all []outline.Hint) (left []outline.Hint) {
	for _, h := range all {
		if h.Run != nil {
			var run []string
			for _, line := range h.Run {
				run = append(run, p.Command(line))
			}
			if slices.Contains(run, "") {
				continue
			}
			h.Run, h.Gate = run, outline.Check(run)
		}
		left = append(left, h)
	}
	return left
}
