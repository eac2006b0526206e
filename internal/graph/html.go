package graph

import (
	_ "embed"
	"fmt"
	"html"
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

// HTML returns a self-contained page: a drawing with layers from left to right, and a table
// of the steps with their descriptions.
func (g *Graph) HTML() string {
	return strings.NewReplacer(
		"{{title}}", html.EscapeString(visible.Line(g.Title)),
		"{{summary}}", html.EscapeString(g.Summary()),
		"{{path}}", html.EscapeString(g.Path()),
		"{{notes}}", g.htmlNotes(),
		"{{drawing}}", g.svg(),
		"{{steps}}", g.table(),
	).Replace(page)
}

func (g *Graph) htmlNotes() string {
	var out strings.Builder
	for _, note := range g.notes() {
		fmt.Fprintf(&out, "<p>%s</p>\n", html.EscapeString(note))
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
		lines = append(lines, terminal.Cut(fmt.Sprintf("? %s: %s", g.number(c.Step), visible.Line(strings.Join(c.Outcomes, " or "))), subjectColumns))
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
		lines = append(lines, terminal.Cut(items, subjectColumns))
	}
	if s.Parent != 0 {
		lines = append(lines, terminal.Cut("part of "+g.number(s.Parent), subjectColumns))
	}
	for _, effect := range g.effects(s) {
		lines = append(lines, terminal.Cut(effect, subjectColumns))
	}
	if notes := s.notes(); len(notes) > 0 {
		lines = append(lines, terminal.Cut("⛉ "+visible.Line(strings.Join(notes, ", ")), subjectColumns))
	}
	return lines
}

func (g *Graph) svg() string {
	texts := make([][]string, len(g.Steps))
	for i, s := range g.Steps {
		texts[i] = g.boxText(s)
	}
	l := g.layOut(func(i int) float64 { return float64((len(texts[i])+1)*lineHeight + 2*boxPadding) })
	backs := g.backs()
	if len(backs) > 0 {
		l.height += backHeight
	}
	var out strings.Builder
	fmt.Fprintf(&out, "<svg id=\"drawing\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" role=\"img\">\n", l.width, l.height, l.width, l.height)
	for _, line := range l.lines {
		g.svgLine(&out, line)
	}
	for _, b := range backs {
		svgBack(&out, b, l.boxes[b.from], l.boxes[b.to])
	}
	for i, p := range l.boxes {
		g.svgBox(&out, g.Steps[i], p, texts[i])
	}
	out.WriteString("</svg>\n")
	return out.String()
}

// svgLine draws a curve from the right side of a box to the left side of another, through
// the places between them.
func (g *Graph) svgLine(out *strings.Builder, line []*place) {
	from, to := line[0], line[len(line)-1]
	critical := ""
	if g.isCritical(from.step, to.step) {
		critical = " critical"
	}
	fmt.Fprintf(out, "<path class=\"line%s\" data-from=\"%d\" data-to=\"%d\" d=\"M%.1f %.1f", critical, from.step, to.step, left(from.layer)+boxWidth, from.y)
	for n := 1; n < len(line); n++ {
		x0, x1 := left(line[n-1].layer)+boxWidth, left(line[n].layer)
		middle := (x0 + x1) / 2
		fmt.Fprintf(out, "C%.1f %.1f %.1f %.1f %.1f %.1f", middle, line[n-1].y, middle, line[n].y, x1, line[n].y)
		if line[n].step < 0 {
			fmt.Fprintf(out, "H%.1f", x1+boxWidth)
		}
	}
	out.WriteString("\"/>\n")
}

// backHeight is the room below the boxes for lines that lead back.
const backHeight = 40

// svgBack draws a dashed curve from the bottom of a box to the bottom of one before it, or to
// its own.
func svgBack(out *strings.Builder, b back, from, to *place) {
	x0, y0 := left(from.layer)+boxWidth*2/3, from.y+from.height/2
	x1, y1 := left(to.layer)+boxWidth/3, to.y+to.height/2
	depth := max(y0, y1) + backHeight
	name := html.EscapeString(visible.Line(b.outcome.Name) + " (" + b.outcome.times() + ")")
	fmt.Fprintf(out, "<path class=\"back\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\"><title>%s</title></path>\n", x0, y0, x0, depth, x1, depth, x1, y1, name)
	fmt.Fprintf(out, "<path class=\"back head\" d=\"M%.1f %.1fl-4 8h8z\"/>\n", x1, y1)
	fmt.Fprintf(out, "<text class=\"head\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", (x0+x1)/2, (y0+y1)/8+depth*3/4-2, name)
}

func (g *Graph) svgBox(out *strings.Builder, s Step, p *place, text []string) {
	x, y := left(p.layer), p.y-p.height/2
	radius := map[State]int{Done: 16, InProgress: 0, Ready: 4, Blocked: 4, NotNeeded: 16}[s.State]
	state := string(s.State)
	if s.Outcome != "" && s.State == Done {
		state += ": " + s.Outcome
	}
	if s.Round > 1 {
		state += ", " + s.round()
	}
	fmt.Fprintf(out, "<g class=\"box %s\" data-step=\"%d\" tabindex=\"0\"><title>%s</title>", class(s), p.step, html.EscapeString(visible.Line(s.Subject)))
	fmt.Fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" rx=\"%d\"/>", x, y, boxWidth, p.height, radius)
	fmt.Fprintf(out, "<text class=\"head\" x=\"%.1f\" y=\"%.1f\">%s %s · %s</text>", x+boxPadding, y+boxPadding+11, Sign(string(s.State)), html.EscapeString(visible.Line(s.number())), html.EscapeString(visible.Line(state)))
	for n, line := range text {
		fmt.Fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">%s</text>", x+boxPadding, y+boxPadding+11+float64((n+1)*lineHeight), html.EscapeString(line))
	}
	out.WriteString("</g>\n")
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
			details += "<p class=\"gates\">" + html.EscapeString(visible.Line(strings.Join(more, "; "))) + "</p>"
		}
		fmt.Fprintf(&out, "<tr class=\"%s\" data-step=\"%d\"><td>%d</td><td>%s</td><td>%s %s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
			class(s), i, s.Layer, html.EscapeString(visible.Line(s.number())), Sign(string(s.State)), s.State, html.EscapeString(visible.Line(s.Subject)), strings.Join(after, ", "), details)
	}
	return out.String()
}
