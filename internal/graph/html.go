package graph

import (
	"cmp"
	_ "embed"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/visible"
)

//go:embed page.html
var page string

// subjectColumns is the width of a line in a box, in columns.
const subjectColumns = 30

// maxSubjectLines limits the lines of a subject in its box. The whole subject is in the table
// below the drawing and in the tooltip of the box.
const maxSubjectLines = 4

// maxWhole is how many steps a picture has before what is done and long chains are folded.
const maxWhole = 24

// HTML returns a self-contained page: a drawing with layers from top to bottom, in which what is
// done and long chains are folded until they are clicked, and a table of the steps with their
// descriptions.
func (g *Graph) HTML() string {
	drawing := g.svg("whole")
	if folded, is := g.Fold(maxWhole); is {
		drawing = folded.svg("folded") + strings.Replace(drawing, "<svg ", "<svg hidden ", 1)
	}
	return strings.NewReplacer(
		"{{title}}", html.EscapeString(visible.Line(g.Title)),
		"{{summary}}", html.EscapeString(g.summary()),
		"{{path}}", html.EscapeString(plain(g.path())),
		"{{notes}}", g.htmlNotes(),
		"{{legend}}", g.legend(),
		"{{drawing}}", drawing,
		"{{steps}}", g.table(),
	).Replace(page)
}

func (g *Graph) htmlNotes() string {
	var out strings.Builder
	for _, note := range g.notes() {
		fmt.Fprintf(&out, "<p>%s</p>\n", html.EscapeString(plain(note)))
	}
	return out.String()
}

// class returns the classes of a step in the page's style sheet.
func class(s Step) string {
	name := strings.ReplaceAll(string(s.State), " ", "-")
	if s.Critical {
		name += " critical"
	}
	return name
}

// boxText returns the lines in a step's box.
func (g *Graph) boxText(s Step) []string {
	text := visible.Line(s.Subject)
	var lines []string
	for _, c := range s.When {
		lines = append(lines, terminal.Cut(fmt.Sprintf("if %s: %s", g.number(c.Step), visible.Line(strings.Join(c.Outcomes, " or "))),
			subjectColumns))
	}
	conditions := len(lines)
	for _, line := range terminal.Wrap(text, subjectColumns) {
		for terminal.Width(line) > subjectColumns { // a word longer than a line
			part := strings.TrimSuffix(terminal.Cut(line, subjectColumns+1), "…")
			lines = append(lines, part)
			line = strings.TrimPrefix(line, part)
		}
		lines = append(lines, line)
	}
	if most := conditions + maxSubjectLines; len(lines) > most {
		lines = lines[:most]
		lines[most-1] = terminal.Cut(lines[most-1]+" …", subjectColumns)
	}
	if items := s.items(); items != "" {
		lines = append(lines, terminal.Cut(plain(items), subjectColumns))
	}
	if s.Parent != 0 {
		lines = append(lines, terminal.Cut("part of "+g.number(s.Parent), subjectColumns))
	}
	for _, effect := range g.effects(s) {
		lines = append(lines, terminal.Cut(plain(effect), subjectColumns))
	}
	if notes := s.notes(); len(notes) > 0 {
		lines = append(lines, terminal.Cut(visible.Line(strings.Join(notes, ", ")), subjectColumns))
	}
	return lines
}

// svg draws the graph. id is that of the element.
func (g *Graph) svg(id string) string {
	texts := make([][]string, len(g.Steps))
	for i, s := range g.Steps {
		texts[i] = g.boxText(s)
	}
	l := g.layOut(func(i int) float64 { return float64((len(texts[i])+1)*lineHeight + 2*boxPadding) })
	backs := g.backs()
	span := func(b back) float64 { return l.boxes[b.from].top - l.boxes[b.to].top }
	slices.SortStableFunc(backs, func(a, b back) int { return cmp.Compare(span(a), span(b)) }) // a longer one goes round a shorter one
	if len(backs) > 0 {
		l.width += backWidth
	}
	var out strings.Builder
	fmt.Fprintf(&out, "<svg id=\"%s\" class=\"drawing\" viewBox=\"0 0 %.0f %.0f\" data-width=\"%.0f\" "+
		"style=\"max-width:%.0fpx;min-width:%.0fpx\" role=\"img\">\n",
		id, l.width, l.height, l.width, l.width, min(l.width, max(minWidth, l.width*minScale)))
	for _, line := range l.lines {
		g.svgLine(&out, line)
	}
	for n, b := range backs {
		svgBack(&out, b, l.boxes[b.from], l.boxes[b.to], n)
	}
	for i, p := range l.boxes {
		g.svgBox(&out, g.Steps[i], p, texts[i])
	}
	out.WriteString("</svg>\n")
	return out.String()
}

// A drawing is fitted to the width of the page, but not made smaller than this: a wider one
// scrolls.
const (
	minScale = 0.7 // letters of 12 pixels are read at 8
	minWidth = 280 // pixels
)

// svgLine draws a curve from the bottom of a box to the top of another, through the places
// between them.
func (g *Graph) svgLine(out *strings.Builder, line []*place) {
	from, to := line[0], line[len(line)-1]
	critical := ""
	if g.isCritical(from.step, to.step) {
		critical = " critical"
	}
	fmt.Fprintf(out, "<path class=\"line%s\" data-from=\"%d\" data-to=\"%d\" d=\"M%.1f %.1f", critical, g.Steps[from.step].ID,
		g.Steps[to.step].ID, from.x, from.top+from.height)
	for n := 1; n < len(line); n++ {
		a, b := line[n-1], line[n]
		y0 := a.top + a.height
		middle := (y0 + b.top) / 2
		fmt.Fprintf(out, "C%.1f %.1f %.1f %.1f %.1f %.1f", a.x, middle, b.x, middle, b.x, b.top)
		if b.step < 0 {
			fmt.Fprintf(out, "V%.1f", b.top+b.height)
		}
	}
	out.WriteString("\"/>\n")
	fmt.Fprintf(out, "<path class=\"tip%s\" d=\"M%.1f %.1fl-4 -7h8z\"/>\n", critical, to.x, to.top)
}

// backWidth is the room beside the boxes for lines that lead back.
const backWidth = 150

// svgBack draws a dashed curve from the right side of a box to that of one before it, or to its
// own. n is how many were drawn before it.
func svgBack(out *strings.Builder, b back, from, to *place, n int) {
	x0, y0 := from.x+boxWidth/2, from.top+from.height/2+6
	x1, y1 := to.x+boxWidth/2, to.top+to.height/2-6
	reach := max(x0, x1) + 46 + float64(min(n, 4))*20
	name := html.EscapeString(visible.Line(b.outcome.Name))
	times := strings.Replace(b.outcome.times(), "≤", "at most ", 1)
	fmt.Fprintf(out, "<path class=\"back\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\"><title>%s (%s)</title></path>\n", x0, y0, reach,
		y0, reach, y1, x1, y1, name, times)
	fmt.Fprintf(out, "<path class=\"back head\" d=\"M%.1f %.1fl8 -4v8z\"/>\n", x1, y1)
	x, y := (x0+x1)/8+reach*3/4+3, (y0+y1)/2
	fmt.Fprintf(out, "<text class=\"head label\" x=\"%.1f\" y=\"%.1f\">%s</text><text class=\"head label\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
		x, y, terminal.Cut(name, 14), x, y+12, times)
}

func (g *Graph) svgBox(out *strings.Builder, s Step, p *place, text []string) {
	x, y := p.x-boxWidth/2, p.top
	radius := map[State]int{Done: 14, InProgress: 0, Ready: 4, Blocked: 4, NotNeeded: 14}[s.State]
	state := string(s.State)
	if s.Outcome != "" && s.State == Done {
		state += ": " + s.Outcome
	}
	if s.Round > 1 {
		state += ", " + s.round()
	}
	kind := ""
	if len(s.Folded) > 0 {
		kind = " folded"
	}
	fmt.Fprintf(out, "<g class=\"box %s%s\" data-step=\"%d\" tabindex=\"0\"><title>%s</title>", class(s), kind, s.ID,
		html.EscapeString(visible.Line(s.Subject)))
	fmt.Fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" rx=\"%d\"/>", x, y, boxWidth, p.height, radius)
	fmt.Fprintf(out, "<g transform=\"translate(%.1f %.1f)\">%s</g>", x+boxPadding, y+boxPadding, shape(s.State))
	fmt.Fprintf(out, "<text class=\"head\" x=\"%.1f\" y=\"%.1f\">%s %s</text>", x+boxPadding+17, y+boxPadding+11,
		html.EscapeString(visible.Line(s.number())), html.EscapeString(visible.Line(state)))
	for n, line := range text {
		fmt.Fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">%s</text>", x+boxPadding, y+boxPadding+11+float64((n+1)*lineHeight),
			html.EscapeString(line))
	}
	out.WriteString("</g>\n")
}

// shape draws the sign of a state in a square of 13 pixels: no font is needed for it.
func shape(s State) string {
	const circle = `<circle class="sign" cx="6.5" cy="6.5" r="5.5"/>`
	switch s {
	case Done:
		return `<circle class="sign full" cx="6.5" cy="6.5" r="5.5"/><path class="tick" d="M3.5 6.8l2.2 2.2 4-4.6"/>`
	case InProgress:
		return circle + `<path class="half" d="M6.5 1a5.5 5.5 0 0 0 0 11z"/>`
	case Ready:
		return circle
	case NotNeeded:
		return circle + `<path class="sign" d="M2.7 10.3l7.6-7.6"/>`
	}
	return `<circle class="sign dotted" cx="6.5" cy="6.5" r="5.5"/>`
}

// sign returns the sign of a state for a line of text.
func sign(s State) string {
	return `<svg class="inline ` + class(Step{State: s}) +
		`" width="13" height="13" viewBox="0 0 13 13" aria-hidden="true">` + shape(s) + `</svg>`
}

// plain replaces the signs of the text graph, which not every font has, by words.
func plain(text string) string {
	return strings.NewReplacer("↺ ", "back: ", "▸ ", "", "■ ", "ends: ", "→", "to", "≤", "at most ").Replace(text)
}

func (g *Graph) table() string {
	var out strings.Builder
	for _, i := range g.order() {
		s := g.Steps[i]
		var after []string
		for _, id := range s.BlockedBy {
			after = append(after, html.EscapeString(visible.Line(g.number(id))))
		}
		details := strings.ReplaceAll(html.EscapeString(visible.Text(s.Description)), "\n", "&#10;")
		more := append(g.effects(s), s.notes()...)
		if items := s.items(); items != "" {
			more = append([]string{items}, more...)
		}
		if len(more) > 0 {
			details += "<p class=\"gates\">" + html.EscapeString(plain(visible.Line(strings.Join(more, "; ")))) + "</p>"
		}
		fmt.Fprintf(&out, "<tr class=\"%s\" data-step=\"%d\"><td>%d</td><td>%s</td><td>%s %s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
			class(s), s.ID, s.Layer, html.EscapeString(visible.Line(s.number())), sign(s.State), s.State,
			html.EscapeString(visible.Line(s.Subject)), strings.Join(after, ", "), details)
	}
	return out.String()
}

// legend explains the signs of the states, and the lines.
func (g *Graph) legend() string {
	var out strings.Builder
	for _, state := range g.states() {
		fmt.Fprintf(&out, "<span>%s %s</span> ", sign(state), state)
	}
	if len(g.backs()) > 0 {
		out.WriteString(`<span><svg class="inline" width="26" height="13"><path class="back sample" d="M1 7h24"/></svg> leads back</span> `)
	}
	if !g.isChain() {
		out.WriteString(`<span><svg class="inline" width="26" height="13"><path class="line critical" d="M1 7h24"/></svg> critical path</span>`)
	}
	return out.String()
}
