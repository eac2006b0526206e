package graph

import (
	_ "embed"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
)

//go:embed page.html
var page string

// HTML returns a self-contained page: the drawing of the text, with a row for each step that also has its description.
func (g *Graph) HTML() string {
	return strings.NewReplacer(
		"{{title}}", html.EscapeString(message.Line(g.Title)),
		"{{summary}}", html.EscapeString(g.summary()),
		"{{path}}", html.EscapeString(plain(g.path())),
		"{{notes}}", g.htmlNotes(),
		"{{legend}}", g.legend(),
		"{{steps}}", g.htmlRows(),
	).Replace(page)
}

func (g *Graph) htmlNotes() string {
	var out strings.Builder
	for _, note := range g.notes() {
		fmt.Fprintf(&out, "<p>%s</p>\n", html.EscapeString(plain(note)))
	}
	return out.String()
}

// class returns the class of a state in the page's style sheet.
func class(s State) string { return strings.ReplaceAll(string(s.look()), " ", "-") }

// plain replaces the signs of the text graph, which not every font has, by words.
func plain(text string) string {
	return strings.NewReplacer("↺ ", "back: ", "▸ ", "", "■ ", "ends: ", "→", "to", "≤", "at most ").Replace(text)
}

func (g *Graph) htmlRows() string {
	if len(g.Steps) == 0 {
		return ""
	}
	var out strings.Builder
	rows := g.rows()
	widest := 0
	for _, r := range rows {
		widest = max(widest, len([]rune(r.gutter+r.lanes)))
	}
	width := min(cell, maxWidth/float64(widest)) // of a character
	for y, r := range rows {
		lanes := fmt.Sprintf(`<td class="lanes" style="min-width:%.0fpx">%s`, float64(widest)*width+cell, svgLanes(rows, y, width))
		if r.step < 0 {
			out.WriteString(`<tr class="join">` + lanes + "</td><td></td><td></td></tr>\n")
			continue
		}
		s := g.Steps[r.step]
		state := strings.TrimSuffix(string(s.State)+": "+s.Outcome, ": ")
		if s.Round > 1 {
			state += ", " + s.round()
		}
		fmt.Fprintf(&out, `<tr class="step %s" data-step="%d" data-after="%s" tabindex="0">%s<span class="at" style="left:%.1fpx">%s</span></td>`,
			g.classes(s), s.ID, g.waits(r.step), lanes, (float64(len([]rune(r.gutter))+r.column)+0.5)*width, sign(s.State))
		fmt.Fprintf(&out, "<td><b>%s</b> %s</td><td%s>%s</td></tr>\n", html.EscapeString(message.Line(s.number())),
			html.EscapeString(message.Line(state)), g.inside(s), g.details(s))
	}
	return out.String()
}

// classes returns the classes of a step in the page's style sheet.
func (g *Graph) classes(s Step) string {
	if s.Critical && !g.isChain() {
		return class(s.State) + " critical"
	}
	return class(s.State)
}

// inside returns the class of the text of a step that is a part of others, by how many, or "".
func (g *Graph) inside(s Step) string {
	if around := g.around(s.ID); len(around) > 0 {
		return fmt.Sprintf(` class="part" style="--inside:%d"`, min(len(around), maxInside))
	}
	return ""
}

// maxInside is how deep parts are indented.
const maxInside = 6

// waits returns the ids of the steps that the step at index j is drawn after.
func (g *Graph) waits(j int) string {
	var ids []string
	for i, after := range g.reduced {
		if slices.Contains(after, j) {
			ids = append(ids, fmt.Sprint(g.Steps[i].ID))
		}
	}
	return strings.Join(ids, " ")
}

// details returns the subject of a step, its description, and what is to be known about it.
func (g *Graph) details(s Step) string {
	text := "<b>" + html.EscapeString(message.Line(s.Subject)) + "</b>"
	if s.Description != "" {
		text += "<p>" + strings.ReplaceAll(html.EscapeString(message.Text(s.Description)), "\n", "&#10;") + "</p>"
	}
	var more []string
	for _, c := range s.When {
		more = append(more, "if "+g.number(c.Step)+": "+strings.Join(c.Outcomes, " or "))
	}
	if s.Parent != 0 {
		more = append(more, "part of "+g.number(s.Parent))
	}
	if items := s.items(); items != "" {
		more = append(more, items)
	}
	if more = append(append(more, g.effects(s)...), s.notes()...); len(more) > 0 {
		text += "<p class=\"gates\">" + html.EscapeString(plain(message.Line(strings.Join(more, "; ")))) + "</p>"
	}
	return text
}

// The width of a character of the drawing, and the largest of a row, in pixels: a page is read on a phone, too.
const (
	cell     = 8
	maxWidth = 160
)

// svgLanes draws the lines of a row, those that lead back dashed. A character is so wide.
func svgLanes(rows []row, y int, width float64) string {
	var back, line strings.Builder
	gutter := len([]rune(rows[y].gutter))
	cells := []rune(rows[y].gutter + rows[y].lanes)
	for x, r := range cells {
		path := &line
		if x < gutter {
			path = &back
		}
		has := armsOf(r)
		if x == gutter+rows[y].column && rows[y].step >= 0 {
			has = armsAt(rows, y-1, x)&down<<1 | armsAt(rows, y+1, x)&up>>1
		}
		for bit, d := range []string{"h-4", "h4", "V20", "V0"} {
			if has&(1<<bit) != 0 {
				fmt.Fprintf(path, "M%d 10%s", x*cell+cell/2, d)
			}
		}
	}
	return fmt.Sprintf(`<svg viewBox="0 0 %d 20" width="%.1f" preserveAspectRatio="none"><path class="back" d="%s"/>`+
		`<path class="line" d="%s"/></svg>`,
		len(cells)*cell, float64(len(cells))*width, back.String(), line.String())
}

// armsAt returns the arms of a character of the drawing, 0 outside.
func armsAt(rows []row, y, x int) int {
	if y < 0 || y >= len(rows) {
		return 0
	}
	cells := []rune(rows[y].gutter + rows[y].lanes)
	if x >= len(cells) {
		return 0
	}
	return armsOf(cells[x])
}

// armsOf returns the arms of a character. The sign of a step is between those above and below it.
func armsOf(r rune) int {
	switch at := strings.IndexRune(corners, r); {
	case strings.ContainsRune("▸◂↺", r):
		return left | right
	case at >= 0:
		return len([]rune(corners[:at]))
	}
	return up | down
}

// legend explains the signs of the states, and the lines.
func (g *Graph) legend() string {
	var out strings.Builder
	for _, state := range g.states() {
		fmt.Fprintf(&out, "<span>%s %s</span> ", sign(state), state)
	}
	if len(g.backs()) > 0 {
		out.WriteString(`<span><svg class="inline" width="26" height="13"><path class="back" d="M1 7h24"/></svg> leads back</span> `)
	}
	if !g.isChain() {
		out.WriteString(`<span class="critical">critical path</span>`)
	}
	return out.String()
}

// sign draws the sign of a state: no font is needed for it.
func sign(s State) string {
	shape := `<circle class="sign" cx="6.5" cy="6.5" r="5.5"/>`
	switch s.look() {
	case Done:
		shape = `<circle class="sign full" cx="6.5" cy="6.5" r="5.5"/><path class="tick" d="M3.5 6.8l2.2 2.2 4-4.6"/>`
	case InProgress:
		shape += `<path class="half" d="M6.5 1a5.5 5.5 0 0 0 0 11z"/>`
	case NotNeeded:
		shape += `<path class="sign" d="M2.7 10.3l7.6-7.6"/>`
	case Skipped:
		shape = `<path class="sign" d="M2 2.5l4 4-4 4M7 2.5l4 4-4 4"/>`
	case Blocked:
		shape = `<circle class="sign dotted" cx="6.5" cy="6.5" r="5.5"/>`
	}
	return `<svg class="inline ` + class(s) + `" width="13" height="13" viewBox="0 0 13 13" aria-hidden="true">` + shape + `</svg>`
}
