package outline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	table "github.com/yuin/goldmark/extension/ast"

	"github.com/fsmtx/fsmtx/internal/checklist"
)

// The forms in which a text can have its steps.
const (
	Tasks        = "tasks"    // a list of tasks to tick, or a table of them
	formHeadings = "headings" // numbered headings of one kind
	formList     = "list"     // one ordered list of instructions
	formGraph    = "graph"    // a flowchart of Mermaid or a digraph of dot
)

// Forms returns the names of the forms, in the order in which they are looked for.
func Forms() []string { return []string{Tasks, formHeadings, formList, formGraph} }

// How much right a candidate has. Others that have nearly as much are its rivals.
const (
	graphed    = -1
	plainList  = 2  // an ordered list, each item an instruction
	boxes      = 4  // tasks without identifiers
	titled     = 5  // a list, or headings with numbers alone, below a title such as Steps
	headings   = 6  // headings with a word such as Step
	identified = 10 // tasks with identifiers
	near       = 2
)

// deepest is the level of a heading that has none below it.
const deepest = 6

// mark is where a step is.
type mark struct {
	line, end int
	label     label
	title     string
	written   string // with an identifier that belongs to it; "" if title has all
	isBox     bool
	spare     bool // marked as optional
	done      bool
	level     int    // of a heading; more for a line or an item
	above     *block // the heading of the section
	parts     []mark
	beside    string // the other columns of a row
}

// everyMark returns marks with their parts, at any depth.
func everyMark(marks []mark) (all []mark) {
	for _, m := range marks {
		all = append(append(all, m), everyMark(m.parts)...)
	}
	return all
}

// candidate is a form that was found, as a whole.
type candidate struct {
	form, what string
	marks      []mark
	rank       int
	doubt      string // why it may not be the steps
	rival      bool   // nevertheless nothing else is sure beside it: it is not whole, or may be a part of the steps
	graph      []Step // of a graph
	boxes      []checklist.Box
}

func (c *candidate) begin() int { return c.marks[0].line }
func (c *candidate) end() int   { return c.marks[len(c.marks)-1].end }

// candidates returns everything in the text that could be its steps.
func (d *document) candidates() (all []*candidate) {
	tasks := d.tasks()
	for _, c := range d.headings() {
		all = append(all, c)
		tasks = slices.DeleteFunc(tasks, c.takes)
	}
	all = append(append(all, tasks...), d.tables()...)
	all = append(append(all, d.lists()...), d.graphs()...)
	for _, c := range all {
		if c.doubt == "" {
			c.doubt = d.doubt(c)
		}
	}
	return all
}

// doubt returns why a candidate may be an example, or "".
func (d *document) doubt(c *candidate) string {
	for _, m := range everyMark(c.marks) {
		if placeholder.in(m.title) || placeholderName.in(m.written) {
			return fmt.Sprintf("%q has a placeholder, as in a template", shorten(m.said()))
		}
	}
	for _, b := range d.blocks {
		switch m := element.find(b.text); {
		case b.level > 0 && aboutPlans.in(b.text):
			return fmt.Sprintf("the text is about plans (%q), so that this may be an example", shorten(b.text))
		case m != nil && !ofHTML.in(m[1]) && b.node.Kind() != ast.KindFencedCodeBlock && b.node.Kind() != ast.KindCodeBlock:
			return fmt.Sprintf("the text has elements such as <%s>, which are not read", m[1])
		}
	}
	return ""
}

// unlabelled returns a heading at a level of c in which a label does not begin the text, or "".
func (d *document) unlabelled(c *candidate) string {
	for _, b := range d.blocks {
		if l, _ := cutLabel(b.text); b.level == c.marks[0].level && b.level > 0 && l.class == "" && inside.in(b.text) {
			return shorten(b.text)
		}
	}
	return ""
}

// repeated returns an identifier with letters that two marks have, or "".
func repeated(marks []mark) string {
	seen := map[string]bool{}
	for _, m := range marks {
		id := fmt.Sprint(m.label.class, m.label.from, m.label.below)
		if m.label.class != "" && m.label.class != "#" && m.label.class != "step" && seen[id] {
			return m.label.name()
		}
		seen[id] = true
	}
	return ""
}

func labelled(marks []mark) (n int) {
	for _, m := range marks {
		if m.label.class != "" {
			n++
		}
	}
	return n
}

var (
	idColumn     = pattern{text: `(?i)^\W*(?:#|id|no\.?|nr\.?|number|task|step|phase|stage|ticket)\W*(?:id|#|no\.?)?\W*$`}
	titleColumn  = pattern{text: `(?i)\b(?:task|step|title|action|what|activity|work|do|description|subject|name)\b`}
	statusColumn = pattern{text: `(?i)\b(?:status|state|done)\b`}
	isDone       = pattern{text: `(?i)^\W*(?:done|x|yes|complete[d]?|finished|✅|✔|☑)\W*$|✅|✔|☑|\[x\]`}
)

// tables returns the tables whose first column has identifiers.
func (d *document) tables() []*candidate {
	whole := &candidate{form: Tasks, what: "a table of tasks", rank: identified}
	for _, b := range d.blocks {
		if b.node.Kind() != table.KindTable {
			continue
		}
		marks := d.rows(b)
		goesOn := len(marks) > 0 && len(whole.marks) > 0 && marks[0].label.follows(whole.marks[len(whole.marks)-1].label)
		if goesOn || len(marks) > 1 && !isAside(b.above.titlesFrom()) {
			whole.marks = append(whole.marks, marks...)
		}
	}
	if len(whole.marks) == 0 {
		return nil
	}
	if whole.marks[0].label.class == "#" {
		whole.rank = boxes
	}
	for i, m := range whole.marks[1:] {
		if before := whole.marks[i].label; m.label.class == "#" && !m.label.follows(before) && m.label.from > 1 {
			whole.doubt, whole.rival = fmt.Sprintf("%s comes after %s", m.label.name(), before.name()), true
		}
	}
	return []*candidate{whole}
}

// rows returns the rows of a table, or nil if one of them has no identifier.
func (d *document) rows(b *block) (marks []mark) {
	var head []string
	for row := b.node.FirstChild(); row != nil; row = row.NextSibling() {
		cells := d.cells(row)
		if row.Kind() == table.KindTableHeader {
			head = cells
			continue
		}
		if len(head) < 2 || !idColumn.in(head[0]) {
			return nil
		}
		subject := slices.IndexFunc(head[1:], titleColumn.in) + 1
		l, rest := cutLabel(cells[0] + ".")
		if strings.Trim(rest, ".") != "" || l.class == "" || subject == 0 || subject >= len(cells) || cells[subject] == "" {
			return nil
		}
		line := d.lineOf(row)
		m := mark{line: line, end: line + 1, label: l, title: cells[subject], above: b.above, level: 8}
		if l.class != "#" {
			m.written = cells[0] + " " + m.title
		}
		for i, cell := range cells {
			isStatus := i < len(head) && statusColumn.in(head[i])
			m.done = m.done || isStatus && isDone.in(cell)
			if i > 0 && i < len(head) && i != subject && !isStatus && cell != "" {
				m.beside = join(m.beside, head[i]+": "+cell)
			}
		}
		marks = append(marks, m)
	}
	return marks
}

// headings returns the runs of numbered headings, and of lines and items that begin with a word and a number.
func (d *document) headings() (all []*candidate) {
	byClass := map[string][]mark{}
	var classes []string
	var gates []mark
	for _, m := range d.headingMarks() {
		if m.label.class == "gate" {
			gates = append(gates, m)
		} else if byClass[m.label.class] == nil {
			classes = append(classes, m.label.class)
		}
		byClass[m.label.class] = append(byClass[m.label.class], m)
	}
	if len(classes) == 0 && len(gates) > 0 {
		classes = []string{"gate"}
	}
	for _, class := range classes {
		all = append(all, runsOf(class, byClass[class])...)
	}
	all = slices.DeleteFunc(unrepeated(nest(all)), func(c *candidate) bool { return len(c.marks) < 2 && len(c.marks[0].parts) == 0 })
	for _, c := range all {
		if c.marks[0].label.class != "gate" {
			c.admit(gates)
		}
		d.bound(c)
		if other := d.unlabelled(c); other != "" {
			c.doubt, c.rival = fmt.Sprintf("%q is not one of them", other), true
		}
		if c.marks[0].label.class == "#" && c.doubt == "" {
			if c.rank = titled; !announces(c.marks[0].above.titlesFrom()) && !instructions(c.marks) {
				c.doubt = "its headings are not instructions"
			}
		}
	}
	return all
}

// headingMarks returns the headings, lines and items that begin with a label.
func (d *document) headingMarks() (marks []mark) {
	for _, b := range d.blocks {
		m := mark{line: b.line, end: b.end, above: b.above, level: b.level}
		switch {
		case b.level > 0:
			if m.label, m.title = cutLabel(b.text); m.label.class != "" {
				m.written = m.label.kept(b.text)
				m.end = d.sectionEnd(b.line, b.level)
				marks = append(marks, m)
			}
		case b.node.Kind() == ast.KindParagraph:
			for i, line := range strings.Split(b.text, "\n") {
				m.label, m.title = cutLabel(line)
				m.written = m.label.kept(line)
				if m.line, m.level = b.line+i, 7; m.label.class != "" && (m.label.isWord() && m.label.ends() || strings.HasPrefix(line, "**")) {
					m.end = d.sectionEnd(b.line, deepest)
					marks = append(marks, m)
				}
			}
		case b.node.Kind() == ast.KindList:
			for _, it := range d.items(b.node, b.end) {
				m.label, m.title = cutLabel(it.text)
				m.written = m.label.kept(it.text)
				isCode := m.label.class != "" && m.label.class != "#" && strings.HasPrefix(it.text, "**")
				if m.line, m.end, m.level = it.line, it.end, 8; (m.label.isWord() && m.label.ends() || isCode) && !it.box {
					marks = append(marks, m)
				}
			}
		}
	}
	return marks
}

// ends reports whether there is a colon or the like behind a label: a sentence may begin with "Step 2".
func (l label) ends() bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(l.text, " \t"))
	return strings.ContainsRune(":.)*|-–—→", last)
}

// isWord reports whether a label has a word such as Step.
func (l label) isWord() bool {
	return l.class != "" && strings.ToLower(l.class) == l.class && l.class != "#"
}

// runsOf returns the sequences in marks of one class. One that does not begin at its beginning, or has a gap, is not whole.
func runsOf(class string, marks []mark) (runs []*candidate) {
	what := fmt.Sprintf("headings with the number of a %s", class)
	if marks[0].level > deepest {
		what = fmt.Sprintf("lines that begin with the number of a %s", class)
	}
	if class == "#" {
		what = "numbered headings"
	} else if !marks[0].label.isWord() {
		what = "headings with identifiers such as " + marks[0].label.name()
	}
	var c *candidate
	var before label
	for _, m := range marks {
		follows := m.label.follows(before)
		if c == nil || !follows && m.label.from <= 1 {
			c = &candidate{form: formHeadings, what: what, rank: headings}
			runs = append(runs, c)
			if m.label.from > 1 {
				c.doubt, c.rival = fmt.Sprintf("it begins with %s", m.label.name()), true
			}
		} else if !follows {
			c.doubt, c.rival = fmt.Sprintf("%s comes after %s", m.label.name(), before.name()), true
		}
		c.marks, before = append(c.marks, m), m.label
	}
	for _, c := range runs {
		if !slices.ContainsFunc(c.marks, func(m mark) bool { return !isAside(m.above.titlesFrom()) }) {
			c.doubt = fmt.Sprintf("it is under %q", shorten(c.marks[0].above.text))
		}
		c.fold()
	}
	return runs
}

// kept returns the text of a step that begins with a label if that is an identifier such as T001, and not only a number.
func (l label) kept(text string) string {
	if l.class == "" || l.class == "#" || l.isWord() {
		return ""
	}
	return text
}

// said returns the text of a step, with an identifier that belongs to it.
func (m mark) said() string { return cmp.Or(m.written, m.title) }

// subject splits a title of a step into its subject and the rest.
func (m mark) subject(title string) (short, rest string) {
	if !m.isBox {
		return subject(title)
	}
	if short, rest = written(title); m.spare {
		short += markedOptional
	}
	return short, rest
}

// name returns a label without the marks around it.
func (l label) name() string { return strings.Trim(l.text, " *:.)`–—-→") }

// fold makes the deeper headings of a run, such as 1.1 below 1, the parts of the one before them.
func (c *candidate) fold() {
	var marks []mark
	for _, m := range c.marks {
		if n := len(marks); n > 0 && m.level > marks[0].level && m.label.below != "" {
			marks[n-1].parts = append(marks[n-1].parts, m)
		} else {
			marks = append(marks, m)
		}
	}
	c.marks = marks
}

// unrepeated returns the runs without those whose titles another one repeats, in more lines.
func unrepeated(all []*candidate) []*candidate {
	return slices.DeleteFunc(slices.Clone(all), func(c *candidate) bool {
		return slices.ContainsFunc(all, func(o *candidate) bool {
			return o != c && c.repeats(o) && o.extent() > c.extent()
		})
	})
}

func (c *candidate) extent() int { return c.end() - c.begin() }

// repeats reports whether all titles of c are among those of another candidate.
func (c *candidate) repeats(other *candidate) bool {
	return len(c.marks) == len(other.marks) && slices.EqualFunc(c.marks, other.marks, func(a, b mark) bool {
		x, _ := a.subject(a.title)
		y, _ := b.subject(b.title)
		return strings.EqualFold(x, y)
	})
}

// nest gives the runs that are within the steps of another one to these steps, as their parts.
func nest(all []*candidate) []*candidate {
	inside := map[*candidate]bool{}
	for _, c := range all {
		if c.doubt != "" || !c.marks[0].label.isWord() {
			continue
		}
		for _, other := range all {
			if other.marks[0].level > c.marks[0].level && other.marks[0].label.class != c.marks[0].label.class && c.takes(other) {
				inside[other] = true
			}
		}
	}
	return slices.DeleteFunc(all, func(c *candidate) bool { return inside[c] })
}

// takes makes another candidate the parts of the steps of c, if it is within them, and reports whether it did. Tasks with
// identifiers of their own stand by themselves below phases. A list of boxes in one step is a part of its text.
func (c *candidate) takes(other *candidate) bool {
	if c.doubt != "" || other.form == Tasks && (other.doubt != "" || !c.marks[0].label.isWord() ||
		other.rank == identified && c.marks[0].label.class != "task" && other.marks[0].label.class != "step") {
		return false
	}
	parts := make([][]mark, len(c.marks))
	with := 0
	for _, p := range other.marks {
		i := slices.IndexFunc(c.marks, func(m mark) bool { return m.line < p.line && p.line < m.end && len(m.parts) == 0 })
		if i < 0 {
			return false
		}
		if len(parts[i]) == 0 {
			with++
		}
		parts[i] = append(parts[i], p)
	}
	if other.form == Tasks && with < 2 && len(c.marks) > 1 {
		return true
	}
	for i := range c.marks {
		if len(parts[i]) > 0 {
			c.marks[i].parts = parts[i]
		}
		c.marks[i].done = len(parts[i]) > 0 && !slices.ContainsFunc(parts[i], func(m mark) bool { return !m.done })
	}
	return true
}

// admit puts gates among the steps, in the order of the text.
func (c *candidate) admit(gates []mark) {
	for _, g := range gates {
		if g.level == c.marks[0].level {
			c.marks = append(c.marks, g)
		}
	}
	slices.SortStableFunc(c.marks, func(a, b mark) int { return a.line - b.line })
}

// bound ends each step where the next one begins.
func (d *document) bound(c *candidate) {
	for i := range c.marks {
		if i+1 < len(c.marks) {
			c.marks[i].end = min(c.marks[i].end, c.marks[i+1].line)
		}
	}
}

// lists returns the ordered lists. One that goes on with the next number is one list.
func (d *document) lists() (all []*candidate) {
	next, single := 0, false
	for _, b := range d.blocks {
		list, ok := b.node.(*ast.List)
		goesOn := ok && list.Start > 1 && list.Start == next
		if !ok || !list.IsOrdered() || !goesOn && isAside(b.above.titlesFrom()) {
			continue
		}
		items := d.items(list, b.end)
		if len(items) == 0 || slices.ContainsFunc(items, func(it item) bool { return it.box }) {
			continue
		}
		if goesOn || single && list.Start == 1 && all[len(all)-1].marks[0].above == b.above {
			last := all[len(all)-1]
			last.marks[len(last.marks)-1].end = b.line
			last.add(items, b)
		} else {
			all = append(all, d.newList(list.Start, items, b))
		}
		if c := all[len(all)-1]; !d.inOrder(items, list.Start) {
			c.doubt, c.rival = "its numbers are not in order", true
		}
		next, single = list.Start+len(items), len(items) == 1
	}
	for _, c := range all {
		if i := slices.IndexFunc(c.marks, isNoInstruction); c.doubt == "" && c.rank == plainList && i >= 0 {
			c.doubt = fmt.Sprintf("its item %q does not begin with an English verb that is known", shorten(c.marks[i].said()))
		}
	}
	return slices.DeleteFunc(all, func(c *candidate) bool { return len(c.marks) < 2 })
}

// inOrder reports whether the items of a list have the numbers from start on, or all have the first one.
func (d *document) inOrder(items []item, start int) bool {
	counted, same := true, true
	for i, it := range items {
		line := d.lines(it.line, it.line+1)
		counted = counted && strings.HasPrefix(line, strconv.Itoa(start+i))
		same = same && strings.HasPrefix(line, strconv.Itoa(start))
	}
	return counted || same
}

// newList returns an ordered list. It is the steps if something above it says so, or if only the title of the text is above it.
func (d *document) newList(start int, items []item, b *block) *candidate {
	c := &candidate{form: formList, what: "a numbered list", rank: plainList}
	c.add(items, b)
	lead := ""
	if b.before != nil && b.before.level == 0 {
		lead = b.before.text
	}
	switch {
	case start > 1:
		c.doubt, c.rival = fmt.Sprintf("it begins with %d", start), true
	case strings.HasSuffix(lead, ":") && aside.in(lead):
		c.doubt = fmt.Sprintf("%q introduces it", shorten(lead))
	case introduces.in(lead) || announces(b.above.titlesFrom()):
		c.rank = titled
	case b.above != nil && !b.above.title:
		c.rival = instructions(c.marks)
		c.doubt = fmt.Sprintf("nothing says that what is under %q is the steps", shorten(b.above.text))
	}
	return c
}

func (c *candidate) add(items []item, b *block) {
	for _, it := range items {
		c.marks = append(c.marks, mark{line: it.line, end: it.end, title: it.text, above: b.above, level: 8})
	}
}
