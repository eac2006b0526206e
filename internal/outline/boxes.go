package outline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/checklist"
)

// Plan returns a step for each of some boxes of a text, one after another: a box after its parts, with the text below it.
func Plan(text string, list checklist.List, boxes []checklist.Box) []Step {
	return planOf{lines: checklist.Lines(text), boxes: boxes, ends: endsOf(list)}.steps()
}

// planOf is a plan that becomes steps.
type planOf struct {
	lines []string
	boxes []checklist.Box
	ends  []int // the lines of all boxes and headings, at which the text of a box ends
}

func endsOf(list checklist.List) (ends []int) {
	for _, b := range list.Boxes {
		ends = append(ends, b.Line)
	}
	for _, h := range list.Heads {
		ends = append(ends, h.Line)
	}
	slices.Sort(ends)
	return ends
}

// steps returns a step for each box, in the order in which they are done: a box after its parts. A step waits for the one before it and,
// if that is ticked already, for the last one that is not.
func (p planOf) steps() (steps []Step) {
	subjects, open := p.subjects(), int64(0)
	for _, i := range p.order(0, len(p.boxes)) {
		b := p.boxes[i]
		_, rest := written(b.Text)
		s := Step{ID: int64(len(steps) + 1), Subject: subjects[i], Line: b.Line + 1,
			Description: join(p.context(i), join(rest, p.below(b.Line)))}
		if b.Done {
			s.Status = "completed"
		}
		if s.ID > 1 {
			s.BlockedBy = []int64{s.ID - 1}
		}
		if 0 < open && open < s.ID-1 {
			s.BlockedBy = []int64{open, s.ID - 1}
		}
		if !b.Done {
			open = s.ID
		}
		steps = append(steps, s)
	}
	return steps
}

// order returns the indexes of boxes, those of parts before that of the box that has them.
func (p planOf) order(from, to int) (all []int) {
	for i := from; i < to; {
		n := len(checklist.Parts(p.boxes[:to], i))
		all = append(append(all, p.order(i+1, i+1+n)...), i)
		i += 1 + n
	}
	return all
}

// markedOptional stands behind the subject of a box that is marked as such.
const markedOptional = " (optional)"

// subjects returns the subject of each box. Those that would be equal get the title of their section.
func (p planOf) subjects() (all []string) {
	count := map[string]int{}
	for _, b := range p.boxes {
		s, _ := written(b.Text)
		if s = cmp.Or(s, b.Text); b.Spare {
			s += markedOptional
		}
		all = append(all, s)
		count[s]++
	}
	for i, b := range p.boxes {
		if n := len(b.Above); count[all[i]] > 1 && n > 0 {
			all[i] += " (" + shorten(b.Above[n-1].Text) + ")"
		}
	}
	return all
}

// context says of what a box is a part and, with the first one that is open, what stands above the boxes of its section.
func (p planOf) context(i int) (text string) {
	b := p.boxes[i]
	of := ""
	for j := i - 1; j >= 0 && of == ""; j-- {
		if len(checklist.Parts(p.boxes, j)) >= i-j {
			of = clean(p.boxes[j].Text)
		}
	}
	n := len(b.Above)
	if of == "" {
		var titles []string
		for _, h := range b.Above {
			if h.Level > 1 && h.Line != b.Line {
				titles = append(titles, h.Text)
			}
		}
		of = strings.Join(titles, ", ")
	}
	if of != "" {
		text = "Of: " + of
	}
	if n > 0 && b.Above[n-1].Level > 1 && b.Above[n-1].Line != b.Line && p.next(b.Above[n-1]) == i {
		text = join(text, p.below(b.Above[n-1].Line))
	}
	return text
}

// next returns the index of the first box of a section that is not ticked, else of its first one.
func (p planOf) next(of checklist.Head) int {
	first := -1
	for i, b := range p.boxes {
		if n := len(b.Above); n == 0 || b.Above[n-1] != of {
			continue
		}
		if first < 0 || p.boxes[first].Done && !b.Done {
			first = i
		}
	}
	return first
}

// below returns the text between the line of a box or heading and the next one.
func (p planOf) below(line int) string {
	begin, end := line+1, len(p.lines)
	if next, _ := slices.BinarySearch(p.ends, begin); next < len(p.ends) {
		end = p.ends[next]
	}
	return textIn(p.lines[begin:end])
}

// tasks returns the boxes, each of them, if there are some. They may say what is to be true in the end.
func (d *document) tasks() []*candidate {
	if len(d.list.Boxes) == 0 {
		return nil
	}
	whole := d.taskList(d.list.Boxes)
	said := func(m mark) bool {
		return m.above == nil || m.label.class != "" || !isAside(m.above.titlesFrom()) && !checkTitle.in(m.above.text)
	}
	if title := whole.marks[0].above; !slices.ContainsFunc(whole.marks, said) {
		whole.doubt = fmt.Sprintf("it is under %q, which may be what is to be true in the end", shorten(title.text))
	} else if twice := repeated(whole.marks); twice != "" {
		whole.doubt, whole.rival = fmt.Sprintf("two of its tasks are called %s", twice), true
	}
	return []*candidate{whole}
}

// taskList is the candidate whose steps are some boxes.
func (d *document) taskList(of []checklist.Box) *candidate {
	c := &candidate{form: Tasks, what: "a list of checkboxes", rank: boxes, marks: d.marksOf(of, endsOf(d.list)), boxes: of}
	if labelled(c.marks)*2 >= len(c.marks) {
		c.what, c.rank = "a task list", identified
	}
	return c
}

// marksOf returns boxes, those that are parts of another one as its parts. The text of each goes on up to the next one or the next heading.
func (d *document) marksOf(of []checklist.Box, ends []int) (marks []mark) {
	for i := 0; i < len(of); {
		b, parts := of[i], checklist.Parts(of, i)
		m := mark{line: b.Line, end: len(d.starts), done: b.Done, level: 8, written: b.Text, isBox: true, spare: b.Spare}
		if next, _ := slices.BinarySearch(ends, b.Line+1); next < len(ends) {
			m.end = ends[next]
		}
		for _, other := range d.blocks {
			if other.level > 0 && other.line < b.Line {
				m.above = other
			}
		}
		if end := min(d.wraps[b.Line], m.end); end > b.Line+1 {
			m.written = checklist.WithoutComments(b.Text + "\n" + d.lines(b.Line+1, end))
		}
		m.label, m.title = cutLabel(m.written)
		if m.parts = d.marksOf(parts, ends); len(parts) > 0 {
			m.end = m.parts[len(m.parts)-1].end
		}
		marks, i = append(marks, m), i+1+len(parts)
	}
	return marks
}

// untaken returns the lines of boxes that are neither steps of a candidate nor in another one that is told as left out. Those
// in the text of a single step are a part of that.
func (d *document) untaken(best *candidate, all []*candidate) (lines []int) {
	told := func(line int) bool {
		return slices.ContainsFunc(all, func(c *candidate) bool { return c != best && c.form == Tasks && !c.within(best) && c.has(line) })
	}
	in := map[int]bool{}
	for _, b := range d.list.Boxes {
		if best.has(b.Line) || told(b.Line) {
			continue
		}
		lines = append(lines, b.Line)
		in[slices.IndexFunc(best.marks, func(m mark) bool { return m.line < b.Line && b.Line < m.end })] = true
	}
	if len(in) == 1 && !in[-1] && best.form != Tasks {
		return nil
	}
	return lines
}

// has reports whether a step, or a part of one, is in a line.
func (c *candidate) has(line int) bool {
	return slices.ContainsFunc(everyMark(c.marks), func(m mark) bool { return m.line == line })
}

// boxesBeside tells of the boxes that are no steps of a candidate: lost says how many, and wrong has those that cannot be read.
func (d *document) boxesBeside(best *candidate, lost string, wrong []checklist.Fault) (left []Left) {
	tell := func(line int, what string) { left = append(left, Left{Line: line + 1, What: what}) }
	apart := slices.DeleteFunc(slices.Clone(d.list.Apart), func(f checklist.Fault) bool { return best.has(f.Line) })
	if len(apart) > 0 {
		tell(apart[0].Line, checklist.Told(apart))
	}
	if len(wrong) > 0 {
		tell(wrong[0].Line, checklist.Told(wrong))
	}
	var lines []int
	for _, b := range d.list.Boxes {
		inside := func(m mark) bool { return m.line < b.Line && b.Line < m.end }
		if !best.has(b.Line) && (lost != "" || slices.ContainsFunc(best.marks, inside)) {
			lines = append(lines, b.Line)
		}
	}
	switch {
	case best.boxes != nil: // those of the whole text are told
	case lost != "":
		tell(lines[0], lost)
	case len(lines) > 0:
		tell(lines[0], "boxes that are no steps, but text of one ("+checklist.Named(lines)+")")
	}
	return left
}
