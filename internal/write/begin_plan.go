package write

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/checklist"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/outline"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// ReadPlan reads a Markdown file whose boxes are steps, each of them, or only those that form names: tasks:LINE.
func ReadPlan(path, form string) (*hydrate.Plan, error) {
	data, err := safefile.ReadFile(path, state.MaxPlan, 0)
	if err != nil {
		return nil, command.Unusable(path, err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	text := string(data)
	list := checklist.Read(text)
	all := len(list.Boxes)
	boxes, err := chosen(list.Boxes, form)
	if err == nil || len(list.Faults) > 0 {
		if wrong := faultsOf(boxes, list.Faults, form); wrong != nil {
			err = wrong
		}
	}
	if err != nil {
		return nil, command.Fail(command.ExitNo, fmt.Errorf("%s: %w", path, err), hintOf(path, form, all))
	}
	p := planOf{lines: checklist.Lines(text), boxes: boxes, ends: endsOf(list)}
	steps, lines := p.steps()
	if data, err = Format(outline.JSON(steps, nil)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	plan := &hydrate.Plan{File: hydrate.File{Path: path, Data: data}, Lines: lines}
	if left := all - len(boxes); left > 0 {
		plan.Left = fmt.Sprintf("%s of %s is not taken: --form takes only some", terminal.Count(left, "box"), path)
		if left > 1 {
			plan.Left = fmt.Sprintf("%d boxes of %s are not taken: --form takes only some", left, path)
		}
	}
	return plan, nil
}

func hintOf(path, form string, all int) string {
	switch {
	case all == 0:
		return "fsmtx new DIR --from " + shell.Join(path) + " takes steps of other forms"
	case form != "":
		return "--form tasks:LINE takes the boxes of a section: those below the heading in that line, or in the list that has it"
	}
	return "change the file, or take only one section by --form tasks:LINE, with the line of its heading or of one of its boxes"
}

// chosen returns the boxes that form names.
func chosen(boxes []checklist.Box, form string) ([]checklist.Box, error) {
	name, at, exact := strings.Cut(form, ":")
	if form != "" && name != outline.Tasks {
		return nil, fmt.Errorf("the form of a plan is %s or %s:LINE, not %s", outline.Tasks, outline.Tasks, form)
	}
	if len(boxes) == 0 {
		return nil, fmt.Errorf("it has no boxes such as - [ ]")
	}
	if !exact {
		return boxes, nil
	}
	line, err := strconv.Atoi(at)
	if err != nil {
		return nil, fmt.Errorf("%q is not the number of a line", at)
	}
	below := func(b checklist.Box) bool {
		return slices.ContainsFunc(b.Above, func(h checklist.Head) bool { return h.Line+1 == line })
	}
	if i := slices.IndexFunc(boxes, func(b checklist.Box) bool { return b.Line+1 == line }); i >= 0 {
		below = func(b checklist.Box) bool { return slices.Equal(b.Above, boxes[i].Above) }
	}
	taken := slices.DeleteFunc(slices.Clone(boxes), func(b checklist.Box) bool { return !below(b) })
	if len(taken) == 0 {
		return nil, fmt.Errorf("line %d is neither a box nor a heading with boxes below it", line)
	}
	return taken, nil
}

// maxFaults limits the faults of a plan that are told.
const maxFaults = 5

// faultsOf returns an error for the lines of a plan that cannot be steps as they are; nil if there are none.
func faultsOf(boxes []checklist.Box, faults []checklist.Fault, form string) error {
	if form != "" && form != outline.Tasks && len(boxes) > 0 { // a person has named what is taken
		first, last := boxes[0].Line, boxes[len(boxes)-1].Line
		faults = slices.DeleteFunc(faults, func(f checklist.Fault) bool { return f.Line < first || f.Line > last })
	}
	for i, b := range boxes {
		if b.Text == "" {
			faults = append(faults, checklist.Fault{Line: b.Line, Why: "the box has no text"})
		}
		for _, part := range partsOf(boxes, i) {
			if b.Done && !part.Done {
				faults = append(faults, checklist.Fault{Line: b.Line, Why: fmt.Sprintf("it is ticked, and its part in line %d is not", part.Line+1)})
				break
			}
		}
	}
	if len(boxes) > fsmspec.MaxTasks {
		return fmt.Errorf("it has %d boxes, and a workflow has at most %d steps", len(boxes), fsmspec.MaxTasks)
	}
	if len(faults) == 0 {
		return nil
	}
	slices.SortStableFunc(faults, func(a, b checklist.Fault) int { return a.Line - b.Line })
	var texts []string
	for _, f := range faults[:min(len(faults), maxFaults)] {
		texts = append(texts, f.String())
	}
	if more := len(faults) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("it is not sure what its steps are: %s", strings.Join(texts, "; "))
}

// partsOf returns the boxes that are indented below one.
func partsOf(boxes []checklist.Box, i int) []checklist.Box {
	end := i + 1
	for end < len(boxes) && boxes[end].Indent > boxes[i].Indent && slices.Equal(boxes[end].Above, boxes[i].Above) {
		end++
	}
	return boxes[i+1 : end]
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

// steps returns a step for each box, in the order in which they are done: a box after its parts.
func (p planOf) steps() (steps []outline.Step, lines []workflow.PlanLine) {
	subjects := p.subjects()
	for _, i := range p.order(0, len(p.boxes)) {
		b := p.boxes[i]
		_, rest := outline.Subject(b.Text)
		s := outline.Step{ID: int64(len(steps) + 1), Subject: subjects[i], Line: b.Line + 1,
			Description: strings.TrimSpace(p.context(i) + "\n" + rest + "\n" + p.below(i))}
		if b.Done {
			s.Status = "completed"
		}
		if s.ID > 1 {
			s.BlockedBy = []int64{s.ID - 1}
		}
		steps, lines = append(steps, s), append(lines, workflow.PlanLine{Line: b.Line, Text: b.Open})
	}
	return steps, lines
}

// order returns the indexes of boxes, those of parts before that of the box that has them.
func (p planOf) order(from, to int) (all []int) {
	for i := from; i < to; {
		n := len(partsOf(p.boxes[:to], i))
		all = append(append(all, p.order(i+1, i+1+n)...), i)
		i += 1 + n
	}
	return all
}

// subjects returns the subject of each box. Those that would be equal get the title of their section.
func (p planOf) subjects() (all []string) {
	count := map[string]int{}
	for _, b := range p.boxes {
		s, _ := outline.Subject(b.Text)
		if s == "" {
			s = b.Text
		}
		all = append(all, s)
		count[s]++
	}
	for i, b := range p.boxes {
		if n := len(b.Above); count[all[i]] > 1 && n > 0 {
			title, _ := outline.Subject(b.Above[n-1].Text)
			all[i] += " (" + title + ")"
		}
	}
	return all
}

// context says of what a box is a part and, with the first one that is open, what stands above the boxes of its section.
func (p planOf) context(i int) (text string) {
	b := p.boxes[i]
	of := ""
	for j := i - 1; j >= 0 && of == ""; j-- {
		if p.boxes[j].Indent < b.Indent && len(partsOf(p.boxes, j)) >= i-j {
			of, _ = outline.Subject(p.boxes[j].Text)
		}
	}
	n := len(b.Above)
	if of == "" && n > 0 && b.Above[n-1].Level > 1 {
		of = b.Above[n-1].Text
	}
	if of != "" {
		text = "Of: " + of
	}
	if n > 0 && b.Above[n-1].Level > 1 && p.next(b.Above[n-1]) == i {
		begin := b.Above[n-1].Line + 1
		end, _ := slices.BinarySearch(p.ends, begin)
		text += "\n" + outline.Text(p.lines[begin:p.ends[end]])
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

// below returns the text between a box and the next box or heading.
func (p planOf) below(i int) string {
	begin, end := p.boxes[i].Line+1, len(p.lines)
	if next, _ := slices.BinarySearch(p.ends, begin); next < len(p.ends) {
		end = p.ends[next]
	}
	return outline.Text(p.lines[begin:end])
}
