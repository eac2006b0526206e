package locator

import (
	"slices"
	"strings"
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
	return a != b && (skillOf(a) == skillOf(b) || distance(a, b) <= min(2, len(a)/3))
}

func skillOf(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }

// distance returns how many characters are to be inserted, deleted or replaced to get
// from a to b.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, q := range to {
			replaced := diagonal
			if r != q {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
