package outline

import (
	"fmt"
	"slices"
	"strings"
)

// leftOut returns the sections that have no part in the steps, and the other sequences.
func (d *document) leftOut(best *candidate, others []*candidate) (left []Left) {
	for i, l := range d.lines {
		if l.kind == heading && l.level > 1 && !d.covers(best, i) && !d.leads(best, i) {
			left = append(left, Left{Line: l.number, What: shorten(l.text)})
		}
	}
	for _, c := range others {
		if c.form != plainItems && len(c.marks) > 1 && !c.overlaps(best) {
			left = append(left, d.left(c))
		}
	}
	slices.SortStableFunc(left, func(a, b Left) int { return a.Line - b.Line })
	return left
}

// rejected returns the sequences of a text that has no steps.
func (d *document) rejected(all []*candidate) (left []Left) {
	for _, c := range all {
		if len(c.marks) > 1 {
			left = append(left, d.left(c))
		}
	}
	slices.SortStableFunc(left, func(a, b Left) int { return a.Line - b.Line })
	return left
}

func (d *document) left(c *candidate) Left {
	return Left{
		Line: d.lines[c.begin()].number,
		What: fmt.Sprintf("%s (%d, the first is %q)", c.what(), len(c.marks), shorten(c.marks[0].title)),
		Why:  strings.Join(c.reasons, ", "),
	}
}

// covers reports whether a line belongs to a step.
func (d *document) covers(c *candidate, i int) bool {
	return slices.ContainsFunc(c.marks, func(m mark) bool { return m.at <= i && i < max(m.end, m.at+1) })
}

// leads reports whether a heading is above a step.
func (d *document) leads(c *candidate, i int) bool {
	for _, m := range c.marks {
		for at := d.lines[m.at].section; at >= 0; at = d.lines[at].section {
			if at == i {
				return true
			}
		}
	}
	return false
}
