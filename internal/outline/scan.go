package outline

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fsmtx/fsmtx/internal/frontmatter"
)

// kind is what a line of a text is.
type kind int

const (
	blank kind = iota
	prose
	heading
	item
	code // also the fences of a block
	openTag
	closeTag
	table
	quote
	comment
)

// line is one line of a text, and where in its structure it is.
type line struct {
	kind   kind
	number int    // from 1, in the file
	raw    string // as it is written, tabs expanded
	text   string // without markers; of a tag its name

	level   int  // of a heading 1 to 6; of other lines the columns before the text begins
	ordered bool // an item with a number
	ordinal int  // the number of such an item
	letters bool // its number is a letter, or is written in Roman figures
	box     byte // ' ' or 'x' of an item with a checkbox, or else 0
	depth   int  // of an item: how many items it is below

	block int               // of code: which block, from 1
	lang  string            // of code: the first word behind the opening fence
	attrs map[string]string // of an opening tag

	section int // index of the heading above, of a heading that of the one that it is below; -1
	tag     int // index of the innermost open tag; -1
}

type document struct {
	lines   []line
	total   int  // lines that are neither blank nor code
	foreign bool // not in English
}

var (
	headings   = pattern{text: `^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$`}
	underlines = pattern{text: `^ {0,3}(=+|-{3,})[ \t]*$`}
	numbers    = pattern{text: `^( *)(\d{1,3})(?:[.)][ \t]+|、[ \t]*|\\\.[ \t]+)(\S.*)$`}
	letters    = pattern{text: `^( *)([A-Z]|[IVX]{2,5})[.)][ \t]+(\S.*)$`}
	bareNumber = pattern{text: `^( *)(\d{1,3})[.)][ \t]*$`}
	bullets    = pattern{text: `^( *)[-*+•][ \t]+(\S.*)$`}
	boxes      = pattern{text: `^\[([ xX])\][ \t]+(.*)$`}
	fences     = pattern{text: "^ *(`{3,}|~{3,})[ \\t]*([^`]*)$"}
	tags       = pattern{text: `^ *<(/?)([A-Za-z][\w.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*>(.*)$`}
	attributes = pattern{text: `([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')`}
	keycaps    = pattern{text: `([0-9])\x{FE0F}?\x{20E3}[.:]?`}
	circles    = pattern{text: `[①-⑳][.:、]?`}
)

// inline are the names of HTML's elements that give a text no structure.
var inline = " a abbr b blockquote br center code dd details div dl dt em font h1 h2 h3 h4 h5 h6 hr i img kbd li ol p picture pre s " +
	"small source span strong sub summary sup table tbody td th thead tr u ul video "

// scanner has what is open while the lines are read.
type scanner struct {
	out     []line
	fence   string   // of the open block, outermost first
	nested  []string // fences that are open in a block of Markdown
	lang    string
	blocks  int
	comment bool
	section []int // the open headings
	tag     []int // the open tags
	items   []int // the columns of the open items
	letter  int   // the ordinal of the last item with a letter, in the open section
	roman   bool  // it was written in Roman figures
	loose   bool  // the line before was blank
}

func scan(text []byte) *document {
	skipped := 0
	if _, own, body, err := frontmatter.CutSkill(text); err != nil {
		text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	} else if own != nil {
		_, rest, _ := bytes.Cut(body, []byte("\n")) // the line that closes the frontmatter
		skipped = bytes.Count(text, []byte("\n")) - bytes.Count(rest, []byte("\n"))
		text = rest
	} else {
		text = body
	}
	s := scanner{}
	for i, raw := range strings.Split(strings.ReplaceAll(strings.ToValidUTF8(string(text), "\uFFFD"), "\r\n", "\n"), "\n") {
		s.add(line{number: skipped + i + 1, raw: strings.ReplaceAll(raw, "\t", "    ")})
	}
	return &document{lines: s.out}
}

// add appends a line and says what it is.
func (s *scanner) add(l line) {
	l.level = indent(l.raw)
	l.text = strings.TrimSpace(l.raw)
	switch {
	case s.code(&l):
	case s.comments(&l):
	case l.text == "":
	case s.heading(&l):
	case s.tags(&l):
	case s.item(&l):
	default:
		l.kind = prose
		switch l.text[0] {
		case '|':
			l.kind = table
		case '>':
			l.kind = quote
		}
	}
	s.place(&l)
	s.out = append(s.out, l)
}

// code handles the lines of a block of code. A block of Markdown or of no language may itself
// have blocks with fences of the same length: authors write them so, although Markdown ends the
// outer one.
func (s *scanner) code(l *line) bool {
	m := fences.find(l.raw)
	if s.fence == "" {
		if m == nil {
			return false
		}
		s.fence, s.lang = m[1], strings.ToLower(first(strings.Fields(m[2])))
		s.blocks++
	} else if m != nil {
		s.inner(m[1], strings.TrimSpace(m[2]))
	}
	l.kind, l.block, l.lang = code, s.blocks, s.lang
	if s.fence == "" {
		s.nested = nil
	}
	return true
}

// inner handles a fence within a block.
func (s *scanner) inner(fence, info string) {
	innermost := s.fence
	if n := len(s.nested); n > 0 {
		innermost = s.nested[n-1]
	}
	switch {
	case info != "":
		if s.lang == "" || s.lang == "markdown" || s.lang == "md" || s.lang == "text" {
			s.nested = append(s.nested, fence)
		}
	case strings.HasPrefix(fence, innermost):
		if n := len(s.nested); n > 0 {
			s.nested = s.nested[:n-1]
		} else {
			s.fence = ""
		}
	}
}

func (s *scanner) comments(l *line) bool {
	if !s.comment && !strings.HasPrefix(l.text, "<!--") {
		return false
	}
	l.kind = comment
	s.comment = !strings.Contains(l.text, "-->")
	return true
}

func (s *scanner) heading(l *line) bool {
	if m := headings.find(l.raw); m != nil {
		l.kind, l.level, l.text = heading, len(m[1]), plainNumbers(m[2])
		return true
	}
	n := len(s.out)
	if m := underlines.find(l.raw); m != nil && n > 0 && s.underlined(n-1) {
		above := &s.out[n-1]
		above.kind, above.level = heading, 2
		if m[1][0] == '=' {
			above.level = 1
		}
		s.place(above)
		l.kind = comment
		return true
	}
	return false
}

// plainNumbers writes numbers on keys and in circles as they begin an item of a list.
func plainNumbers(text string) string {
	text = keycaps.compiled().ReplaceAllString(text, "$1. ")
	return circles.compiled().ReplaceAllStringFunc(text, func(number string) string {
		r, _ := utf8.DecodeRuneInString(number)
		return strconv.Itoa(int(r-'①')+1) + ". "
	})
}

// underlined reports whether a line can be a heading that the line below underlines: a
// paragraph of one line that reads like a title, because many authors write --- below the
// last line of a section.
func (s *scanner) underlined(i int) bool {
	l := s.out[i]
	alone := i == 0 || s.out[i-1].kind == blank
	return l.kind == prose && alone && len(l.text) <= 80 && !strings.HasSuffix(l.text, ".") && !strings.HasSuffix(l.text, ":") &&
		!strings.HasPrefix(l.text, "**")
}

// tags handles elements like <process> or <step name="x">, on a line of their own.
func (s *scanner) tags(l *line) bool {
	m := tags.find(l.raw)
	if m == nil || strings.Contains(inline, " "+strings.ToLower(m[2])+" ") {
		return false
	}
	l.kind, l.text = openTag, m[2]
	if m[1] != "" {
		l.kind = closeTag
	}
	l.attrs = map[string]string{"": strings.TrimSpace(m[4])}
	for _, a := range attributes.compiled().FindAllStringSubmatch(m[3], -1) {
		l.attrs[strings.ToLower(a[1])] = a[2] + a[3]
	}
	return true
}

func (s *scanner) item(l *line) bool {
	raw := plainNumbers(l.raw)
	switch m := numbers.find(raw); {
	case m != nil:
		l.kind, l.ordered, l.text = item, true, m[3]
		l.ordinal, _ = strconv.Atoi(m[2])
	case bareNumber.in(raw):
		l.kind, l.ordered, l.text = item, true, ""
		l.ordinal, _ = strconv.Atoi(bareNumber.find(raw)[2])
	case s.lettered(l):
	default:
		m := bullets.find(l.raw)
		if m == nil {
			return false
		}
		l.kind, l.text = item, m[2]
	}
	if m := boxes.find(l.text); m != nil {
		l.box, l.text = strings.ToLower(m[1])[0], m[2]
	}
	if l.level >= 4 && len(s.items) == 0 && s.loose { // code by its indentation
		l.kind, l.ordered, l.box, l.text = prose, false, 0, strings.TrimSpace(l.raw)
	}
	return true
}

// lettered handles an item whose number is a letter or is written in Roman figures. A name such as
// A. Smith begins a line like one, so only A, I and the next one after the item before count.
func (s *scanner) lettered(l *line) bool {
	m := letters.find(l.raw)
	if m == nil {
		return false
	}
	n, roman := int(m[2][0]-'A')+1, false
	if v, ok := ordinals()[strings.ToLower(m[2])]; ok && (s.roman && s.letter > 0 || m[2] == "I" && s.letter != 8) {
		n, roman = int(v), true
	} else if len(m[2]) > 1 {
		return false
	}
	if n != 1 && n != s.letter+1 {
		return false
	}
	s.letter, s.roman = n, roman
	l.kind, l.ordered, l.letters, l.ordinal, l.text = item, true, true, n, m[3]
	return true
}

// place records in which section, tags and items a line is.
func (s *scanner) place(l *line) {
	if l.kind == heading {
		for len(s.section) > 0 && s.out[s.section[len(s.section)-1]].level >= l.level {
			s.section = s.section[:len(s.section)-1]
		}
		s.items, s.letter, s.roman = nil, 0, false
	}
	l.section, l.tag = last(s.section), last(s.tag)
	at := len(s.out)
	if at > 0 && l == &s.out[at-1] { // a heading that was read as a paragraph
		at--
	}
	switch l.kind {
	case heading:
		s.section = append(s.section, at)
	case openTag:
		if !strings.Contains(l.attrs[""], "</"+l.text+">") {
			s.tag = append(s.tag, at)
		}
	case closeTag:
		s.close(l.text)
	case item:
		for len(s.items) > 0 && s.items[len(s.items)-1] > l.level-2 {
			s.items = s.items[:len(s.items)-1]
		}
		l.depth = len(s.items)
		s.items = append(s.items, l.level)
	case prose, table, quote:
		if s.loose {
			for len(s.items) > 0 && s.items[len(s.items)-1] >= l.level {
				s.items = s.items[:len(s.items)-1]
			}
		}
	}
	s.loose = l.kind == blank
}

// close ends the innermost tag with a name, and those that were opened in it.
func (s *scanner) close(name string) {
	for i := len(s.tag) - 1; i >= 0; i-- {
		if s.out[s.tag[i]].text == name {
			s.tag = s.tag[:i]
			return
		}
	}
}

func last(list []int) int {
	if len(list) == 0 {
		return -1
	}
	return list[len(list)-1]
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
