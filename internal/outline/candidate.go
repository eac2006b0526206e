package outline

import (
	"fmt"
	"strings"
)

// form is how a text writes a sequence of steps.
type form int

const (
	stepHeadings   form = iota // ## Step 1: Build
	stepTags                   // <step name="build">
	stepLabels                 // **Step 1: Build**, or the same without emphasis
	numberHeadings             // ## 1. Build
	numberLabels               // **1. Build**
	numberedItems              // 1. Build
	plainHeadings              // ### Build, below ## Workflow
	checkboxes                 // - [ ] Build
	plainItems                 // - Build
	codeItems                  // a list in a block of code
	tableRows                  // | 1 | Build |
	arrows                     // Build → Ship
	graphNodes                 // a directed graph of Graphviz or Mermaid
)

// forms says for each form what it is called, how convincing it is by itself, and whether
// its steps are headings. The sum that rank makes of it is compared with enough.
var forms = [...]struct {
	name    string
	base    int
	heading bool
}{
	stepHeadings:   {"headings with the number of a step", 100, true},
	stepTags:       {"elements named step", 100, true},
	stepLabels:     {"lines that begin with the number of a step", 85, true},
	numberHeadings: {"numbered headings", 50, true},
	numberLabels:   {"numbered lines in bold", 45, true},
	numberedItems:  {"a numbered list", 40, false},
	plainHeadings:  {"headings", 40, true},
	checkboxes:     {"a list of checkboxes", 35, false},
	plainItems:     {"a list", 20, false},
	codeItems:      {"a list in a code block", 30, false},
	tableRows:      {"the rows of a table", 30, false},
	arrows:         {"a line with arrows", 15, false},
	graphNodes:     {"the nodes of a graph", 15, false},
}

// mark is the line where a step begins.
type mark struct {
	at    int // index of the line
	title string
	end   int  // index behind the last line of its text
	done  bool // its box is checked
}

// candidate is a sequence that may be the steps of a text.
type candidate struct {
	form  form
	marks []mark
	word  string // "step", "phase" and so on, of the forms that have such a word
	lead  string // the line above, if it introduces the sequence
	place int    // index of the line whose section and tag it is in

	score     int
	pro, con  []string // why the score is high, and why it is low
	announced bool     // the nearest title is one like Steps or Workflow
	likely    bool     // the nearest title may announce steps
}

func (c *candidate) what() string {
	text := forms[c.form].name
	if c.word != "" && c.word != "step" {
		text = strings.Replace(text, "a step", fmt.Sprintf("a %q", c.word), 1)
	}
	return text
}

// why returns the reasons for a candidate.
func (c *candidate) why() string { return strings.Join(c.pro, ", ") }

// whyNot returns the reasons against a candidate.
func (c *candidate) whyNot() string {
	if len(c.con) == 0 {
		return "little shows that it is a sequence of steps"
	}
	return strings.Join(c.con, ", ")
}

// begin and end are the lines that a candidate covers.
func (c *candidate) begin() int { return c.marks[0].at }
func (c *candidate) end() int   { return c.marks[len(c.marks)-1].end }

// within reports whether a candidate is in the text of one step of another.
func (c *candidate) within(other *candidate) bool {
	for _, m := range other.marks {
		if m.at <= c.begin() && c.end() <= m.end && c != other {
			return true
		}
	}
	return false
}

// overlaps reports whether two candidates have lines in common.
func (c *candidate) overlaps(other *candidate) bool {
	return c.begin() < other.end() && other.begin() < c.end()
}

// candidates returns everything in the text that could be a sequence of steps.
func (d *document) candidates() (all []*candidate) {
	for _, find := range []func() []*candidate{
		d.headingRuns, d.tagRuns, d.labelRuns, d.numberedRuns, d.childHeadings,
		d.boxRuns, d.bulletRuns, d.codeLists, d.tables, d.arrowLines, d.graphs,
	} {
		all = append(all, find()...)
	}
	return all
}

// body returns the text of a step below its mark.
func (d *document) body(m mark) string {
	var raw []string
	for i := m.at + 1; i < m.end && i < len(d.lines); i++ {
		if l := d.lines[i]; l.kind != comment && !(l.kind == closeTag && l.text == "step") && !ruler(l) {
			raw = append(raw, l.raw)
		}
	}
	return paragraph(raw)
}

// ruler reports whether a line only draws a line.
func ruler(l line) bool {
	return l.kind == prose && len(l.text) >= 3 && strings.Trim(l.text, "-*_ ") == ""
}

// sectionEnd returns the index behind the section of the heading at index i.
func (d *document) sectionEnd(i int) int {
	for j := i + 1; j < len(d.lines); j++ {
		if d.lines[j].kind == heading && d.lines[j].level <= d.lines[i].level {
			return j
		}
		if d.lines[j].kind == closeTag && d.lines[i].tag >= 0 && d.lines[j].tag == d.lines[i].tag &&
			d.lines[j].text == d.lines[d.lines[i].tag].text {
			return j
		}
	}
	return len(d.lines)
}

// above returns the last line that is not blank before the index i, or a blank line.
func (d *document) above(i int) line {
	for i--; i >= 0; i-- {
		if k := d.lines[i].kind; k != blank && k != comment {
			return d.lines[i]
		}
	}
	return line{}
}
