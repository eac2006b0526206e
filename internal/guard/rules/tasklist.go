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

// testID returns a pattern for the id of a test: UT-1 or UT-AUTH-01.
func testID(kinds ...string) string {
	var quoted []string
	for _, kind := range kinds {
		quoted = append(quoted, regexp.QuoteMeta(kind))
	}
	return `(?:` + strings.Join(quoted, "|") + `)-(?:[A-Za-z0-9]+[-_])*\d+`
}

// readTasks counts. A task is its line and the lines up to the next task or to the next
// heading that is not below it: a reference in its Definition of Done counts for the
// task, and an index of tests elsewhere in the file counts for none.
func readTasks(text string, testIDs []string) taskList {
	task := regexp.MustCompile(`^- \[[ xX]\] \[T\d{3,}\]`)
	test := regexp.MustCompile(`\b` + testID(testIDs...))
	phase := regexp.MustCompile(`^##\s+Phase`)
	heading := regexp.MustCompile(`^(#{1,6})(\s|$)`)
	var list taskList
	section := 2      // level of the heading that the tasks are under: ## Phase until there is one
	untested := false // inside a task that has not named a test yet
	inTask := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if task.MatchString(line) {
			list.tasks++
			untested, inTask = true, true
		} else if level := len(first(heading.FindStringSubmatch(line))); level > 0 && !(inTask && level > section) {
			section = level
			untested, inTask = false, false
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

// first returns the first group of a match, "" if there was none.
func first(match []string) string {
	if len(match) < 2 {
		return ""
	}
	return match[1]
}
