package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// minSubject is the smallest number of columns for a subject, even in a narrow terminal.
const minSubject = 16

// Text draws the graph with one step on each line, layers from top to bottom, and the
// dependencies as lines on the left. A line is wider than columns only if the lanes leave
// fewer than minSubject columns for the subject.
func (g *Graph) Text(columns int, colour bool) string {
	var out strings.Builder
	title := message.Line(g.Title)
	if title != "" {
		title += ": "
	}
	fmt.Fprintln(&out, title+g.summary())
	if len(g.Steps) == 0 {
		return out.String()
	}
	if path := g.path(); path != "" {
		for _, line := range terminal.Wrap(strings.Replace(path, "path", "path (*)", 1), columns) {
			fmt.Fprintln(&out, line)
		}
	}
	out.WriteString("\n")
	g.draw(&out, columns, colour, g.isChain())
	out.WriteString("\n")
	for _, note := range g.notes() {
		for _, line := range terminal.Wrap(note, columns) {
			fmt.Fprintln(&out, line)
		}
	}
	var legend []string
	for _, state := range g.states() {
		legend = append(legend, paint(Sign(string(state)), state, colour)+" "+string(state))
	}
	fmt.Fprintln(&out, strings.Join(legend, "   "))
	return out.String()
}

// states returns the states for a legend: the usual ones, and the others that steps have.
func (g *Graph) states() []State {
	states := []State{Done, InProgress, Ready, Blocked}
	for _, s := range g.Steps {
		if !slices.Contains(states, s.State) {
			states = append(states, s.State)
		}
	}
	return states
}

func paint(text string, state State, colour bool) string {
	if !colour {
		return text
	}
	return "\x1b[" + Colour(string(state)) + "m" + text + "\x1b[0m"
}

// row is a line of the drawing.
type row struct {
	gutter string // the lines that lead back
	lanes  string
	step   int // index of the step; -1 on a line without one
	column int // of the step's sign in lanes
	folded int // number of steps for which the line stands, which have ended; 0 for one of a step
}

func (g *Graph) draw(out *strings.Builder, columns int, colour, isChain bool) {
	rows := g.folded(g.rows())
	widest := 0
	for _, r := range rows {
		widest = max(widest, terminal.Width(r.lanes))
	}
	columns -= terminal.Width(rows[0].gutter)
	digits := 1
	for _, s := range g.Steps {
		digits = max(digits, len(s.number()))
	}
	layerDigits := len(fmt.Sprint(g.Layers))
	// The subjects are aligned unless the lanes leave no room for that.
	aligned := min(widest, max(0, columns-layerDigits-digits-minSubject-6))
	layer := 0
	for _, r := range rows {
		if r.step < 0 {
			note := ""
			if r.folded > 0 {
				note = fmt.Sprintf("  (%d more, which have ended; --format html has all)", r.folded)
			}
			fmt.Fprintln(out, strings.TrimRight(strings.Repeat(" ", layerDigits+2)+r.gutter+r.lanes+note, " "))
			continue
		}
		s := g.Steps[r.step]
		number := strings.Repeat(" ", layerDigits)
		if s.Layer != layer {
			layer = s.Layer
			number = fmt.Sprintf("%*d", layerDigits, layer)
		}
		lanes := r.lanes + strings.Repeat(" ", max(0, aligned-terminal.Width(r.lanes)))
		critical := " "
		switch {
		case isChain:
			critical = ""
		case s.Critical:
			critical = "*"
		}
		label := fmt.Sprintf("%s%*s %s", critical, digits, s.number(), g.label(s))
		room := max(minSubject, columns-layerDigits-3-terminal.Width(lanes))
		runes := []rune(lanes)
		sign := paint(string(runes[r.column]), s.State, colour)
		fmt.Fprintf(out, "%s  %s%s%s%s %s\n", number, r.gutter, string(runes[:r.column]), sign, string(runes[r.column+1:]),
			paint(terminal.Cut(label, room), s.State, colour))
	}
}

// most is how many steps are drawn in full, as in fsmtx status.
const most = 50

// folded returns the rows with one line for those between the first and the last of several steps that have ended and follow each other
// in one lane, if there are more than most steps and one is open.
func (g *Graph) folded(rows []row) (all []row) {
	if len(g.Steps) <= most || !slices.ContainsFunc(g.Steps, func(s Step) bool { return !s.State.hasEnded() }) {
		return rows
	}
	follows := func(a, b row) bool {
		return b.step >= 0 && g.Steps[b.step].State.hasEnded() && a.lanesBut() == b.lanesBut() && a.column == b.column && a.gutter == b.gutter
	}
	for from := 0; from < len(rows); {
		r := rows[from]
		to := from + 1
		for r.step >= 0 && g.Steps[r.step].State.hasEnded() && to < len(rows) && follows(r, rows[to]) {
			to++
		}
		if hidden := to - from - 2; hidden > 1 {
			fold := row{gutter: r.gutter, lanes: lanesWith(r, "⋮"), step: -1, column: r.column, folded: hidden}
			all = append(all, r, fold, rows[to-1])
		} else {
			all = append(all, rows[from:to]...)
		}
		from = to
	}
	return all
}

// lanesBut returns the lanes without the sign of the step.
func (r row) lanesBut() string { return lanesWith(r, " ") }

// lanesWith returns the lanes with another sign for the step.
func lanesWith(r row, sign string) string {
	cells := []rune(r.lanes)
	return string(cells[:r.column]) + sign + string(cells[r.column+1:])
}

// free marks a lane that is not in use.
const free = -1

// rows draws the steps in layers, and beside them the outcomes that lead back.
func (g *Graph) rows() []row {
	rows := g.layered()
	at := make([]int, len(g.Steps))
	for y, r := range rows {
		if r.step >= 0 {
			at[r.step] = y
		}
	}
	for y, gutter := range g.gutter(len(rows), at) {
		rows[y].gutter = gutter
	}
	return rows
}

// layered draws the steps in layers. A lane leads down to one step; the lines from all blockers
// of that step join it.
func (g *Graph) layered() (rows []row) {
	var lanes []int // for each lane the index of the step that it leads to, or free
	order := g.order()
	for len(order) > 0 {
		i := g.next(&order, lanes)
		at := slices.Index(lanes, i)
		if at < 0 {
			at = takeLane(&lanes, i)
			if len(rows) > 0 && isDrawn(rows[len(rows)-1].lanes, at) {
				// Directly below another step it would seem to come after that one.
				rows = append(rows, row{lanes: strings.TrimRight(lanesText(lanes, at, " "), " "), step: -1})
			}
		}
		rows = append(rows, row{lanes: lanesText(lanes, at, Sign(string(g.Steps[i].State))), step: i, column: 2 * at})
		lanes[at] = free
		if text := g.branch(&lanes, at, i); text != "" {
			rows = append(rows, row{lanes: text, step: -1})
		}
		for len(lanes) > 0 && lanes[len(lanes)-1] == free {
			lanes = lanes[:len(lanes)-1]
		}
	}
	return rows
}

// next removes from order the step that is drawn next, and returns it: the step of the next
// layer whose lane is leftmost, so that few lines cross.
func (g *Graph) next(order *[]int, lanes []int) int {
	best, bestLane := 0, len(lanes)
	for n, i := range *order {
		if g.Steps[i].Layer != g.Steps[(*order)[0]].Layer {
			break
		}
		if lane := slices.Index(lanes, i); lane >= 0 && lane < bestLane {
			best, bestLane = n, lane
		}
	}
	i := (*order)[best]
	*order = slices.Delete(*order, best, best+1)
	return i
}

// takeLane gives a step the first free lane, and returns it.
func takeLane(lanes *[]int, step int) int {
	at := slices.Index(*lanes, free)
	if at < 0 {
		at = len(*lanes)
		*lanes = append(*lanes, free)
	}
	(*lanes)[at] = step
	return at
}

// isDrawn reports whether a line of the drawing has a character in a lane.
func isDrawn(line string, lane int) bool {
	cells := []rune(line)
	return 2*lane < len(cells) && cells[2*lane] != ' '
}

// lanesText draws the lanes, with the sign of a step in lane at.
func lanesText(lanes []int, at int, sign string) string {
	cells := make([]string, len(lanes))
	for x, target := range lanes {
		switch {
		case x == at:
			cells[x] = sign
		case target != free:
			cells[x] = "│"
		default:
			cells[x] = " "
		}
	}
	return strings.Join(cells, " ")
}

// branch leads lines from the step in lane at to the steps after it. It returns the line of
// text that draws them, or "" if there is nothing to draw. An arrowhead marks a line that
// joins a lane; without one, lines only cross.
func (g *Graph) branch(lanes *[]int, at, step int) string {
	joined, made := map[int]bool{}, map[int]bool{}
	for _, target := range g.reduced[step] {
		if x := slices.Index(*lanes, target); x >= 0 {
			joined[x] = true
			continue
		}
		if (*lanes)[at] == free {
			(*lanes)[at] = target
			made[at] = true
			continue
		}
		made[takeLane(lanes, target)] = true
	}
	first, last := at, at
	for x := range *lanes {
		if joined[x] || made[x] {
			first, last = min(first, x), max(last, x)
		}
	}
	if first == last {
		return ""
	}
	var text strings.Builder
	for x, target := range *lanes {
		arms := 0
		for arm, has := range map[int]bool{left: x > first && x <= last, right: x >= first && x < last, up: x == at, down: made[x]} {
			if has {
				arms |= arm
			}
		}
		toRight := arms&right != 0
		if target != free && x != at && !made[x] {
			arms = up | down
		}
		text.WriteString(corner(arms))
		switch {
		case joined[x] && x < at:
			text.WriteString("◂")
		case joined[x+1] && x+1 > at:
			text.WriteString("▸")
		case toRight:
			text.WriteString("─")
		default:
			text.WriteString(" ")
		}
	}
	return strings.TrimRight(text.String(), " ")
}

// The arms of a box-drawing character.
const (
	left = 1 << iota
	right
	down
	up
)

// corners are the box-drawing characters by their arms.
const corners = " ╴╶─╷╮╭┬╵╯╰┴│┤├┼"

func corner(arms int) string { return string([]rune(corners)[arms]) }
