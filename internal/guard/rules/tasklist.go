package rules

import (
	"regexp"
	"strings"
)

// taskList is what H07 counts in tasks.md.
type taskList struct {
	tasks, tested, phases int
	critique              bool
}

func (l taskList) percent() int {
	if l.tasks == 0 {
		return 0
	}
	return 100 * l.tested / l.tasks
}

// readTasks counts. A task is its line and the lines up to the next task or
// heading: a reference in its Definition of Done counts for the task, and an index
// of tests elsewhere in the file counts for none.
func readTasks(text string) taskList {
	task := regexp.MustCompile(`^- \[[ xX]\] \[T\d{3,}\]`)
	test := regexp.MustCompile(`\b(UT|INT|E2E|UAT)-\d+`)
	phase := regexp.MustCompile(`^##\s+Phase`)
	heading := regexp.MustCompile(`^#{1,6}(\s|$)`)
	var list taskList
	untested := false // inside a task that has not named a test yet
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case task.MatchString(line):
			list.tasks++
			untested = true
		case heading.MatchString(line):
			untested = false
		}
		if phase.MatchString(line) {
			list.phases++
		}
		if untested && test.MatchString(line) {
			list.tested++
			untested = false
		}
	}
	list.critique = regexp.MustCompile(`(?i)self[-_ ]critique`).MatchString(text)
	return list
}
