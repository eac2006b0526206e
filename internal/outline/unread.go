package outline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Steps may be in a form that is not read: a numbered list below a bullet, letters, "First … Then …". A text that has no others is told
// where they are, so that they can be numbered.

const (
	notRead  = "its steps are in a form that is not read"
	whyWords = "steps are read by their numbers, not by words such as first and then"
)

var (
	enumerated = pattern{text: `^\W*(?:([IVX]{1,4}|i{1,3}|[A-Z]|[a-z])[.):]|([①-⑩]))\W*\s\W*\S`}
	firstOf    = pattern{text: `(?i)^\W*first(?:ly)?\b`}
	laterOf    = pattern{text: `(?i)^\W*(?:then|next|second(?:ly)?|after (?:that|this)|afterwards|finally|lastly)\b`}
	thenIn     = pattern{text: `(?i)(?:[,;:] |\band )(?:then|finally|lastly|after (?:that|this)|afterwards)\b`}
)

// unread returns what looks like steps in a form that is not read, in the order of the text.
func (d *document) unread() (all []Left) {
	for _, b := range d.blocks {
		list, isList := b.node.(*ast.List)
		if !isList || list.IsOrdered() || isAside(b.above.titlesFrom()) {
			continue
		}
		for item := list.FirstChild(); item != nil; item = item.NextSibling() {
			for n := item.FirstChild(); n != nil; n = n.NextSibling() {
				if inner, ok := n.(*ast.List); ok && inner.IsOrdered() {
					all = append(all, d.notNumbered("a numbered list below a bullet", "only one of its own is read", d.items(inner, b.end))...)
				}
			}
		}
		if len(all) == 0 && announces(b.above.titlesFrom()) {
			all = d.notNumbered("a list without numbers", "only a numbered one is read", d.items(list, b.end))
		}
	}
	all = append(append(all, d.lettered()...), d.inWords()...)
	slices.SortStableFunc(all, func(a, b Left) int { return a.Line - b.Line })
	return all
}

func (d *document) notNumbered(what, why string, items []item) []Left {
	if len(items) < 2 {
		return nil
	}
	return []Left{{Line: items[0].line + 1, What: fmt.Sprintf("%s (%d, the first is %q)", what, len(items), shorten(items[0].text)), Why: why}}
}

// lettered returns lines that begin with A, B and so on, or other figures than digits.
func (d *document) lettered() (all []Left) {
	begin, next := Left{}, ""
	for _, b := range d.blocks {
		isText := b.level > 0 || b.node.Kind() == ast.KindParagraph || b.node.Kind() == ast.KindList
		for i := b.line; i < b.end && isText && !isAside(b.above.titlesFrom()); i++ {
			said := lineMarks.without(d.lineText(i))
			m := enumerated.find(said)
			if m == nil {
				continue
			}
			figure := m[1] + m[2]
			if figure == next {
				all, next = append(all, begin), ""
			} else if second := secondOf[figure]; second != "" {
				what := fmt.Sprintf("steps with letters (the first is %q)", shorten(said))
				begin, next = Left{Line: i + 1, What: what, Why: "only digits are read"}, second
			}
		}
	}
	return all
}

// secondOf are the figures behind a first one.
var secondOf = map[string]string{"A": "B", "a": "b", "I": "II", "i": "ii", "①": "②"}

// inWords returns sentences that begin with "First", and go on with "Then".
func (d *document) inWords() (all []Left) {
	var begin *sentence
	for _, s := range d.everyLine() {
		switch {
		case firstOf.in(s.text):
			begin = &s
			if thenIn.in(s.text) {
				all, begin = append(all, s.notNumbered()), nil
			}
		case begin != nil && begin.title == s.title && laterOf.in(s.text):
			all, begin = append(all, begin.notNumbered()), nil
		}
	}
	return all
}

func (s sentence) notNumbered() Left {
	return Left{Line: s.line + 1, What: fmt.Sprintf("%q", shorten(s.text)), Why: whyWords}
}

// everyLine returns the sentences and titles of the body that are not for reading only.
func (d *document) everyLine() []sentence {
	return slices.DeleteFunc(d.sentences(), func(s sentence) bool {
		return s.isFront || s.code || s.title != "" && isAside([]string{s.title}) || strings.HasPrefix(s.text, "|")
	})
}
