package locator

import (
	"slices"

	"github.com/fsmtx/fsmtx/internal/message"
)

// Near returns, sorted, the names that the client knows in cwd and that are similar to
// command: they have the same part after the last colon, or differ from command in at most
// two characters. Names in frontmatters and of nested skills are included.
func (l *Locator) Near(command, cwd string) []string {
	s := l.search(command, cwd, &shared{})
	all, _ := s.everySkill()
	var near []string
	for _, known := range all {
		if s.isSkill(known.folder) {
			near = append(near, s.usable(known, func(name string) bool { return message.SimilarNames(command, name) })...)
		}
	}
	slices.Sort(near)
	return slices.Compact(near)
}
