package outline

import (
	"slices"
	"strconv"
	"strings"
)

// The words that many languages have for a step, and what they have between the word and the
// text. The third is for languages that put the number first or in the middle.
var (
	decoration = pattern{text: `^[^\p{L}\p{N}<\[({$/]+`}
	stepWord   = pattern{text: `(?i)^(steps?|phases?|stages?|round|pass|task|part|wave|étape|etape|schritt|paso|passo|fase|etapa|шаг|этап|` +
		`steg|krok|adım|bước|stap|ステップ|フェーズ|手順|步骤|步驟|阶段|階段|단계)\s*[#№]?\s*(\d+(?:\.\d+)*[a-z]?|\b(?-i:[A-Z])|\b[ivxIVX]+|\bone|two|three|four|` +
		`five|six|seven|eight|nine|ten|zero|[一二三四五六七八九十]+)(?:\s*(?:-|–|—|to|&|and|of|/)\s*\d+)?([^\p{L}\p{N}].*|)$`}
	stepAfter  = pattern{text: `^(?:第\s*)?([0-9]+|[一二三四五六七八九十]+)\s*(步|阶段|階段|ステップ|단계)骤?([^\p{L}\p{N}].*|)$`}
	numberWord = pattern{text: `^(\d{1,2})(?:[.):]|\s*[\x{2013}\x{2014}-]|\\\.)\s+(\S.*)$|^(\d{1,2})(?:、|\s+)(\S.*)$`}
	letterWord = pattern{text: `^([A-H])[.)]\s+(\S.*)$`}
	separators = pattern{text: `^[\s.:)\]\x{2013}\x{2014}|·•：、．）>/-]+`}
)

// ordinals returns the numbers of words. It is a function, so that the program need not make
// the map at every start.
func ordinals() map[string]float64 {
	return map[string]float64{
		"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
		"一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
		"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "x": 10,
	}
}

// numbered is the text of a line that begins with a number.
type numbered struct {
	word  string // "step" and so on, or "" for a number alone
	value float64
	title string
}

// parseNumbered splits text like "Step 1: Build", "Phase B" and "2. Ship".
func parseNumbered(text string) (numbered, bool) {
	text = decoration.compiled().ReplaceAllString(strings.ReplaceAll(text, "**", ""), "")
	if m := stepWord.find(text); m != nil {
		if v, ok := value(m[2], m[1]); ok {
			return numbered{strings.TrimSuffix(strings.ToLower(m[1]), "s"), v, titleOf(text, m[3])}, true
		}
	}
	if m := stepAfter.find(text); m != nil {
		if v, ok := value(m[1], ""); ok {
			return numbered{m[2], v, titleOf(text, m[3])}, true
		}
	}
	if m := numberWord.find(text); m != nil {
		v, _ := strconv.ParseFloat(m[1]+m[3], 64)
		return numbered{"", v, m[2] + m[4]}, true
	}
	if m := letterWord.find(text); m != nil {
		return numbered{"", float64(m[1][0]-'A') + 1, m[2]}, true
	}
	return numbered{}, false
}

// variantWord is a heading of a step that says of which of several workflows it is one.
var variantWord = pattern{text: `(?i)^([\p{L}-]+(?:\s+[\p{L}-]+)?)\s+((?:step|phase|stage)\s+\d.*)$`}

// parseVariant splits text like "Local Step 1: Build" and "Final Phase 3". The steps of a workflow
// that has a name are not those of another one.
func parseVariant(text string) (numbered, bool) {
	m := variantWord.find(decoration.compiled().ReplaceAllString(strings.ReplaceAll(text, "**", ""), ""))
	if m == nil {
		return numbered{}, false
	}
	n, ok := parseNumbered(m[2])
	if !within.in(m[1]) {
		n.word = strings.ToLower(m[1]) + " " + n.word
	}
	return n, ok
}

// within is what a step is called that is one of a longer sequence.
var within = pattern{text: `(?i)^(?:optional|final|last|next|first|optionally|mandatory|required|new|bonus|critical|important)$`}

// titleOf returns what follows a number, or the whole text if nothing does.
func titleOf(whole, rest string) string {
	rest = separators.compiled().ReplaceAllString(rest, "")
	if strings.HasPrefix(rest, "(") || rest == "" {
		rest = strings.TrimSpace(rest)
	}
	if rest == "" {
		return whole
	}
	return rest
}

// value returns the number that a word or digits stand for: 3b is a little more than 3.
func value(text, word string) (float64, bool) {
	lower := strings.ToLower(text)
	if v, ok := ordinals()[lower]; ok && (len(lower) > 1 || lower[0] >= 0x80) {
		return v, true
	}
	if len(text) == 1 && text >= "A" && text <= "Z" {
		if text == "I" && word != "" {
			return 1, true
		}
		return float64(text[0]-'A') + 1, true
	}
	if !regexpDigits.in(text) {
		return 0, false
	}
	extra := 0.0
	if c := text[len(text)-1]; c >= 'a' {
		extra, text = float64(c-'a'+1)/1000, text[:len(text)-1]
	}
	whole, part, _ := strings.Cut(text, ".")
	v, err := strconv.ParseFloat(whole, 64)
	for i, p := range strings.Split(part, ".") {
		n, _ := strconv.ParseFloat("0"+p, 64)
		v += n / []float64{100, 100000}[min(i, 1)]
	}
	return v + extra, err == nil
}

var regexpDigits = pattern{text: `^\d+(\.\d+)*[a-z]?$`}

// headingRuns returns the sequences of headings with numbers. A sequence goes on over other
// headings, as long as its numbers grow.
func (d *document) headingRuns() []*candidate {
	r := runs{open: map[string]*candidate{}, last: map[string]float64{}}
	for i, l := range d.lines {
		if l.kind != heading {
			continue
		}
		n, ok := parseNumbered(l.text)
		if !ok {
			n, ok = parseVariant(l.text)
		}
		if !ok {
			continue
		}
		f := numberHeadings
		if n.word != "" {
			f = stepHeadings
		}
		r.add(f, n, i, strconv.Itoa(l.level))
	}
	for _, c := range r.all {
		d.endHeadings(c)
		if up := d.above(c.begin()); up.kind == prose && introduces.in(up.text) {
			c.lead = up.text
		}
	}
	return r.complete()
}

// endHeadings ends each step before the next heading that is not below its own.
func (d *document) endHeadings(c *candidate) {
	for i := range c.marks {
		c.marks[i].end = d.sectionEnd(c.marks[i].at)
		if i+1 < len(c.marks) {
			c.marks[i].end = min(c.marks[i].end, c.marks[i+1].at)
		}
	}
}

// runs collects numbered lines to sequences.
type runs struct {
	open map[string]*candidate // by form, word and level
	last map[string]float64
	all  []*candidate
}

// add appends a line to the sequence with the same form, word and level, or begins one.
func (r *runs) add(f form, n numbered, at int, level string) {
	key := strconv.Itoa(int(f)) + " " + n.word + " " + level
	c := r.open[key]
	if c == nil || n.value <= r.last[key] || n.value > r.last[key]+3 {
		c = &candidate{form: f, word: n.word, place: at}
		if n.value > 1 {
			c = &candidate{form: f, word: n.word, place: -1} // does not begin with its first step
		}
		r.open[key] = c
		r.all = append(r.all, c)
	}
	r.last[key] = n.value
	c.marks = append(c.marks, mark{at: at, title: n.title})
}

// complete returns the sequences that begin with their first step and have a second one.
func (r *runs) complete() (all []*candidate) {
	for _, c := range r.all {
		if c.place >= 0 && len(c.marks) >= 2 {
			all = append(all, c)
		}
	}
	return all
}

// childHeadings returns the headings directly below one that announces steps.
func (d *document) childHeadings() (all []*candidate) {
	below := map[int][]int{}
	for i, l := range d.lines {
		if l.kind == heading {
			below[l.section] = append(below[l.section], i)
		}
	}
	if c := d.introduced(below); c != nil {
		all = append(all, c)
	}
	for i, l := range d.lines {
		if l.kind != heading || len(below[i]) < 2 || affinity(l.text) < certain && !d.staged(below[i]) || groups.in(l.text) ||
			d.numbered(below[i]) {
			continue
		}
		c := &candidate{form: plainHeadings, place: below[i][0]}
		for _, j := range below[i] {
			if isStep(d.lines[j].text) {
				c.marks = append(c.marks, mark{at: j, title: plainTitle(d.lines[j].text)})
			}
		}
		if len(c.marks) >= 2 {
			d.endHeadings(c)
			all = append(all, c)
		}
	}
	return all
}

// isStep reports whether a heading among steps is one, and not a chapter that is read: "Read the changelog"
// is, "Changelog" and "Use cases" are not.
func isStep(title string) bool {
	yes, _ := instructs(title)
	return yes && len(strings.Fields(title)) > 2 || affinity(title) != against
}

// groups is a title above headings that only group what is below them: boxes to check, or
// workflows of which one is done.
var groups = pattern{text: `(?i)checklist|\b(?:workflows|processes|procedures|playbooks|runbooks|protocols|pipelines|` +
	`instructions|methodologies)\b`}

// introduced returns the headings that follow a line such as "Follow these steps:".
func (d *document) introduced(below map[int][]int) *candidate {
	for i, l := range d.lines {
		if l.kind != heading {
			continue
		}
		lead := d.above(i)
		if lead.kind != prose || !introduces.in(lead.text) || !strings.HasSuffix(lead.text, ":") {
			continue
		}
		siblings := below[l.section]
		if d.numbered(siblings) {
			continue
		}
		c := &candidate{form: plainHeadings, place: i, lead: lead.text}
		for _, j := range siblings[slices.Index(siblings, i):] {
			if isStep(d.lines[j].text) {
				c.marks = append(c.marks, mark{at: j, title: plainTitle(d.lines[j].text)})
			}
		}
		if len(c.marks) >= 2 {
			d.endHeadings(c)
			return c
		}
	}
	return nil
}

// numbered reports whether half of the headings or more have numbers, by which headingRuns
// finds them.
func (d *document) numbered(headings []int) bool {
	n := 0
	for _, i := range headings {
		if _, ok := parseNumbered(d.lines[i].text); ok {
			n++
		}
	}
	return n*2 >= len(headings)
}

// staged reports whether most of the headings are called stages or phases, without a number.
func (d *document) staged(headings []int) bool {
	n := 0
	for _, i := range headings {
		if _, numbered := parseNumbered(d.lines[i].text); numbered {
			return false
		}
		if stageWord.in(d.lines[i].text) {
			n++
		}
	}
	return n*2 > len(headings)
}

var stageWord = pattern{text: `(?i)\b(stage|phase|step)\b`}

// plainTitle returns the text of a heading or an item without a number or decoration in front of it.
func plainTitle(text string) string {
	if n, ok := parseNumbered(text); ok {
		return n.title
	}
	return text
}
