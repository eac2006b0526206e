package outline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
)

// choose returns the candidate that is the steps, or those that may be and why it is not sure which. The first in the order of
// the forms is taken unless another one has nearly as much right.
func (d *document) choose(all []*candidate, form string) (best *candidate, tied []*candidate, why string) {
	if form != "" {
		return d.asked(all, form)
	}
	sure := slices.DeleteFunc(slices.Clone(all), func(c *candidate) bool { return c.doubt != "" })
	slices.SortStableFunc(sure, func(a, b *candidate) int { return b.rank - a.rank })
	if len(all) == 0 {
		return nil, nil, ""
	}
	if len(sure) == 0 {
		return nil, all, "no part of it is certain to be the steps"
	}
	best = sure[0]
	for _, c := range sure[1:] {
		if c.rank >= titled && best.within(c) && slices.ContainsFunc(c.marks, best.inStep) {
			best = c
		}
	}
	for _, c := range all {
		if c != best && c.rank >= best.rank-near && (c.doubt == "" || c.rival || best.form == formGraph) && !c.within(best) && !c.repeats(best) {
			tied = append(tied, c)
		}
	}
	if len(tied) > 0 {
		return nil, append([]*candidate{best}, tied...), "several parts of it could be the steps"
	}
	return best, nil, ""
}

// asked returns the candidate that a person has asked for.
func (d *document) asked(all []*candidate, form string) (best *candidate, tied []*candidate, why string) {
	name, line, exact := strings.Cut(form, ":")
	if name == Tasks && !exact && len(d.list.Boxes) > 0 {
		return d.taskList(d.list.Boxes), nil, ""
	}
	if at, _ := strconv.Atoi(line); name == Tasks && exact {
		if boxes := d.list.Below(at - 1); len(boxes) > 0 {
			return d.taskList(boxes), nil, ""
		}
	}
	for _, c := range all {
		if c.form == name && (!exact || strconv.Itoa(c.begin()+1) == line) && (!c.rival || exact) {
			tied = append(tied, c)
		}
	}
	switch len(tied) {
	case 0:
		return nil, all, fmt.Sprintf("it has no %s", form)
	case 1:
		return tied[0], nil, ""
	}
	return nil, tied, fmt.Sprintf("it has several of the form %s", form)
}

// within reports whether each step of a candidate is in the text of a step of another one.
func (c *candidate) within(other *candidate) bool {
	return !slices.ContainsFunc(c.marks, func(m mark) bool {
		return !slices.ContainsFunc(other.marks, func(o mark) bool { return o.line <= m.line && m.line < o.end })
	})
}

// inStep reports whether a candidate is in the text of this step of another.
func (c *candidate) inStep(m mark) bool { return m.line < c.begin() && c.end() <= m.end }

// asChoices returns candidates, for a person who has to choose one: every box, and then the others in the order of the text.
func asChoices(all []*candidate) (left []Left) {
	for _, c := range all {
		l := Left{Line: c.begin() + 1, Why: c.doubt,
			What: fmt.Sprintf("%s (%d, the first is %q)", c.what, len(c.marks), shorten(c.marks[0].said()))}
		switch {
		case c.boxes != nil:
			l.What = fmt.Sprintf("every box (%d, the first is %q)", len(c.boxes), shorten(c.marks[0].said()))
			l.Form = Tasks
		case c.form != formGraph || c.graph != nil:
			l.Form = fmt.Sprintf("%s:%d", c.form, l.Line)
		}
		left = append(left, l)
	}
	slices.SortStableFunc(left, func(a, b Left) int {
		if (a.Form == Tasks) != (b.Form == Tasks) {
			return cmp.Compare(b.Form, a.Form)
		}
		return a.Line - b.Line
	})
	return left
}

// leftOut returns the sections that have no part in the steps, and the other candidates.
func (d *document) leftOut(best *candidate, all []*candidate) []Left {
	left := asChoices(slices.DeleteFunc(slices.Clone(all), func(c *candidate) bool { return c == best || c.within(best) }))
	for _, b := range d.blocks {
		inside := func(m mark) bool { return m.line <= b.line && b.line < m.end || m.above.isIn(b) }
		taken := slices.ContainsFunc(best.marks, inside)
		isBeside := func(m mark) bool { return m.above == b.above }
		beside := b.level == 0 && !taken && best.form != formGraph && slices.ContainsFunc(best.marks, isBeside)
		beside = beside && !slices.ContainsFunc(all, func(c *candidate) bool { return c.has(b.line) })
		if what := shorten(d.said(b)); what != "" && (b.level > 1 && !taken || beside) { // else it draws a line
			left = append(left, Left{Line: b.line + 1, What: what})
		}
	}
	slices.SortStableFunc(left, func(a, b Left) int { return a.Line - b.Line })
	return left
}

// said returns the text of a block, of a list or a table its first line.
func (d *document) said(b *block) string {
	return cmp.Or(b.text, strings.TrimSpace(d.lines(b.line, b.line+1)))
}

// isIn reports whether a heading is another one, or in its section.
func (b *block) isIn(other *block) bool {
	for ; b != nil; b = b.above {
		if b == other {
			return true
		}
	}
	return false
}

// steps makes a chain of marks. why says why it cannot.
func (d *document) steps(marks []mark) (steps []Step, why string) {
	titles := d.subjects(marks)
	for i, m := range marks {
		title, at := d.title(m)
		_, rest := m.subject(title)
		if full := strings.TrimSpace(title); titles[i] == "" && full == "" {
			continue
		}
		if slices.ContainsFunc(steps, func(s Step) bool { return s.Subject == titles[i] }) {
			return nil, fmt.Sprintf("two of its steps are called %q", titles[i])
		}
		end := m.end
		if len(m.parts) > 0 {
			end = m.parts[0].line
		}
		step := Step{ID: int64(len(steps) + 1), Subject: titles[i], Line: m.line + 1, Description: join(rest, join(m.beside, d.lines(at, end)))}
		if m.done {
			step.Status = "completed"
		}
		if len(steps) > 0 {
			step.BlockedBy = []int64{int64(len(steps))}
		}
		if len(m.parts) > 0 {
			if step.Do, why = d.steps(m.parts); why != "" {
				return nil, why
			}
		}
		steps = append(steps, step)
	}
	if len(steps) > fsmspec.MaxTasks {
		return nil, fmt.Sprintf("it has %d steps, and a workflow has at most %d", len(steps), fsmspec.MaxTasks)
	}
	return steps, ""
}

// title returns the title of a mark, of which a long one goes on in the next lines, and the index of the line after it.
func (d *document) title(m mark) (title string, at int) {
	title, more, _ := strings.Cut(m.said(), "\n")
	for at = m.line + 1; more != "" && !strings.ContainsAny(title[max(len(title)-1, 0):], ".:;!?"); at++ {
		var next string
		next, more, _ = strings.Cut(more, "\n")
		title = strings.TrimSpace(strings.TrimSpace(title) + " " + next)
	}
	return title, at
}

// subjects returns the subject of each mark. Those that would be equal get their identifier, or the title of their section.
func (d *document) subjects(marks []mark) (all []string) {
	count := map[string]int{}
	for _, m := range marks {
		title, _ := d.title(m)
		s, _ := m.subject(title)
		if s == "" {
			s = shorten(m.label.text)
		}
		all = append(all, s)
		count[s]++
	}
	for i, m := range marks {
		switch {
		case count[all[i]] < 2:
		case m.label.class != "" && m.label.class != "step" && m.written == "":
			all[i] = cut(m.label.name() + " " + all[i])
		case m.above != nil:
			_, section := cutLabel(m.above.text)
			all[i] += " (" + shorten(section) + ")"
		}
	}
	return all
}
