package outline

import (
	"slices"
	"strconv"
	"strings"
)

// maxOpen is how many lists can go on behind another list. It bounds the time for long texts.
const maxOpen = 20

// numberedRuns returns the numbered lists that are not in an item of another list. A list
// goes on behind code, text, headings and other lists, if its next number follows there.
func (d *document) numberedRuns() (all []*candidate) {
	var open []*candidate // the one that was extended last is the last
	next := map[*candidate]int{}
	for i, l := range d.lines {
		if l.kind != item || !l.ordered || l.depth > 0 {
			continue
		}
		at := -1
		for j, c := range open {
			if d.lines[c.begin()].letters != l.letters {
				continue
			}
			lazy := l.ordinal == 1 && len(c.marks) == next[c]-1 && j == len(open)-1 && next[c] > 1
			if next[c] == l.ordinal || lazy && (d.adjacent(c.marks[len(c.marks)-1].at, i) || d.onlyOnes(c, i)) { // 1. 1. 1.
				at = j
			}
		}
		if at < 0 {
			open = append(open, d.newList(numberedItems, i))
			at = len(open) - 1
			all = append(all, open[at])
		}
		c := open[at]
		open = append(slices.Delete(open, at, at+1), c)
		open = open[max(0, len(open)-maxOpen):]
		c.marks = append(c.marks, d.itemMark(i))
		next[c] = max(next[c], l.ordinal) + 1
		if l.ordinal == 1 && len(c.marks) == 1 {
			next[c] = 2
		}
	}
	return d.endLists(all, 0)
}

// onlyOnes reports whether every item of the list has the number 1, as has the one at index i, and the
// two are in one section: text or code between such items does not end a list that Markdown numbers.
func (d *document) onlyOnes(c *candidate, i int) bool {
	for j := c.begin(); j < len(d.lines); j++ {
		switch l := d.lines[j]; {
		case l.kind == heading:
			return j > i
		case l.kind == item && l.depth == 0 && l.ordinal != 1:
			return false
		}
	}
	return true
}

// newList begins a sequence of items with what introduces it.
func (d *document) newList(f form, at int) *candidate {
	c := &candidate{form: f, place: at}
	if up := d.above(at); up.kind == prose && up.section == d.lines[at].section {
		c.lead = up.text
	}
	return c
}

func (d *document) itemMark(i int) mark {
	return mark{at: i, title: d.lines[i].text, done: d.lines[i].box == 'x'}
}

// adjacent reports whether between two items there are only lines that belong to the first.
func (d *document) adjacent(a, b int) bool {
	for i := a + 1; i < b; i++ {
		if l := d.lines[i]; l.kind == heading || l.kind != blank && l.level <= d.lines[a].level && d.lines[i-1].kind == blank {
			return false
		}
	}
	return true
}

// endLists ends each item at the next one, and the last one where the list ends. Lists with
// fewer items than least are dropped.
func (d *document) endLists(all []*candidate, least int) (kept []*candidate) {
	for _, c := range all {
		for i := range c.marks {
			m := &c.marks[i]
			m.end = d.itemEnd(m.at)
			if i+1 < len(c.marks) && c.form == numberedItems && !d.heading(m.end, c.marks[i+1].at) {
				m.end = c.marks[i+1].at
			} else if i+1 < len(c.marks) {
				m.end = min(m.end, c.marks[i+1].at)
			}
		}
		if len(c.marks) >= max(least, 1) {
			kept = append(kept, c)
		}
	}
	return kept
}

// heading reports whether there is a heading from a up to b.
func (d *document) heading(a, b int) bool {
	for i := a; i < b; i++ {
		if d.lines[i].kind == heading {
			return true
		}
	}
	return false
}

// itemEnd returns the index behind the lines that belong to the item at index i.
func (d *document) itemEnd(i int) int {
	level := d.lines[i].level
	for j := i + 1; j < len(d.lines); j++ {
		l := d.lines[j]
		switch {
		case l.kind == heading, l.kind == closeTag && l.tag == d.lines[i].tag:
			return j
		case l.kind == item && l.level <= level+1, l.kind == openTag && l.level <= level:
			return j
		case l.kind != blank && l.level <= level && d.lines[j-1].kind == blank:
			return j
		}
	}
	return len(d.lines)
}

// boxRuns returns the checkboxes of each section that announces them, and of each other one.
func (d *document) boxRuns() (all []*candidate) {
	open := map[int]*candidate{}
	for i, l := range d.lines {
		if l.kind != item || l.box == 0 || l.depth > 0 || l.ordered {
			continue
		}
		home := d.announced(i)
		c := open[home]
		if c == nil {
			c = d.newList(checkboxes, i)
			open[home] = c
			all = append(all, c)
		}
		c.marks = append(c.marks, d.itemMark(i))
	}
	return d.endLists(all, 2)
}

// announced returns the nearest section of a line that announces steps, or else the section.
func (d *document) announced(i int) int {
	for at := d.lines[i].section; at >= 0; at = d.lines[at].section {
		if affinity(d.lines[at].text) >= certain {
			return at
		}
	}
	return d.lines[i].section
}

// bulletRuns returns the lists without numbers and boxes.
func (d *document) bulletRuns() (all []*candidate) {
	var c *candidate
	for i, l := range d.lines {
		if l.kind != item || l.depth > 0 || l.ordered || l.box != 0 {
			continue
		}
		if c == nil || !d.adjacent(c.marks[len(c.marks)-1].at, i) || d.orderedBetween(c.marks[len(c.marks)-1].at, i) {
			c = d.newList(plainItems, i)
			all = append(all, c)
		}
		c.marks = append(c.marks, d.itemMark(i))
	}
	return d.endLists(all, 2)
}

func (d *document) orderedBetween(a, b int) bool {
	for i := a + 1; i < b; i++ {
		if l := d.lines[i]; l.kind == item && l.depth == 0 && (l.ordered || l.box != 0) {
			return true
		}
	}
	return false
}

// labelRuns returns the sequences of lines that begin with the number of a step, in bold or
// followed by a colon.
func (d *document) labelRuns() []*candidate {
	r := runs{open: map[string]*candidate{}, last: map[string]float64{}}
	for i, l := range d.lines {
		if l.kind != prose && (l.kind != item || l.depth > 0) {
			continue
		}
		strong := strings.HasPrefix(strings.TrimLeft(l.text, "> "), "**")
		n, ok := parseNumbered(labelText(l.text))
		switch {
		case !ok, n.word == "" && (!strong || l.kind == item):
			continue
		case n.word == "":
			r.add(numberLabels, n, i, "")
		case strong || colon.in(l.text):
			n.title = restOf(l.text, n.title)
			r.add(stepLabels, n, i, strconv.Itoa(int(l.kind)))
		}
	}
	for _, c := range r.all {
		d.endLabels(c)
	}
	return r.complete()
}

// colon is what separates the number of a step from its text in a line that is not in bold.
var colon = pattern{text: `^(?:[^:.–—]{1,18}\s*[:–—]|\W*\p{L}+\s+\d{1,2}(?:[.)]|\s-)\s)`}

// labelText returns the bold text at the beginning of a line, or else the line.
func labelText(text string) string {
	if m := bold.find(text); m != nil {
		return m[1]
	}
	return text
}

// restOf appends to a title what follows the bold text of its line.
func restOf(text, title string) string {
	m := bold.find(text)
	if m == nil || m[2] == "" {
		return title
	}
	return "**" + strings.TrimRight(title, ":. ") + "**: " + m[2]
}

// endLabels ends each step at the next one, or at the next heading.
func (d *document) endLabels(c *candidate) {
	for i := range c.marks {
		m := &c.marks[i]
		m.end = d.nextHeading(m.at)
		if i+1 < len(c.marks) {
			m.end = min(m.end, c.marks[i+1].at)
		} else if d.lines[m.at].kind == item {
			m.end = min(m.end, d.itemEnd(m.at))
		}
	}
}

func (d *document) nextHeading(i int) int {
	for i++; i < len(d.lines); i++ {
		if d.lines[i].kind == heading || d.lines[i].kind == closeTag {
			return i
		}
	}
	return i
}
