package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// back is an outcome that leads back, by indices of steps.
type back struct {
	from, to int
	outcome  Outcome
}

// backs returns the outcomes that lead back to a step of the graph.
func (g *Graph) backs() (all []back) {
	index := g.indexes()
	for i, s := range g.Steps {
		for _, o := range s.Outcomes {
			if to, known := index[o.Back]; known && o.Back != 0 {
				all = append(all, back{i, to, o})
			}
		}
	}
	return all
}

// times returns how often an outcome may lead back, or how often it has.
func (o Outcome) times() string {
	if o.Used > 0 {
		return fmt.Sprintf("%d/%d", o.Used, o.Max)
	}
	return fmt.Sprintf("≤%d", o.Max)
}

// label returns the subject, what the step depends on and leads to, and the gates, on one
// line.
func (g *Graph) label(s Step) string {
	var words []string
	for _, c := range s.When {
		words = append(words, "?"+message.Line(strings.Join(c.Outcomes, "|")))
	}
	words = append(words, message.Words(s.Subject))
	if s.Round > 1 {
		words = append(words, s.round())
	}
	if s.Outcome != "" && s.Outcome != "done" && s.State == Done {
		words = append(words, "= "+message.Line(s.Outcome))
	}
	if items := s.items(); items != "" {
		words = append(words, items)
	}
	words = append(words, g.effects(s)...)
	if notes := s.notes(); len(notes) > 0 {
		words = append(words, "["+message.Line(strings.Join(notes, ", "))+"]")
	}
	return strings.Join(words, " ")
}

// number returns what the drawing calls the step.
func (s Step) number() string { return cmp.Or(s.Number, strconv.FormatInt(s.ID, 10)) }

// number returns what the drawing calls the step with the id.
func (g *Graph) number(id int64) string {
	if i := slices.IndexFunc(g.Steps, func(s Step) bool { return s.ID == id }); i >= 0 {
		return g.Steps[i].number()
	}
	return strconv.FormatInt(id, 10)
}

// items returns what the step is done for, such as "▸ 5 items, 3 done", or "".
func (s Step) items() string {
	switch {
	case s.Items != nil && s.Items.Count == 0:
		return "▸ no items"
	case s.Items != nil:
		return fmt.Sprintf("▸ %s, %d done%s", terminal.Count(s.Items.Count, "item"), s.Items.Done, s.Items.Others)
	case s.Each != "":
		return "▸ each " + message.Line(s.Each)
	}
	return ""
}

// groups returns the steps that consist of others, by the index of each step in it: itself, and
// its parts. A part may be a group, too.
func (g *Graph) groups() map[int64][]int {
	groups := map[int64][]int{}
	for i, s := range g.Steps {
		if s.Parent != 0 {
			groups[s.Parent] = append(groups[s.Parent], i)
		}
	}
	return groups
}

// around returns the ids of the steps that the step with the id is a part of, the innermost first.
func (g *Graph) around(id int64) (ids []int64) {
	index := g.indexes()
	for i, known := index[id]; known && g.Steps[i].Parent != 0 && len(ids) < len(g.Steps); i, known = index[id] {
		id = g.Steps[i].Parent
		ids = append(ids, id)
	}
	return ids
}

// eachGroup calls node for each step, and open and shut around the parts of one that consists of
// others; it is itself among them, as the last.
func (g *Graph) eachGroup(node, open, shut func(i, depth int)) {
	groups := g.groups()
	var visit func(i, depth int)
	visit = func(i, depth int) {
		parts := groups[g.Steps[i].ID]
		if len(parts) == 0 {
			node(i, depth)
			return
		}
		open(i, depth)
		for _, j := range parts {
			visit(j, depth+1)
		}
		node(i, depth+1)
		shut(i, depth)
	}
	index := g.indexes()
	for i, s := range g.Steps {
		if _, known := index[s.Parent]; s.Parent == 0 || !known {
			visit(i, 0)
		}
	}
}

// round returns, for example, "round 2/4".
func (s Step) round() string {
	if s.Rounds > 0 {
		return fmt.Sprintf("round %d/%d", s.Round, s.Rounds)
	}
	return fmt.Sprintf("round %d", s.Round)
}

// effects returns what the outcomes lead to.
func (g *Graph) effects(s Step) (all []string) {
	for _, o := range s.Outcomes {
		name := message.Line(o.Name)
		switch {
		case o.Back != 0:
			all = append(all, fmt.Sprintf("↺ %s → %s (%s)", name, g.number(o.Back), o.times()))
		case o.Stop:
			all = append(all, "■ "+name)
		}
	}
	return all
}

// notes returns the outcomes that go forward while none is chosen, if there are several, the gates of the step, and who decides
// about it.
func (s Step) notes() (notes []string) {
	var forward []string
	for _, o := range s.Outcomes {
		if o.Back == 0 && !o.Stop {
			forward = append(forward, o.Name)
		}
	}
	if len(forward) > 1 && !s.State.hasEnded() {
		notes = append(notes, "ends as "+message.Alternatives(forward))
	}
	notes = append(notes, s.Gates...)
	if s.Decides != "" {
		notes = append(notes, "a "+s.Decides+" decides")
	}
	return notes
}

// condition returns the outcomes of the step at index i under which the one at index j is
// needed, as the label of the edge between them, or "".
func (g *Graph) condition(i, j int) string {
	for _, c := range g.Steps[j].When {
		if c.Step == g.Steps[i].ID {
			return message.Line(strings.Join(c.Outcomes, " or "))
		}
	}
	return ""
}

// gutter draws the outcomes that lead back, beside the rows of the text: a line from the row of
// the step up to the row of the one to which it leads back, where it has an arrowhead. A step
// that leads back to itself has the sign ↺. at has the row of each step.
func (g *Graph) gutter(rows int, at []int) []string {
	lines := g.gutterLines(at)
	columns := 0
	for _, l := range lines {
		columns = max(columns, l.column+1)
	}
	arms := make([][]int, rows)
	for y := range arms {
		arms[y] = make([]int, columns)
	}
	ends := make([]string, rows)
	join := func(y, column, arm int) {
		arms[y][column] |= arm | right
		for x := column + 1; x < columns; x++ {
			arms[y][x] |= left | right
		}
	}
	for _, l := range lines {
		if l.top == l.bottom {
			ends[l.top] = "↺"
			continue
		}
		join(l.top, l.column, down)
		join(l.bottom, l.column, up)
		for y := l.top + 1; y < l.bottom; y++ {
			arms[y][l.column] |= up | down
		}
		ends[l.top] = "▸"
		if ends[l.bottom] == "" {
			ends[l.bottom] = "─"
		}
	}
	if len(lines) == 0 {
		return make([]string, rows)
	}
	text := make([]string, rows)
	for y := range text {
		for _, a := range arms[y] {
			text[y] += corner(a)
		}
		if ends[y] == "" {
			ends[y] = " "
		}
		text[y] += ends[y]
	}
	return text
}

// gutterLine is a line of the gutter between two rows.
type gutterLine struct{ top, bottom, column int }

// gutterLines gives each outcome that leads back a column: short lines are right, and lines
// in one column do not touch.
func (g *Graph) gutterLines(at []int) (all []gutterLine) {
	for _, b := range g.backs() {
		l := gutterLine{top: at[b.to], bottom: at[b.from]}
		if !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	slices.SortStableFunc(all, func(a, b gutterLine) int { return (b.bottom - b.top) - (a.bottom - a.top) })
	for n := range all {
		l := &all[n]
		for slices.ContainsFunc(all[:n], func(o gutterLine) bool { return o.column == l.column && o.top <= l.bottom && l.top <= o.bottom }) {
			l.column++
		}
	}
	return all
}
