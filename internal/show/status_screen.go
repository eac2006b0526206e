package show

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// screen returns the rows of the state for a terminal: those that are always seen, and those that
// scroll. folded folds what is done.
func (st *status) screen(folded bool) (head, body []viewRow) {
	if st.interrupted != "" {
		return []viewRow{{text: st.interrupted, state: state.Unchecked}}, nil
	}
	word := state.Ready
	if len(st.waits().Waits) > 0 {
		word = state.Awaits
	}
	var parts []string
	for _, p := range progress.Line(st.steps) {
		parts = append(parts, p.Text)
	}
	if len(parts) > 0 {
		head = append(head, viewRow{text: strings.Join(parts, " | "), state: word})
	}
	for _, trouble := range st.troubles {
		head = append(head, viewRow{text: fmt.Sprintf("not fully enforced: %v", trouble), state: state.Unchecked})
	}
	for _, text := range slices.Concat(st.cleared, st.steps.Differs()) {
		head = append(head, viewRow{text: text, state: state.Unchecked})
	}
	v := &view{folded: folded}
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
	if !folded {
		st.lastTo(v.line)
	}
	return head, v.rows
}

// window is the part of the rows that a terminal shows.
type window struct {
	whole  bool // nothing is folded
	manual bool // the person has scrolled; else the step that is worked on stays in view
	top    int  // index of the first row that is shown
	page   int  // how many rows were shown
}

// press changes the window as the key says.
func (f *window) press(key string) {
	by := map[string]int{"k": -1, "\x1b[A": -1, "\x1bOA": -1, "j": 1, "\x1b[B": 1, "\x1bOB": 1, "\x1b[5~": -f.page, "b": -f.page,
		"\x1b[6~": f.page, " ": f.page,
		"g": -f.top, "\x1b[H": -f.top, "\x1b[1~": -f.top, "G": 1 << 30, "\x1b[F": 1 << 30, "\x1b[4~": 1 << 30}
	switch step, moves := by[key]; {
	case moves:
		f.manual, f.top = true, f.top+step
	case key == "d":
		f.whole, f.manual = !f.whole, false
	case key == "f" || key == "\x1b":
		f.manual = false
	}
}

// keys explains the keys, the most important first.
const keys = "q quits  ↑↓ scrolls  f follows the work  d shows all that is done"

// lines returns what the terminal shows: the head, as much of the body as there is room for, and
// the keys. Unless the person has scrolled, the step that is worked on is in view.
func (f *window) lines(head, body []viewRow, columns, rows int, colour bool) (lines []string) {
	head, body = wrapCommands(head, columns), wrapCommands(body, columns)
	for _, r := range head[:min(len(head), max(rows-3, 1))] {
		lines = append(lines, r.draw(columns, colour))
	}
	for len(body) > 0 && body[0].text == "" && len(body) > rows-len(lines)-1 {
		body = body[1:] // an empty line is of less use than a step
	}
	room := max(rows-len(lines)-1, 1)
	if len(body) > room {
		room = max(room-1, 1) // for the line that says how many are not shown
	}
	f.page = room
	if !f.manual {
		f.top = around(body, room)
	}
	f.top = max(0, min(f.top, len(body)-room))
	shown := body[f.top:min(f.top+room, len(body))]
	for _, r := range shown {
		lines = append(lines, r.draw(columns, colour))
	}
	if above, below := f.top, len(body)-f.top-len(shown); above+below > 0 {
		lines = append(lines, terminal.Cut(strings.Join(slices.DeleteFunc([]string{more("↑", above), more("↓", below)},
			func(s string) bool { return s == "" }), "  "), columns))
	}
	return append(lines, terminal.Cut(keys, columns))
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
	for _, word := range []state.Word{state.InProgress, state.Checking, state.Unchecked, state.Awaits, state.Ready} {
		if at = slices.IndexFunc(body, func(r viewRow) bool { return r.state == word && !r.detail }); at >= 0 {
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
