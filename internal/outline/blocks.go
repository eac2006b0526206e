package outline

import (
	"strings"
)

// tagRuns returns the elements named step that are in the same element.
func (d *document) tagRuns() (all []*candidate) {
	open := map[int]*candidate{}
	for i, l := range d.lines {
		if l.kind != openTag || !strings.EqualFold(l.text, "step") && !strings.EqualFold(l.text, "phase") && !strings.EqualFold(l.text, "task") {
			continue
		}
		c := open[l.tag]
		if c == nil {
			c = &candidate{form: stepTags, place: i}
			open[l.tag] = c
			all = append(all, c)
		}
		c.marks = append(c.marks, mark{at: i, title: tagTitle(l), end: d.tagEnd(i)})
	}
	return atLeast(all, 2)
}

// tagTitle returns the text that names an element of a step.
func tagTitle(l line) string {
	for _, name := range []string{"title", "goal", "name", "id"} {
		if text := l.attrs[name]; text != "" {
			if !strings.Contains(text, " ") {
				text = strings.NewReplacer("_", " ", "-", " ").Replace(text)
			}
			return upperFirst(text)
		}
	}
	return strings.TrimSuffix(l.attrs[""], "</"+l.text+">")
}

func upperFirst(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// tagEnd returns the index of the line that closes the element, or begins the next one.
func (d *document) tagEnd(i int) int {
	name := d.lines[i].text
	if strings.Contains(d.lines[i].attrs[""], "</"+name+">") {
		return i + 1
	}
	for j := i + 1; j < len(d.lines); j++ {
		if l := d.lines[j]; l.text == name && (l.kind == closeTag || l.kind == openTag) {
			return j
		}
	}
	return len(d.lines)
}

func atLeast(all []*candidate, n int) (kept []*candidate) {
	for _, c := range all {
		if len(c.marks) >= n {
			kept = append(kept, c)
		}
	}
	return kept
}

// codeLists returns the lists that are most of a block of code without a language.
func (d *document) codeLists() (all []*candidate) {
	for _, b := range d.codeBlocks() {
		switch b.lang {
		case "", "text", "txt", "plaintext", "md", "markdown", "checklist":
			if c := d.codeList(b); c != nil {
				all = append(all, c)
			}
		}
	}
	return all
}

// codeBlock is the lines from begin up to end, without the fences.
type codeBlock struct {
	begin, end int
	lang       string
}

func (d *document) codeBlocks() (all []codeBlock) {
	for i, l := range d.lines {
		switch {
		case l.kind != code:
		case i == 0 || d.lines[i-1].kind != code || d.lines[i-1].block != l.block:
			all = append(all, codeBlock{i + 1, i + 1, l.lang})
		default:
			all[len(all)-1].end = i
		}
	}
	return all
}

// codeList returns the numbered or checked lines at the margin of a block, if they are most of
// it. A block with a heading is a template for another text.
func (d *document) codeList(b codeBlock) *candidate {
	s := scanner{}
	for i := b.begin; i < b.end; i++ {
		s.add(line{number: d.lines[i].number, raw: d.lines[i].raw})
	}
	margin, written, boxed := 1000, 0, false
	for _, l := range s.out {
		if l.kind == heading {
			return nil
		}
		if l.kind != blank {
			margin, written = min(margin, l.level), written+1
		}
		boxed = boxed || l.box != 0
	}
	c := d.newList(codeItems, b.begin-1)
	covered := 0
	for i, l := range s.out {
		if l.kind == item && l.level == margin && (l.box != 0 || !boxed && l.ordered) {
			c.marks = append(c.marks, mark{at: b.begin + i, title: plainTitle(l.text), done: l.box == 'x', end: b.begin + i + 1})
			covered++
		} else if n := len(c.marks); n > 0 && l.kind != blank && l.level > margin {
			c.marks[n-1].end = b.begin + i + 1
			covered++
		}
	}
	if len(c.marks) < 2 || covered*2 < written {
		return nil
	}
	return c
}

// tables returns the tables whose first column numbers the steps.
func (d *document) tables() (all []*candidate) {
	for i := 0; i < len(d.lines); i++ {
		if d.lines[i].kind != table {
			continue
		}
		begin := i
		for i < len(d.lines) && d.lines[i].kind == table {
			i++
		}
		if c := d.tableList(begin, i); c != nil {
			all = append(all, c)
		}
	}
	return all
}

var stepColumn = pattern{text: `(?i)^(#|№|no\.?|steps?|phases?|stages?|étape|schritt|paso|passo|fase|步骤|阶段|手順|ステップ)$`}

func (d *document) tableList(begin, end int) *candidate {
	head := cells(d.lines[begin].text)
	if end-begin < 4 || len(head) < 2 || !stepColumn.in(clean(head[0])) {
		return nil
	}
	c := d.newList(tableRows, begin)
	for i := begin + 2; i < end; i++ {
		row := cells(d.lines[i].text)
		if len(row) < 2 {
			return nil
		}
		title, rest := clean(row[0]), row[1:]
		if n, ok := parseNumbered(title + " x"); ok || strings.Trim(title, "0123456789.") == "" {
			if title = n.title; title == "x" || !ok {
				title, rest = clean(row[1]), row[2:]
			}
			title = strings.TrimSuffix(title, " x")
		} else if strings.EqualFold(clean(head[0]), "#") {
			return nil
		}
		c.marks = append(c.marks, mark{at: i, title: "**" + title + "**: " + strings.Join(rest, "; "), end: i + 1})
	}
	return c
}

func cells(row string) (list []string) {
	for _, cell := range strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|") {
		list = append(list, strings.TrimSpace(cell))
	}
	return list
}

// arrowLines returns the lines such as "**Flow:** Build → Test → Ship".
func (d *document) arrowLines() (all []*candidate) {
	for i, l := range d.lines {
		if l.kind != prose || strings.Count(l.text, "→") < 2 {
			continue
		}
		label, rest := "", l.text
		if m := bold.find(l.text); m != nil {
			label, rest = m[1], m[2]
		}
		c := &candidate{form: arrows, place: i, lead: label}
		for _, part := range strings.Split(rest, "→") {
			c.marks = append(c.marks, mark{at: i, title: strings.Trim(part, " `.()"), end: i})
		}
		all = append(all, c)
	}
	return all
}

var (
	dotEdge     = pattern{text: `"([^"]+)"\s*->\s*"([^"]+)"`}
	dotShape    = pattern{text: `^\s*"([^"]+)"\s*\[[^\]]*shape\s*=\s*"?(\w+)`}
	flowNode    = pattern{text: `\b([A-Za-z][\w-]*)\s*(\[\(|\[\[|\(\[|\(\(|\[|\(|\{\{?)"?([^\]\)\}"]+)"?[\]\)\}]+`}
	flowStarts  = pattern{text: `(?i)^\s*(flowchart|graph)\b`}
	decidesNode = pattern{text: `\?\s*$`}
)

// graphs returns the nodes of directed graphs in the order in which they are written, without
// those that only decide or mark the beginning and the end.
func (d *document) graphs() (all []*candidate) {
	for _, b := range d.codeBlocks() {
		var c *candidate
		switch b.lang {
		case "dot", "graphviz":
			c = d.dot(b)
		case "mermaid":
			c = d.flowchart(b)
		}
		if c != nil && len(c.marks) >= 3 {
			all = append(all, c)
		}
	}
	return all
}

func (d *document) dot(b codeBlock) *candidate {
	c := d.newList(graphNodes, b.begin-1)
	skip := map[string]bool{}
	for i := b.begin; i < b.end; i++ {
		if m := dotShape.find(d.lines[i].raw); m != nil && m[2] != "box" && m[2] != "rect" {
			skip[m[1]] = true
		}
	}
	for i := b.begin; i < b.end; i++ {
		if m := dotEdge.find(d.lines[i].raw); m != nil {
			c.node(m[1], i, skip)
			c.node(m[2], i, skip)
		}
	}
	return c
}

func (d *document) flowchart(b codeBlock) *candidate {
	if b.begin >= b.end || !flowStarts.in(d.lines[b.begin].raw) {
		return nil
	}
	c := d.newList(graphNodes, b.begin-1)
	skip := map[string]bool{}
	for i := b.begin; i < b.end; i++ {
		for _, m := range flowNode.compiled().FindAllStringSubmatch(d.lines[i].raw, -1) {
			if m[2] != "{" && m[2] != "{{" && m[2] != "((" && m[2] != "([" {
				c.node(m[3], i, skip)
			}
		}
	}
	return c
}

// node appends a node that is neither skipped nor known.
func (c *candidate) node(text string, at int, skip map[string]bool) {
	if skip[text] || decidesNode.in(text) {
		return
	}
	skip[text] = true
	title := strings.NewReplacer(`\n`, " ", "<br/>", " ", "<br>", " ").Replace(text)
	c.marks = append(c.marks, mark{at: at, title: title, end: at})
}
