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

// Parts returns the boxes that are indented below one, or whose numbers begin with its number, such as 2.1 with 2.
func Parts(boxes []checklist.Box, i int) []checklist.Box {
	of, end := boxes[i], i+1
	isPart := func(b checklist.Box) bool {
		return b.Indent > of.Indent || b.Indent == of.Indent && of.Number != "" && strings.HasPrefix(b.Number, of.Number+".")
	}
	for end < len(boxes) && slices.Equal(boxes[end].Above, of.Above) && isPart(boxes[end]) {
		end++
	}
	return boxes[i+1 : end]
}

// Misplaced returns the boxes that are parts of another one by their numbers, and do not stand below it: they would be done after it. One
// whose parts come before it is misplaced if it is ticked and they are not.
func Misplaced(boxes []checklist.Box) (faults []checklist.Fault) {
	last := map[string]int{} // the index of the last box with a number
	for i, b := range boxes {
		for number := b.Number; strings.Contains(number, "."); {
			number = number[:strings.LastIndex(number, ".")]
			if of, known := last[number]; known && of+len(Parts(boxes, of)) < i {
				faults = append(faults, checklist.Fault{Line: b.Line, Why: fmt.Sprintf("by its number %s it is a part of %s in line %d, "+
					"and is not below it: move it there, or change its number", b.Number, number, boxes[of].Line+1)})
				break
			}
		}
		for j := i - 1; b.Done && b.Number != "" && j >= 0 && boxes[j].Number != b.Number; j-- {
			if part := boxes[j]; strings.HasPrefix(part.Number, b.Number+".") && !part.Done && !part.Spare {
				faults = append(faults, checklist.Fault{Line: b.Line, Why: fmt.Sprintf("it is ticked, and its part in line %d is not", part.Line+1)})
				break
			}
		}
		if b.Number != "" {
			last[b.Number] = i
		}
	}
	return faults
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
		n := len(Parts(p.boxes[:to], i))
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
		if len(Parts(p.boxes, j)) >= i-j {
			of = clean(p.boxes[j].Text)
		}
	}
	n := len(b.Above)
	if of == "" {
		var titles []string
		for _, h := range b.Above {
			if h.Level > 1 {
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

// untaken returns the lines of boxes that are neither steps of a candidate nor in another one that is told as left out. Those
// in the text of a single step are a part of that.
func (d *document) untaken(best *candidate, all []*candidate, boxes []checklist.Box) (lines []int) {
	told := func(line int) bool {
		return slices.ContainsFunc(all, func(c *candidate) bool { return c != best && c.form == Tasks && !c.within(best) && c.has(line) })
	}
	in := map[int]bool{}
	for _, b := range boxes {
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

// inText tells of the boxes that are in the text of a step of a candidate.
func inText(best *candidate, list checklist.List) []Left {
	var lines []int
	for _, b := range list.Boxes {
		inside := func(m mark) bool { return m.line < b.Line && b.Line < m.end }
		if !best.has(b.Line) && slices.ContainsFunc(best.marks, inside) {
			lines = append(lines, b.Line)
		}
	}
	if len(lines) == 0 || best.form == Tasks {
		return nil
	}
	return []Left{{Line: lines[0] + 1, What: "boxes that are no steps, but text of one (" + checklist.Named(lines) + ")"}}
}

// everyBox is the outline of a text whose steps are all of its boxes.
func (d *document) everyBox(list checklist.List) Outline {
	if wrong := Misplaced(list.Boxes); len(wrong) > 0 {
		return Outline{Unsure: wrong[0].String()}
	}
	return Outline{What: "every box", Steps: Plan(string(d.source), list, list.Boxes)}
}

// everyBoxOf is the outline of the boxes of the sections of a candidate, if it has not all of them: then they are its steps, or the
// line is told that cannot be read.
func (d *document) everyBoxOf(best *candidate, all []*candidate, list checklist.List) (o Outline, taken bool) {
	begin, end := 0, len(d.starts)
	for _, h := range list.Heads {
		if h.Line < best.begin() {
			begin = h.Line
		} else if h.Line >= best.end() {
			end = min(end, h.Line)
		}
	}
	outside := func(line int) bool { return line < begin || line >= end }
	list.Faults = slices.DeleteFunc(list.Faults, func(f checklist.Fault) bool { return outside(f.Line) })
	if why := faultOf(list); why != "" {
		return unsure(why, []*candidate{best}), true
	}
	boxes := slices.DeleteFunc(slices.Clone(list.Boxes), func(b checklist.Box) bool { return outside(b.Line) })
	if len(d.untaken(best, all, boxes)) == 0 {
		return o, false
	}
	return valid(Outline{What: "every box of " + best.what, Steps: Plan(string(d.source), list, boxes)}, nil), true
}

// wholly returns what a person has to know if the boxes of a text are not all steps of the candidate.
func (d *document) wholly(best *candidate, all []*candidate, list checklist.List) (why string, every []Left) {
	lines := d.untaken(best, all, list.Boxes)
	if len(lines) == 0 {
		return "", nil
	}
	if len(list.Faults) == 0 {
		every = toldEvery(list)
	}
	return fmt.Sprintf("%d of its %d boxes would be no steps (%s)", len(lines), len(list.Boxes), checklist.Named(lines)), every
}

// toldEvery returns every box as what a person may ask for.
func toldEvery(list checklist.List) []Left {
	first, _ := written(list.Boxes[0].Text)
	return []Left{{Line: list.Boxes[0].Line + 1, Form: Tasks, What: fmt.Sprintf("every box (%d, the first is %q)", len(list.Boxes), first)}}
}

// orEveryBox returns an outline that is not sure, of a list of tasks with every box as what may be asked for, or with that as its
// steps if it was.
func (d *document) orEveryBox(o Outline, best *candidate, list checklist.List, form string) Outline {
	if best.form != Tasks || len(list.Boxes) == 0 || len(list.Faults) > 0 {
		return o
	}
	every := valid(d.everyBox(list), nil)
	switch {
	case every.Unsure != "":
		return o
	case form == Tasks:
		return every
	}
	o.Tied = append(toldEvery(list), o.Tied...)
	return o
}
