// Package checklist finds the boxes in a Markdown text: the items of its lists that can be ticked. It takes each of them, in
// whatever form people write them, or says which lines it cannot read. Boxes in code and in comments do not count.
package checklist

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fsmtx/fsmtx/internal/pattern"
)

// Box is an item with a box.
type Box struct {
	Line   int    // from 0
	Text   string // behind the box, without comments at its end
	Number string // such as 2.1: of the list, or with which the text begins; empty if there is none
	Done   bool
	Mark   string // between [ and ]
	Spare  bool   // it is marked as optional
	Of     int    // the line of the box of which it is a part: it stands below that, indented, or that is its heading; else -1
	Above  []Head // the headings of its section, the outermost first

	from, to int // the mark between [ and ], in bytes of the line
}

// Head is a heading.
type Head struct {
	Line, Level int // the line from 0
	Text        string
}

// Fault is a line that may be a box, and why it cannot be read.
type Fault struct {
	Line  int // from 0
	Why   string
	Above []Head // the headings of its section
}

func (f Fault) String() string { return fmt.Sprintf("line %d: %s", f.Line+1, f.Why) }

// Told says what is wrong with lines, those together of which it is the same.
func Told(faults []Fault) string {
	faults = slices.SortedStableFunc(slices.Values(faults), func(a, b Fault) int { return a.Line - b.Line })
	var texts []string
	for len(faults) > 0 {
		first := faults[0]
		var lines []int
		for _, f := range faults {
			if f.Why == first.Why {
				lines = append(lines, f.Line)
			}
		}
		texts = append(texts, Named(lines)+": "+first.Why)
		faults = slices.DeleteFunc(faults, func(f Fault) bool { return f.Why == first.Why })
	}
	return strings.Join(texts, "; ")
}

// Headings returns the headings of the section of a box, a line each, the outermost first.
func (b Box) Headings() string {
	var all []string
	for _, h := range b.Above {
		all = append(all, h.Text)
	}
	return strings.Join(all, "\n")
}

// Named names lines, from 0, for people, from 1.
func Named(lines []int) string {
	var texts []string
	for i := 0; i < len(lines); {
		end := i
		for end+1 < len(lines) && lines[end+1] == lines[end]+1 {
			end++
		}
		text := strconv.Itoa(lines[i] + 1)
		if end > i {
			text += "–" + strconv.Itoa(lines[end]+1)
		}
		texts, i = append(texts, text), end+1
	}
	if len(lines) == 1 {
		return "line " + texts[0]
	}
	return "lines " + strings.Join(texts, ", ")
}

// Marks of a box that this program sets.
const (
	Open = " "
	Tick = "x"
)

// Set returns the line of the box with another mark.
func (b Box) Set(line, mark string) string { return line[:b.from] + mark + line[b.to:] }

const (
	blank = `[ \t\x{a0}\x{2000}-\x{200b}\x{202f}\x{3000}\x{feff}]`

	// boxSigns are boxes in other signs, and tickSigns what may be one.
	boxSigns  = `[☐☑☒🗹⬜⬛🔲🔳◻▢□［]`
	tickSigns = `[✅❌❎✔✓✗✘⏳🔄🚧]`
)

var (
	// marker is what stands before a box: quotes, a heading, marks of lists in any alphabet, emphasis.
	marker = pattern.New(`^` + blank + `*(?:>[ \t]?)*` + blank + `*(?:#{1,6}[ \t]+)?(?:(?:[-+]` + blank + `*|\*` + blank + `+|` +
		`[•·・‣◦–—▪●○]` + blank + `*|(?:\d+(?:\.\d+)+[.)]?|[(（]?(?:\p{L}{1,2}|[ivxIVX]{1,4}|\p{N}{1,4})[.)、．）])` +
		blank + `*)){0,2}(?:\*\*|__)?`)
	// mark is a box. Another text in brackets may be one, and what ( or [ follows is a link.
	mark    = pattern.New(`^\[([ \t]*[^\[\]\s]?\x{fe0f}?[ \t]*|\p{L}[^\[\]]*|[^\s\p{L}\p{N}\[\]()]{1,2}[xX]?[^\s\p{L}\p{N}\[\]()]{1,2})\]`)
	heading = pattern.New(`^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$`)
	// behind is a box at the end of a text, or behind a label. Elsewhere in a sentence it is a word of that.
	behind      = pattern.New(`[^\s\[]\s+\[ ?[ xX] ?\](?:[\s*_.]*$|\*\*)|[:*_]\s+\[ +\]\s|^\W*(?:\p{L}+ )?\S*\d\S*\s+\[ ?[ xX] ?\]\s`)
	legend      = pattern.New(`^\s*[=:→]\s|[·|,;/]\s*\[[ xX~/>-]\]\s`)
	round       = pattern.New(`^(?:\([ xX]?\)|&#(?i:974[456]|x261[012]);)(?:\s|$)`)
	loose       = pattern.New(`^[^\p{L}]*\[ ?[ xX]? ?\](?:[^\p{L}\p{N}(\[:]|$)`) // nothing but signs stands before it
	labeled     = pattern.New(`^[\s>]*\p{L}[\p{L}\p{N}]*:\s+\[ ?[ xX]? ?\](?:[\s*_]|$)`)
	trailing    = pattern.New(`^(.*[^\s\[].*?)\s+\[ ?[ xX]? ?\][\s*_]*$`)
	ofProse     = pattern.New(`(?i)(?:^|\s)(?:with|as|to|using|use|into|from|by|is|be|an?|the|or|and|in|=|→|->)$`)
	inText      = pattern.New(`\[ ?[ xX] ?\]`)
	sign        = pattern.New(`^(?:` + boxSigns + `|【[\s\x{3000}xX✓√]*】)`)
	tick        = pattern.New(`^` + tickSigns)
	cell        = pattern.New(`^\s*\|(?:.*\|)?\s*(?:[-+*]\s+)?(?:\[ ?[ xX]? ?\]|` + boxSigns + `\x{fe0f}?)(?:\s|\|)`)
	after       = pattern.New(`^[\s>]*(?:(?:\S+:|[^\s\p{L}\p{N}|<]{1,3})\s+|(?:<[^>]*>\s*)+)(?:[-+*]|\d+[.)])\s+\[ ?[ xX]? ?\](?:\s|$)`)
	inHTML      = pattern.New(`(?i)<input\b[^>]*\bcheckbox\b|<li[^>]*>\s*(?:<[^>]*>\s*)*\[[ x]?\]`)
	toDo        = pattern.New(`^[ \t>]*(?i:to-?do|done|doing|task)\b`)
	block       = pattern.New(`(?i)^<(?:script|pre|style|textarea)(?:[\s>]|$)`) // of HTML, with text as it is
	comments    = pattern.New(`(?:(?:^|\s)\s*<!--(?:[^-]|-[^-]|--[^>])*(?:-->\s*|$))+$`)
	number      = pattern.New(`^[*_]*(?i:(?:sub)?task\s+)?(\d+(?:\.\d+)*)\b`)
	commentEnds = pattern.New(`-->`)
	ends        = pattern.New(`(?i)</(?:script|pre|style|textarea)>`)
	first       = pattern.New(`^(?:[-+*]|\d+[.)])[ \t]`)
	asCode      = pattern.New("^`\\[ ?[ xX]? ?\\]`")
	named       = pattern.New(`(?m)^[ \t>]*\[([^\[\]]+)\]:`) // the definition of a reference
)

// Unticked returns a text with every box empty.
func Unticked(text string) string {
	lines := Lines(text)
	for _, b := range Read(text).Boxes {
		lines[b.Line] = b.Set(lines[b.Line], Open)
	}
	return strings.Join(lines, "")
}

// WithoutComments returns a text without the comments at its end.
func WithoutComments(text string) string {
	if at := comments.Regexp().FindStringIndex(withoutCode(text)); at != nil {
		return text[:at[0]]
	}
	return text
}

// Lines returns the lines of a text, each with its end.
func Lines(text string) []string { return strings.SplitAfter(text, "\n") }

// List is what a text has.
type List struct {
	Boxes  []Box
	Heads  []Head  // every heading
	Faults []Fault // the lines that cannot be read; if there are some, boxes may be missing
	Apart  []Fault // the lines that have a box, or what may be one, and are no items of the plan
	Unread bool    // the text as a whole cannot be read
}

// Read returns the boxes of a text.
func Read(text string) List {
	if i := strings.IndexFunc(text, func(r rune) bool { return r == 0 || r == utf8.RuneError }); i >= 0 && NotUTF8(text) {
		return unread(strings.Count(text[:i], "\n"), IsNotUTF8)
	}
	if strings.Contains(text, "\r") && !strings.Contains(text, "\n") {
		return unread(0, "its lines end with a carriage return alone: save it with line feeds")
	}
	r := reader{defined: map[string]bool{}, stars: map[int]bool{}, titles: map[int]bool{}}
	for _, m := range named.Regexp().FindAllStringSubmatch(text, -1) {
		r.defined[strings.ToLower(m[1])] = true
	}
	for i, line := range Lines(text) {
		r.line(i, line)
	}
	r.end()
	return r.List
}

// IsNotUTF8 says what is wrong with a text for which NotUTF8 is true.
const IsNotUTF8 = "this is not text in UTF-8: save it as UTF-8"

// NotUTF8 reports whether a text has another encoding, such as UTF-16 or Latin-1.
func NotUTF8(text string) bool { return strings.ContainsRune(text, 0) || !utf8.ValidString(text) }

func unread(line int, why string) List {
	return List{Faults: []Fault{{Line: line, Why: why}}, Unread: true}
}

// reader is the state between two lines.
type reader struct {
	List
	heads []Head // above the line

	fence   string           // with which the block of code ends, "" outside
	tasks   bool             // that block is a [tasklist], of which GitHub made a list of boxes
	until   *pattern.Pattern // with which a comment or a block of HTML ends, nil outside
	front   string           // with which the frontmatter ends
	begun   int              // the line at which the code or the comment begins
	items   []entry          // that the line may be in
	titles  map[int]bool     // the lines of headings that are boxes
	content []int            // where the text of the items begins that the line may be in, in columns
	blank   bool             // the line before
	code    bool             // indented
	inside  []Box
	doubts  []Fault
	stars   map[int]bool    // the lines of the doubts about [*], which may stand for any word
	defined map[string]bool // the names of references
}

// entry is an item of a list.
type entry struct {
	indent int
	box    int // its line, or -1
}

// doubt notes an item that begins with a text in brackets, or with a box as code: a box if there are others in its section.
func (r *reader) doubt(line int, why string) {
	r.doubts = append(r.doubts, Fault{line, why, slices.Clone(r.heads)})
}

func isNoMark(box string) string {
	return box + " is none of the boxes [ ], [x], [-], [~], [/] and [>]"
}

func (r *reader) line(i int, line string) {
	offset := 0
	if i == 0 && strings.HasPrefix(line, "\ufeff") {
		offset = len("\ufeff")
	}
	text := strings.TrimRightFunc(line[offset:], unicode.IsSpace)
	if !r.apart(i, line, offset, text) {
		r.plain(i, line, offset, text)
	}
}

// apart takes in a line of the frontmatter, of a comment or of a block of code or HTML. It reports whether the line is one.
func (r *reader) apart(i int, line string, offset int, text string) bool {
	switch {
	case i == 0 && (text == "---" || text == "+++"):
		r.front, r.begun = text, i
		return true
	case r.front != "":
		if r.hide(i, line, offset, text); text == r.front || text == "..." && r.front == "---" {
			for _, b := range r.inside {
				r.fault(b.Line, "a box in the frontmatter, between two lines "+r.front)
			}
			r.front, r.inside = "", nil
		}
		return true
	case r.until != nil:
		if r.hide(i, line, offset, text); r.until.Regexp().MatchString(text) {
			r.until, r.inside = nil, nil
		}
		return true
	case r.fence != "":
		if inner := unquoted(text); isFence(inner, r.fence) {
			if r.tasks && len(r.inside) > 0 {
				r.fault(r.begun, "the boxes in a [tasklist] are not read: take out its two lines ```")
			}
			r.fence, r.inside, r.blank = "", nil, true
		} else {
			r.hide(i, line, offset, text)
		}
		return true
	}
	return false
}

// plain takes in any other line.
func (r *reader) plain(i int, line string, offset int, text string) {
	before := r.blank
	if r.blank = strings.TrimSpace(text) == ""; r.blank {
		return
	}
	if r.opens(i, text) {
		return
	}
	if m := heading.Regexp().FindStringSubmatch(text); m != nil {
		r.head(Head{i, len(m[1]), m[2]})
		r.blank = true // no paragraph goes on below it
	}
	indent := columns(text)
	if r.code = r.isCode(indent, before); r.code {
		quiet := reader{stars: map[int]bool{}}
		if _, ok := quiet.box(i, line, offset); ok && r.isBelowBox() {
			r.fault(i, "it is indented as code below a box: indent it less, or put code between fences")
		}
		return
	}
	r.within(text, indent, before)
	b, ok := r.box(i, line, offset)
	if ok || before || isItem(text) {
		r.items = slices.DeleteFunc(r.items, func(it entry) bool { return it.indent+2 > indent })
	}
	if b.Of = r.above(i); ok {
		r.Boxes = append(r.Boxes, b)
	}
	switch {
	case ok:
		r.items = append(r.items, entry{indent, i})
		r.titles[i] = len(r.heads) > 0 && r.heads[len(r.heads)-1].Line == i
	case isItem(text):
		r.items = append(r.items, entry{indent, -1})
	}
}

// above returns the line of the box that a line is below: as text of its item, or in the section of which it is the heading.
func (r *reader) above(line int) int {
	for _, it := range slices.Backward(r.items) {
		if it.box >= 0 {
			return it.box
		}
	}
	for _, h := range slices.Backward(r.heads) {
		if h.Line != line && r.titles[h.Line] {
			return h.Line
		}
	}
	return -1
}

// isCode reports whether a line is code because it is indented by four columns more than the text that it may belong to.
func (r *reader) isCode(indent int, afterBlank bool) bool {
	base := 0
	for _, c := range r.content {
		if c <= indent {
			base = max(base, c)
		}
	}
	return indent-base >= 4 && (afterBlank || r.code)
}

// isBelowBox reports whether the line is in a list that has a box above it.
func (r *reader) isBelowBox() bool {
	n := len(r.Boxes)
	return n > 0 && len(r.content) > 0 && slices.Equal(r.Boxes[n-1].Above, r.heads)
}

// within notes in which items the next line may be.
func (r *reader) within(text string, indent int, afterBlank bool) {
	item := isItem(text)
	if item || afterBlank || indent == 0 {
		r.content = slices.DeleteFunc(slices.Clone(r.content), func(c int) bool { return c > indent })
	}
	if item {
		inner := strings.TrimLeft(unquoted(text), " \t")
		r.content = append(r.content, indent+max(2, len(first.Regexp().FindString(inner))),
			indent+max(2, utf8.RuneCountInString(marker.Regexp().FindString(inner))))
	}
}

// box returns the box with which an item begins, and notes what only looks like one.
func (r *reader) box(i int, line string, offset int) (b Box, ok bool) {
	text := strings.TrimRightFunc(line[offset:], unicode.IsSpace)
	start := len(marker.Regexp().FindString(text))
	rest := text[start:]
	m := mark.Regexp().FindStringSubmatch(rest)
	if m == nil {
		r.mayBe(i, text, rest)
		return b, false
	}
	after := rest[len(m[0]):]
	inner := m[1]
	done, known := marks(inner)
	if known && strings.HasPrefix(after, ":") && isItem(text) {
		r.fault(i, m[0]+": is not a box: leave the colon out")
		return b, false
	}
	if strings.HasPrefix(after, "(") || strings.HasPrefix(after, "[") || strings.HasPrefix(after, ":") {
		return b, false // a link
	}
	if first, _ := utf8.DecodeRuneInString(strings.TrimSpace(inner)); !known && (unicode.IsLetter(first) || unicode.IsDigit(first)) {
		if isItem(text) && (after == "" || strings.HasPrefix(after, " ")) && !r.defined[strings.ToLower(inner)] {
			r.doubt(i, isNoMark(m[0]))
		}
		return b, false
	}
	if inner == "*" {
		r.stars[i] = true
		r.doubt(i, isNoMark(m[0]))
		return b, false
	}
	if !known {
		r.fault(i, isNoMark(m[0]))
		return b, false
	}
	at := offset + start + 1
	b = Box{Line: i, Done: done, Mark: inner, from: at, to: at + len(inner), Above: slices.Clone(r.heads)}
	b.Text = after
	if b.Spare = strings.HasPrefix(after, "* "); b.Spare { // an asterisk behind a box
		b.Text = after[1:]
	}
	for _, emphasis := range []string{"**", "__"} { // which begins before the box
		if strings.HasSuffix(text[:start], emphasis) {
			b.Text = strings.Replace(b.Text, emphasis, "", 1)
		}
	}
	if legend.Regexp().MatchString(b.Text) {
		r.fault(i, "it seems to explain a mark: put code marks around the box, or write the line as a step")
	}
	if b.Text = strings.TrimSpace(WithoutComments(b.Text)); b.Text == "" {
		r.fault(i, "the box has no text")
	}
	for _, text := range []string{b.Text, strings.TrimLeft(text[:start], " \t>-+*#")} {
		if m := number.Regexp().FindStringSubmatch(text); m != nil && b.Number == "" {
			b.Number = m[1]
		}
	}
	return b, true
}

// mayBe notes a line that may be a box, though it does not begin with one.
func (r *reader) mayBe(i int, text, rest string) {
	struck := strings.TrimPrefix(rest, "~~")
	plain := withoutCode(text)
	switch {
	case asCode.Regexp().MatchString(rest) && isItem(text):
		r.doubt(i, asCode.Regexp().FindString(rest)+" is code: write the box without the marks of code")
	case sign.Regexp().MatchString(rest):
		r.fault(i, "write the box as [ ] or [x]")
	case tick.Regexp().MatchString(rest) && isItem(text):
		r.doubt(i, "write the mark as a box, [ ] or [x], or leave it out")
	case cell.Regexp().MatchString(text):
		r.Apart = append(r.Apart, Fault{i, "a box in a table is not a list item", slices.Clone(r.heads)})
	case struck != rest && mark.Regexp().MatchString(struck):
		r.fault(i, "the box is struck through: write it without ~~, or take the line out")
	case after.Regexp().MatchString(plain):
		r.fault(i, "something stands before the item: write the box on a line of its own")
	case inHTML.Regexp().MatchString(plain):
		r.fault(i, "a box in HTML: write it as - [ ] or - [x]")
	case (isItem(text) || toDo.Regexp().MatchString(text) || heading.Regexp().MatchString(text)) &&
		len(inText.Regexp().FindAllString(text, -1)) == 1 && behind.Regexp().MatchString(plain):
		r.fault(i, "the box stands behind the text: write it before")
	case round.Regexp().MatchString(rest) && isItem(text):
		r.doubt(i, "write the box as [ ] or [x]")
	case len(inText.Regexp().FindAllString(plain, -1)) == 1 && isLoose(plain):
		r.doubt(i, "may be a box: write it as - [ ] or - [x] and its text, or put code marks around it")
	}
}

// isLoose reports whether the only box of a line, which begins no item as it is written, can hardly be a word of a sentence.
func isLoose(plain string) bool {
	if m := trailing.Regexp().FindStringSubmatch(plain); m != nil {
		return !ofProse.Regexp().MatchString(m[1])
	}
	return loose.Regexp().MatchString(plain) || labeled.Regexp().MatchString(plain)
}

// marks reports what stands between the brackets of a box: whether it is a tick, and whether it is known. What is in progress,
// skipped or put off is open: nobody has done it.
func marks(inner string) (done, known bool) {
	switch strings.TrimSuffix(strings.TrimSpace(inner), "\ufe0f") { // which makes an emoji of a sign
	case "x", "X", "х", "Х", "ｘ", "Ｘ", "✓", "✔", "☑", "✅": // two are Cyrillic
		return true, true
	case "", "-", "~", "/", ">", "–", "—":
		return false, true
	}
	return false, false
}

// opens reports whether a line begins code or a comment, or has one.
func (r *reader) opens(i int, text string) bool {
	inner := unquoted(text)
	items := marker.Regexp().FindString(inner)
	if rest := inner[len(items):]; isFence(rest, "") || block.Regexp().MatchString(rest) {
		inner = rest
	}
	inner = strings.TrimLeft(inner, " \t")
	if isFence(inner, "") {
		info := strings.TrimLeft(inner, inner[:1])
		r.fence, r.begun, r.tasks = inner[:len(inner)-len(info)], i, strings.HasPrefix(strings.TrimSpace(info), "[tasklist]")
		return true
	}
	if block.Regexp().MatchString(inner) {
		if !ends.Regexp().MatchString(inner) {
			r.until, r.begun = ends, i
		}
		return true
	}
	plain := withoutCode(text)
	at := strings.LastIndex(plain, "<!--")
	if at < 0 || strings.HasSuffix(plain[:at], `\`) || strings.Contains(plain[at:], "-->") {
		return strings.HasPrefix(strings.TrimLeft(text, " \t>-*+"), "<!--") && strings.HasSuffix(text, "-->")
	}
	if r.until, r.begun = commentEnds, i; strings.TrimLeft(plain[:at], " \t>-*+") == "" {
		return true
	}
	return false
}

// hide keeps a box in code or in a comment, for the case that it does not end.
func (r *reader) hide(i int, line string, offset int, text string) {
	quiet := reader{heads: r.heads, stars: map[int]bool{}}
	if b, ok := quiet.box(i, line, offset); ok && text != "" {
		r.inside = append(r.inside, b)
	}
}

// end notes code and comments that do not end, and what may be a box because others are in its section.
func (r *reader) end() {
	what := ""
	switch {
	case r.fence != "":
		what = "the code"
	case r.until == ends:
		what = "the block of HTML"
	case r.until != nil:
		what = "the comment"
	case r.front != "":
		what = "the frontmatter"
	}
	begins := func(b Box) bool { return b.Line == r.begun } // a box before the comment
	switch {
	case what != "" && len(r.inside) > 0:
		r.fault(r.begun, fmt.Sprintf("%s that begins here does not end, and the box in line %d is in it", what, r.inside[0].Line+1))
	case what != "" && slices.ContainsFunc(r.Boxes, begins):
		r.fault(r.begun, what+" that begins here does not end")
	}
	for _, d := range r.doubts {
		if slices.ContainsFunc(r.Boxes, func(b Box) bool { return slices.Equal(b.Above, d.Above) }) {
			r.Faults = append(r.Faults, d)
		} else if r.stars[d.Line] {
			r.Apart = append(r.Apart, d)
		}
	}
	r.legends()
	slices.SortStableFunc(r.Faults, func(a, b Fault) int { return a.Line - b.Line })
}

func (r *reader) fault(line int, why string) {
	r.Faults = append(r.Faults, Fault{line, why, slices.Clone(r.heads)})
}

func (r *reader) head(h Head) {
	r.Heads = append(r.Heads, h)
	r.heads = slices.DeleteFunc(slices.Clone(r.heads), func(above Head) bool { return above.Level >= h.Level })
	r.heads, r.content, r.items = append(r.heads, h), nil, nil
}

// isFence reports whether a text begins code or, with the fence that began it, ends it.
func isFence(text, begun string) bool {
	text = strings.TrimSpace(text)
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(text, c)
		if n := len(text) - len(rest); n >= 3 && begun == "" {
			return c == "~" || !strings.Contains(rest, "`")
		} else if n >= 3 {
			return strings.HasPrefix(begun, c) && n >= len(begun) && rest == ""
		}
	}
	return false
}

// unquoted returns a line without the marks of a quotation.
func unquoted(text string) string {
	for {
		rest, found := strings.CutPrefix(strings.TrimLeft(text, " \t"), ">")
		if !found {
			return text
		}
		text = rest
	}
}

// isItem reports whether a line begins an item of a list.
func isItem(text string) bool {
	start := marker.Regexp().FindString(text)
	return strings.Trim(start, " \t>#*_") != "" || strings.HasPrefix(strings.TrimLeft(unquoted(text), " \t"), "* ")
}

// withoutCode replaces code in a line by as many characters.
func withoutCode(text string) string {
	parts := strings.Split(text, "`")
	for i := 1; i < len(parts)-1; i += 2 {
		parts[i] = strings.Repeat("x", len(parts[i]))
	}
	return strings.Join(parts, "`")
}

// columns returns how far a line is indented, within its quotation.
func columns(text string) (n int) {
	inner := unquoted(text)
	if inner != text {
		inner = strings.TrimPrefix(inner, " ")
	}
	for _, r := range inner {
		switch r {
		case ' ':
			n++
		case '\t':
			n += 4 - n%4
		default:
			return n
		}
	}
	return n
}
