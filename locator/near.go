package locator

import (
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/spelling"
)

// Near returns the names that the client knows in cwd and that are like the command
// name, sorted: with the same skill's name, or with one or two other characters. Names
// in the frontmatter and of nested skills are among them.
func (l *Locator) Near(command, cwd string) []string {
	s := &search{Locator: l, command: command, cwd: cwd}
	all, _ := s.everySkill()
	var near []string
	for _, known := range all {
		if s.isSkill(known.folder) {
			near = append(near, known.leading(l, cwd, func(name string) bool { return isNear(command, name) })...)
		}
	}
	slices.Sort(near)
	return slices.Compact(near)
}

func isNear(a, b string) bool {
	return a != b && (skillOf(a) == skillOf(b) || spelling.Distance(a, b, 3) <= min(2, len(a)/3))
}

func skillOf(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }
