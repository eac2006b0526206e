package outline

import (
	"fmt"
	"slices"
	"sort"
)

// leftOut returns the sections that have no part in the steps, and the other sequences.
func (d *document) leftOut(best *candidate, others []*candidate) (left []Left) {
	above := d.headingsAbove(best)
	for i, l := range d.lines {
		if l.kind == heading && l.level > 1 && !d.covers(best, i) && !above[i] {
			left = append(left, Left{Line: l.number, What: shorten(l.text)})
		}
	}
	for _, c := range others {
		if c.form != plainItems && len(c.marks) > 1 && !c.overlaps(best) {
			why := c.whyNot()
			if c.score >= enough {
				why = "the other steps are more convincing"
			}
			left = append(left, d.left(c, why))
		}
	}
	slices.SortStableFunc(left, func(a, b Left) int { return a.Line - b.Line })
	return left
}

// rejected returns the sequences of a text that has no steps, with the reasons against them.
func (d *document) rejected(all []*candidate) (left []Left) {
	for _, c := range all {
		if len(c.marks) > 1 {
			left = append(left, d.left(c, c.whyNot()))
		}
	}
	slices.SortStableFunc(left, func(a, b Left) int { return a.Line - b.Line })
	return left
}

// alternatives returns sequences that are equally good, with the reasons for them.
func (d *document) alternatives(all []*candidate) (left []Left) {
	for _, c := range all {
		left = append(left, d.left(c, c.why()))
	}
	slices.SortStableFunc(left, func(a, b Left) int { return a.Line - b.Line })
	return left
}

func (d *document) left(c *candidate, why string) Left {
	return Left{
		Line: d.lines[c.begin()].number,
		What: fmt.Sprintf("%s (%d, the first is %q)", c.what(), len(c.marks), shorten(c.marks[0].title)),
		Why:  why,
	}
}

// covers reports whether a line belongs to a step.
func (d *document) covers(c *candidate, i int) bool {
	after := sort.Search(len(c.marks), func(m int) bool { return c.marks[m].at > i })
	return after > 0 && i < max(c.marks[after-1].end, c.marks[after-1].at+1)
}

// headingsAbove returns the headings that a step is below.
func (d *document) headingsAbove(c *candidate) map[int]bool {
	above := map[int]bool{}
	for _, m := range c.marks {
		for at := d.lines[m.at].section; at >= 0 && !above[at]; at = d.lines[at].section {
			above[at] = true
		}
	}
	return above
}
