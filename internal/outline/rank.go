package outline

import (
	"fmt"
	"slices"
	"strings"
)

// enough is the least score of a candidate that is taken for steps.
const enough = 55

// choose returns the best candidate and the others. It returns no best one if there is none
// that is good enough, or if several are as good, which are the tied ones.
func (d *document) choose() (best *candidate, others, tied []*candidate) {
	all := d.candidates()
	sole := soleList(all)
	d.total, d.foreign = d.written(0, len(d.lines)), !d.isEnglish()
	for _, c := range all {
		d.rate(c, c == sole)
	}
	slices.SortStableFunc(all, func(a, b *candidate) int { return b.score - a.score })
	if len(all) == 0 || all[0].score < enough {
		return nil, all, nil
	}
	best = outermost(announced(all))
	best = best.fullest(slices.DeleteFunc(slices.Clone(all), func(c *candidate) bool { return c.form != best.form }))
	if tied = best.tied(all); len(tied) > 0 {
		return nil, all, tied
	}
	best = d.prepared(d.finer(best), all)
	return best, slices.DeleteFunc(all, func(c *candidate) bool { return c == best }), nil
}

// prepared returns a list with the items of another one before it, if the title above that one says that
// these come before: "Before you deploy", with instructions.
func (d *document) prepared(c *candidate, all []*candidate) *candidate {
	if c.form != numberedItems && c.form != plainItems && c.form != checkboxes {
		return c
	}
	for _, first := range all {
		isList := first.form == numberedItems || first.form == plainItems || first.form == checkboxes
		at := d.lines[first.place].section
		if !isList || first.end() > c.begin() || at < 0 || at == d.lines[c.place].section || !beforehand.in(d.lines[at].text) ||
			first.overlaps(c) || d.instructions(first, true) < 0.7 {
			continue
		}
		both := *c
		both.marks, both.place = slices.Concat(first.marks, c.marks), first.place
		both.add(0, "")
		both.pro = append(slices.Clone(c.pro), fmt.Sprintf("with what %q says", shorten(d.lines[at].text)))
		return &both
	}
	return c
}

// announced returns the candidates without two phases that the text has beside a longer list
// under a title like Steps: they explain some of its items.
func announced(all []*candidate) []*candidate {
	best := all[0]
	if !forms[best.form].heading || len(best.marks) > 2 || best.announced {
		return all
	}
	for _, c := range all[1:] {
		if c.announced && c.score >= enough && len(c.marks) >= 4 && !c.overlaps(best) {
			return slices.DeleteFunc(slices.Clone(all), func(other *candidate) bool { return other == best })
		}
	}
	return all
}

// outermost returns the best candidate or, if that is within one step of another good one,
// the other.
func outermost(all []*candidate) *candidate {
	best := all[0]
	for _, c := range all[1:] {
		if forms[c.form].heading && c.score >= enough+15 && len(c.marks) >= 3 && best.within(c) && best.form != stepTags {
			return c
		}
	}
	return best
}

// tied returns the candidates elsewhere in the text that are as good as c, together with c:
// several workflows, of which only a person can choose one.
func (c *candidate) tied(all []*candidate) (tied []*candidate) {
	for _, other := range all {
		if other.form == c.form && !other.overlaps(c) && !other.repeats(c) &&
			other.score >= max(enough, c.score-10) && len(other.marks)*2 >= len(c.marks) {
			tied = append(tied, other)
		}
	}
	if len(tied) > 0 {
		tied = append(tied, c)
	}
	return tied
}

// repeats reports whether both have the same titles: a list of boxes to check has those of the sections below.
func (c *candidate) repeats(other *candidate) bool {
	return slices.EqualFunc(c.marks, other.marks, func(a, b mark) bool { return clean(a.title) == clean(b.title) })
}

// fullest returns the candidate of those that repeat c that has the most text.
func (c *candidate) fullest(all []*candidate) *candidate {
	best := c
	for _, other := range all {
		if other.repeats(c) && other.end()-other.begin() > best.end()-best.begin() {
			best = other
		}
	}
	return best
}

// soleList returns the only numbered list, or nil.
func soleList(all []*candidate) (sole *candidate) {
	for _, c := range all {
		if c.form != numberedItems {
			continue
		}
		if sole != nil {
			return nil
		}
		sole = c
	}
	return sole
}

// rate gives a candidate its score, and the reasons for it.
func (d *document) rate(c *candidate, sole bool) {
	c.score = forms[c.form].base
	if c.word == "part" || c.word == "task" || c.word == "wave" || c.word == "round" || c.word == "pass" {
		c.add(-35, "")
	}
	d.rateSurroundings(c)
	if c.form == plainHeadings && d.staged(c.indexes()) {
		c.add(25, "they are called stages or phases")
	}
	chapter := c.form == numberHeadings && len(c.pro) == 0 // which may number the chapters of a reference
	if share := d.instructions(c, !chapter); share >= 0.7 {
		c.add(15, "its items are instructions")
	} else if share >= 0 && share < 0.3 {
		c.add(-25, "few of its items are instructions")
		if !forms[c.form].heading {
			c.add(-15, "") // what is to be true, not what is to be done
		}
		if c.form == checkboxes {
			c.add(-15, "")
		}
	} else if share < 0 && c.score <= forms[c.form].base {
		c.add(-10, "") // nothing speaks for it
	} else if share >= 0 && chapter {
		c.add(-15, "some of its items are not instructions")
	} else if share >= 0 {
		c.add(5, "")
	}
	if forms[c.form].heading && c.word == "" && chapters(c.marks) {
		c.add(-25, "some of its titles are those of a reference")
	}
	if !forms[c.form].heading && cases(c.marks) {
		c.add(-40, "its items are cases")
	}
	d.rateSize(c)
	if share := d.instructions(c, true); c.form == checkboxes && share >= 0 && share < 0.3 && 3*d.written(c.begin(), c.end()) < d.total {
		c.add(-70, "it says what is to be true in the end")
	}
	if sole {
		c.add(10, "it is the only numbered list")
	}
	switch n := len(c.marks); {
	case n == 1:
		c.add(-30, "it has one item")
	case n == 2 && forms[c.form].heading:
		c.add(-10, "it has two items")
	case n == 2:
		c.add(-15, "it has two items")
	case n <= 25:
		c.add(5, "")
	case n > 60:
		c.add(-30, fmt.Sprintf("it has %d items", n))
	}
}

// indexes returns the lines where the steps begin.
func (c *candidate) indexes() (all []int) {
	for _, m := range c.marks {
		all = append(all, m.at)
	}
	return all
}

// chapters reports whether a third of the titles or more, and at least two, are those of
// chapters that are read and not done.
func chapters(marks []mark) bool {
	n := 0
	for _, m := range marks {
		if yes, _ := instructs(m.title); !yes && affinity(m.title) == against {
			n++
		}
	}
	return n >= 2 && n*3 >= len(marks)
}

// rateSize marks a candidate down that is a small part of a long text.
func (d *document) rateSize(c *candidate) {
	if d.total < 100 || d.lines[c.begin()].kind == code {
		return
	}
	switch share := float64(d.written(c.begin(), c.end())) / float64(d.total); {
	case share < 0.03:
		c.add(-45, "it is a small part of the text")
	case share < 0.05:
		c.add(-20, "it is a small part of the text")
	}
}

// written returns the number of lines that are neither blank nor code.
func (d *document) written(begin, end int) (n int) {
	for _, l := range d.lines[begin:min(end, len(d.lines))] {
		if l.kind != blank && l.kind != code {
			n++
		}
	}
	return n
}

func (c *candidate) add(points int, reason string) {
	c.score += points
	switch {
	case reason == "":
	case points < 0:
		c.con = append(c.con, reason)
	default:
		c.pro = append(c.pro, reason)
	}
}

// rateSurroundings judges a candidate by what introduces it, and by the titles above it.
func (d *document) rateSurroundings(c *candidate) {
	if at := d.lines[c.place].section; at < 0 || d.lines[at].level == 1 {
		c.add(10, "")
	}
	judged := c.rateLead()
	for _, title := range d.titles(c.place) {
		if caseTitle.in(title) {
			c.add(-40, fmt.Sprintf("%q is a case", shorten(title)))
		}
		if n, ok := parseNumbered(title); ok && n.word != "" && !forms[c.form].heading {
			c.add(-20, "it is a part of one step")
			return
		}
		switch a := affinity(title); {
		case !judged:
			judged = c.judge(title, 40, -50)
		case a == against:
			c.judge(title, 0, -40)
			if exampleOf.in(title) {
				c.add(-20, "")
			}
		case a == certain && c.likely && strongWords.in(title):
			c.likely = false
			c.add(25, "") // what Default flow leaves open, Instructions above it says
		}
	}
}

// rateLead judges a candidate by the line above it, and reports whether that line is a title.
func (c *candidate) rateLead() (judged bool) {
	lead := c.lead
	if lead == "" {
		return false
	}
	label := strings.HasSuffix(strings.TrimRight(lead, "*"), ":") || strings.HasPrefix(lead, "**")
	m := bold.find(lead)
	switch {
	case introduces.in(lead), beforehand.in(lead) && label:
		c.add(25, fmt.Sprintf("%q introduces it", shorten(lead)))
	case label && lists.in(strings.TrimRight(lead, "*: ")) && !forms[c.form].heading:
		c.add(-40, fmt.Sprintf("%q introduces it", shorten(lead)))
		return true
	case m != nil && len(m[1]) < 40:
		return c.judge(m[1], 35, -45)
	}
	return false
}

// titles returns the headings and elements that a line is in, the nearest heading first. The
// heading of the whole text counts only if it announces steps.
func (d *document) titles(i int) (all []string) {
	for at := d.lines[i].section; at >= 0; at = d.lines[at].section {
		if l := d.lines[at]; l.level > 1 || strongWords.in(l.text) {
			all = append(all, l.text)
		}
	}
	for at := d.lines[i].tag; at >= 0; at = d.lines[at].tag {
		all = append(all, d.lines[at].text)
	}
	return all
}

// judge adds what a title says, and reports whether it says anything.
func (c *candidate) judge(title string, points, minus int) bool {
	if n, ok := parseNumbered(title); ok && n.word == "" {
		title = n.title
	}
	switch affinity(title) {
	case certain:
		if c.announced = strongWords.in(title); c.announced {
			c.add(25, "")
		}
		c.add(points, fmt.Sprintf("it is under %q", shorten(title)))
	case likely:
		c.likely = true
		c.add(points/2, fmt.Sprintf("it is under %q", shorten(title)))
	case against:
		c.add(minus, fmt.Sprintf("it is under %q", shorten(title)))
	default:
		return false
	}
	return true
}

func shorten(text string) string {
	short, _ := cut(clean(text), "")
	return short
}

// exampleOf is a title above what somebody else did.
var exampleOf = pattern{text: `(?i)\b(?:examples?|samples?|templates?)\b|示例|例子|例$`}

// maxFiner is how many sub-steps phases may have that are taken instead of the phases. More
// are read better in the descriptions of the phases.
const maxFiner = 16

// finer returns the numbered headings below phases, if these carry the work, or else c.
func (d *document) finer(c *candidate) *candidate {
	if c.form != stepHeadings && c.form != numberHeadings || c.word == "step" {
		return c
	}
	level := d.lines[c.marks[0].at].level
	fine := &candidate{form: c.form, word: c.word, place: c.place, score: c.score, pro: c.pro}
	split := 0
	for _, m := range c.marks {
		subs := d.subSteps(m, level, c.word != "")
		if len(subs) >= 1 {
			split++
			fine.marks = append(fine.marks, subs...)
		} else {
			fine.marks = append(fine.marks, m)
		}
	}
	if split*2 <= len(c.marks) || len(fine.marks) < len(c.marks)+2 || len(fine.marks) > maxFiner && !continuing(d, fine) {
		return c
	}
	fine.form = stepHeadings
	fine.word = "step"
	fine.add(0, fmt.Sprintf("the parts above them (%d) only group them", len(c.marks)))
	return fine
}

// subSteps returns the numbered headings in the section of a phase.
func (d *document) subSteps(m mark, level int, phase bool) (subs []mark) {
	for i := m.at + 1; i < m.end; i++ {
		l := d.lines[i]
		if l.kind != heading || l.level != level+1 {
			continue
		}
		if n, ok := parseNumbered(l.text); ok && (n.word == "step" || phase && n.word == "") {
			subs = append(subs, mark{at: i, title: n.title, end: min(d.sectionEnd(i), m.end)})
		} else if n, ok := parseDotted(l.text); ok && phase {
			subs = append(subs, mark{at: i, title: n, end: min(d.sectionEnd(i), m.end)})
		}
	}
	return subs
}

var dotted = pattern{text: `^\d+\.\d+[.):]?\s+(\S.*)$`}

func parseDotted(text string) (string, bool) {
	m := dotted.find(strings.ReplaceAll(text, "**", ""))
	if m == nil {
		return "", false
	}
	return m[1], true
}

// continuing reports whether the numbers of headings grow through all phases.
func continuing(d *document, c *candidate) bool {
	last := -1.0
	for _, m := range c.marks {
		n, ok := parseNumbered(d.lines[m.at].text)
		if !ok || n.value <= last {
			return false
		}
		last = n.value
	}
	return true
}
