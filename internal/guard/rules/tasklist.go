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

// testID returns a pattern for the ids of tests of these kinds: UT-1 or UT-AUTH-01.
func testID(kinds ...string) string {
	var quoted []string
	for _, kind := range kinds {
		quoted = append(quoted, regexp.QuoteMeta(kind))
	}
	return `(?:` + strings.Join(quoted, "|") + `)-(?:[A-Za-z0-9]+[-_])*\d+`
}

// readTasks counts the tasks, those that name a test, and the phases. A task consists of
// its line and the lines up to the next task or to the next heading that is not below it. A
// test in its Definition of Done therefore counts for the task, and a test in an index
// elsewhere in the file for no task.
func readTasks(text string, testIDs []string) taskList {
	task := regexp.MustCompile(`^- \[[ xX]\] \[T\d{3,}\]`)
	test := regexp.MustCompile(`\b` + testID(testIDs...))
	phase := regexp.MustCompile(`^##\s+Phase`)
	heading := regexp.MustCompile(`^#{1,6}(\s|$)`)
	var list taskList
	section := 2      // level of the heading above the tasks; 2 (## Phase) before the first heading
	untested := false // the line is in a task that has not named a test yet
	inTask := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if task.MatchString(line) {
			list.tasks++
			untested, inTask = true, true
		} else if level := strings.Count(heading.FindString(line), "#"); level > 0 && !(inTask && level > section) {
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
