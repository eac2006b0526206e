package show

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// screen returns the rows of the state for a terminal: those that are always seen, and the others.
func (st *status) screen() (head, body []viewRow) {
	state := "ready"
	if progress.WaitsForPerson(st.steps) {
		state = "unchecked"
	}
	if line := lineOf(progress.Line(st.steps), 0, false); line != "" {
		head = append(head, viewRow{text: line, state: state})
	}
	for _, trouble := range st.troubles {
		head = append(head, viewRow{text: fmt.Sprintf("not fully enforced: %v", trouble), state: "unchecked"})
	}
	v := &view{folded: true}
	if len(st.steps.Steps) == 0 {
		v.line("no workflow is in the list")
	}
	st.workflowsTo(v)
	for n, t := range st.manual() {
		if n == 0 {
			v.line("")
		}
		v.line("  #%s %s (%s%s)", t.ID, t.Subject, t.Status, owned(t))
	}
	return head, v.rows
}

// screenLines returns what the terminal shows: the head, and as much of the body as there is room for, with the step that is
// worked on.
func screenLines(head, body []viewRow, columns, rows int, colour bool) (lines []string) {
	for _, r := range head[:min(len(head), max(rows-2, 1))] {
		lines = append(lines, r.draw(columns, colour))
	}
	room := max(rows-len(lines), 1)
	for len(body) > room && body[0].text == "" {
		body = body[1:] // an empty line is of less use than a step
	}
	if len(body) > room {
		room = max(room-1, 1) // for the line that says how many are not shown
	}
	top := max(0, min(around(body, room), len(body)-room))
	shown := body[top:min(top+room, len(body))]
	for _, r := range shown {
		lines = append(lines, r.draw(columns, colour))
	}
	if above, below := top, len(body)-top-len(shown); above+below > 0 {
		lines = append(lines, terminal.Cut(strings.TrimSpace(more("↑", above)+"  "+more("↓", below)), columns))
	}
	return lines
}

func more(sign string, n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s %d more", sign, n)
}

// around returns the first row of a page on which the step that is worked on, with its details,
// is seen: a step in progress, else one that is ready.
func around(body []viewRow, room int) int {
	at := -1
	for _, state := range []string{"in progress", "checking", "unchecked", "ready"} {
		if at = slices.IndexFunc(body, func(r viewRow) bool { return r.state == state && !r.detail }); at >= 0 {
			break
		}
	}
	if at < 0 {
		return 0
	}
	end := at + 1
	for end < len(body) && body[end].detail {
		end++
	}
	first := at - (room-(end-at))/3 // a third of what is left is above it
	return max(0, min(first, at))
}
