package write

import (
	"slices"

	"github.com/fsmtx/fsmtx/internal/checks"
	"github.com/fsmtx/fsmtx/internal/outline"
)

// possible returns the hints of a text without those whose commands are not known to check only, or run something that the text forbids,
// and with the commands as they have to be typed.
func possible(p checks.Project, o outline.Outline) (left []outline.Hint) {
	for _, h := range o.Hints {
		if h.Run != nil {
			var run, related []string
			for _, line := range h.Run {
				run = append(run, p.Command(line))
				related = append(related, p.Related(run[len(run)-1])...)
			}
			takesBack := func(line string) bool { return !slices.Contains(h.Run, line) && o.TakesBack(h, line) }
			if slices.Contains(run, "") || slices.ContainsFunc(related, takesBack) {
				continue
			}
			h.Run, h.Gate = run, outline.Check(run)
		}
		left = append(left, h)
	}
	return left
}
