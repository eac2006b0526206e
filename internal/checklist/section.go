package checklist

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/pattern"
)

// Below returns the boxes that a line names, from 0: those below the heading in it, or those of the section of the box in it.
func (l List) Below(line int) []Box {
	is := func(b Box) bool { return slices.ContainsFunc(b.Above, func(h Head) bool { return h.Line == line }) }
	if i := slices.IndexFunc(l.Boxes, func(b Box) bool { return b.Line == line }); i >= 0 {
		is = func(b Box) bool { return slices.Equal(b.Above, l.Boxes[i].Above) }
	}
	return slices.DeleteFunc(slices.Clone(l.Boxes), func(b Box) bool { return !is(b) })
}

// Parts returns the boxes that are parts of one: they stand below it, indented, or their numbers begin with its number, such as 2.1
// with 2.
func Parts(boxes []Box, i int) []Box {
	of, end := boxes[i], i+1
	isPart := func(b Box) bool {
		return b.Of >= of.Line || b.Of == of.Of && of.Number != "" && strings.HasPrefix(b.Number, of.Number+".") &&
			slices.Equal(b.Above, of.Above)
	}
	for end < len(boxes) && isPart(boxes[end]) {
		end++
	}
	return boxes[i+1 : end]
}

// Wrong returns why boxes of a list cannot be steps as they are: the faults of the list, of those sections only that a person has named,
// boxes that are ticked before their parts, and parts by their numbers that stand elsewhere.
func (l List) Wrong(boxes []Box, named bool) []Fault {
	faults := slices.DeleteFunc(slices.Clone(l.Faults), func(f Fault) bool {
		return named && !slices.ContainsFunc(boxes, func(b Box) bool { return slices.Equal(b.Above, f.Above) })
	})
	for i, b := range boxes {
		for _, part := range Parts(boxes, i) {
			if b.Done && !part.Done && !part.Spare {
				faults = append(faults, Fault{Line: b.Line, Why: fmt.Sprintf("it is ticked, and its part in line %d is not", part.Line+1)})
				break
			}
		}
	}
	return append(faults, misplaced(boxes)...)
}

// misplaced returns the boxes that are parts of another one by their numbers, and do not stand below it: they would be done after it. One
// whose parts come before it is misplaced if it is ticked and they are not.
func misplaced(boxes []Box) (faults []Fault) {
	last := map[string]int{} // the index of the last box with a number
	for i, b := range boxes {
		for number := b.Number; strings.Contains(number, "."); {
			number = number[:strings.LastIndex(number, ".")]
			if of, known := last[number]; known && of+len(Parts(boxes, of)) < i {
				faults = append(faults, Fault{Line: b.Line, Why: fmt.Sprintf("by its number %s it is a part of %s in line %d, "+
					"and is not below it: move it there, or change its number", b.Number, number, boxes[of].Line+1)})
				break
			}
		}
		for j := i - 1; b.Done && b.Number != "" && j >= 0 && boxes[j].Number != b.Number; j-- {
			if part := boxes[j]; strings.HasPrefix(part.Number, b.Number+".") && !part.Done && !part.Spare {
				faults = append(faults, Fault{Line: b.Line, Why: fmt.Sprintf("it is ticked, and its part in line %d is not", part.Line+1)})
				break
			}
		}
		if b.Number != "" {
			last[b.Number] = i
		}
	}
	return faults
}

var (
	legendTitle = pattern.New(`(?i)^\W*(?:(?:status|state|task|symbols?|checkbox|box|marks?|progress)\s+)?` +
		`(?:legend|key|symbols|notation)\W*$|状态说明|图例|凡例`)
	// state is the name of one, which a box alone has in a legend.
	state = pattern.New(`(?i)^\W*(?:(?:task|step|is)\s+)?(?:not (?:yet )?(?:started|begun|done)|to-?\s?do|open|pending|planned|queued|` +
		`ready|in[- ]progress|started|ongoing|wip|work in progress|partial(?:ly)?(?: (?:done|completed?))?|done|completed?|finished|closed|` +
		`skipped|cancell?ed|dropped|deferred|postponed|on hold|blocked|waiting|failed|optional|incomplete|unchecked|checked|` +
		`not applicable|n/?a)(?:[*_\s]+(?:tasks?|steps?|items?))?\W*$|^(?:未开始|待办|待处理|进行中|已完成|完成|未完成|已?跳过|已取消|阻塞|可选)$`)
)

// legends takes out the lines that explain the marks: those below a title that says so, and boxes in lines one after another of which each
// has the name of a state.
func (r *reader) legends() {
	explained := map[int]bool{}
	for i := 0; i < len(r.Boxes); {
		end, states := i, 0
		for end < len(r.Boxes) && r.Boxes[end].Line-r.Boxes[i].Line == end-i {
			if state.Regexp().MatchString(r.Boxes[end].Text) {
				states++
			}
			end++
		}
		for _, b := range r.Boxes[i:end] {
			explained[b.Line] = states > 1 && states == end-i
		}
		i = end
	}
	explains := func(line int, above []Head) bool {
		return explained[line] || explained[line-1] && explained[line+1] ||
			slices.ContainsFunc(above, func(h Head) bool { return legendTitle.Regexp().MatchString(h.Text) })
	}
	apart := func(line int, above []Head) bool {
		is := explains(line, above)
		if is {
			r.Apart = append(r.Apart, Fault{line, "it explains a mark", above})
		}
		return is
	}
	r.Boxes = slices.DeleteFunc(r.Boxes, func(b Box) bool { return apart(b.Line, b.Above) })
	r.Faults = slices.DeleteFunc(r.Faults, func(f Fault) bool { return apart(f.Line, f.Above) })
	slices.SortStableFunc(r.Apart, func(a, b Fault) int { return a.Line - b.Line })
	r.Apart = slices.CompactFunc(r.Apart, func(a, b Fault) bool { return a.Line == b.Line })
}
