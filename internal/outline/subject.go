package outline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSubject is the length of the longest subject in characters. The rest of a long line goes
// into the description.
const maxSubject = 65

var (
	boxed   = pattern{text: `^\[[ xX]\]\s+`}
	ordinal = pattern{text: `^(?:(?i:step|phase|stage)\s+)?\d+\s*[.:)\x{2013}\x{2014}-]\s*|^[IVX]{1,5}[.)]\s+`}
	numeral = pattern{text: `^(?:(?i:step|phase|stage)\s+)?(?:\d+(?:\.\d+)*|[IVX]{1,5})[.:)]?$`}
	bold    = pattern{text: `^\*\*(.+?)\*\*[.:]?\s*[\x{2013}\x{2014}:\x{2192}-]*\s*(.*)$`}
	runsOn  = pattern{text: "^\\*\\*[\\p{L}\\p{N}-]+\\*\\*\\s+[\\p{Ll}`]"} // one word in bold, with which a sentence begins
	calls   = pattern{text: `^(?:[\p{Lu}\d]{2,}(?:[ -][\p{Lu}\d]+){0,2}|(?i:important|mandatory|note|warning|critical|` +
		`required|optional|caution|tip|attention|remember|always|never|must|hint|key|crucial|essential|` +
		`wichtig|achtung|hinweis|importante|nota|attenzione|重要|注意|必须))\W*$`}
	links    = pattern{text: `!?\[([^\]]*)\]\([^)]*\)`}
	emphasis = pattern{text: "(\\*\\*|__|`)"}
	codeSpan = pattern{text: "`[^`]+`"}
	stop     = pattern{text: `[^\s.]\.\s`}
	noStop   = pattern{text: `(?:^|[\s(])(?:\p{Ll}|z\. ?B|(?i:e\.g|i\.e|vs|cf|approx|incl|sec|fig|dr|mr|mrs|ms|bzw|ca|p\.ej))\.\s$`}
)

// codeDot stands for a dot within code, which ends no sentence.
const codeDot = "\uFFFF"

// subject splits the text of a step into its subject and the rest.
func subject(text string) (subject, rest string) {
	text = codeSpan.compiled().ReplaceAllStringFunc(text, func(span string) string { return strings.ReplaceAll(span, ".", codeDot) })
	subject, rest = split(text)
	return strings.ReplaceAll(subject, codeDot, "."), strings.ReplaceAll(rest, codeDot, ".")
}

func split(text string) (subject, rest string) {
	text = boxed.compiled().ReplaceAllString(strings.TrimSpace(text), "")
	text = withoutOrdinal(text)
	switch m := bold.find(text); {
	case m == nil || clean(m[1]) == "", runsOn.in(text):
	case calls.in(clean(m[1])) && clean(m[2]) != "": // a word that calls for attention, and no subject
		text = strings.TrimRight(clean(m[1]), ":. ") + ": " + m[2]
	case numeral.in(clean(m[1])) && clean(m[2]) != "": // the bold text is the number of the step alone
		text = m[2]
	default:
		return cut(clean(withoutOrdinal(m[1])), m[2])
	}
	text = clean(text)
	for _, end := range stop.compiled().FindAllStringIndex(text, -1) {
		if !noStop.in(text[:end[1]]) {
			return cut(text[:end[1]], strings.TrimSpace(text[end[1]:]))
		}
	}
	return cut(text, "")
}

// withoutOrdinal removes the number with which a text begins, but not that of a word such as 3-way, 2.0 or 0.5bis.
func withoutOrdinal(text string) string {
	m := ordinal.find(text)
	if m == nil {
		return text
	}
	rest := text[len(m[0]):]
	mark, _ := utf8.DecodeLastRuneInString(m[0])
	next, _ := utf8.DecodeRuneInString(rest)
	if rest != "" && (strings.ContainsRune("-–—", mark) || unicode.IsDigit(next) || unicode.IsLower(next)) && !unicode.IsSpace(mark) {
		return text
	}
	return rest
}

// clean removes the markup of emphasis, code and links, and invisible characters.
func clean(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	text = links.compiled().ReplaceAllString(text, "$1")
	text = emphasis.compiled().ReplaceAllString(text, "")
	text = strings.Map(func(r rune) rune {
		if r != '\u200D' && unicode.In(r, unicode.Cc, unicode.Cf) { // U+200D joins emoji
			return -1
		}
		return r
	}, text)
	if strings.Trim(text, "\u200D ") == "" {
		return ""
	}
	return strings.Join(strings.Fields(text), " ")
}

// cut shortens a long subject between words, and puts the whole subject before rest.
func cut(subject, rest string) (string, string) {
	if subject = strings.TrimSpace(subject); !strings.HasSuffix(subject, " .") && !strings.HasSuffix(subject, " ..") { // a directory
		subject = strings.TrimRight(subject, ".:;, ：")
	}
	if len([]rune(subject)) <= maxSubject {
		return subject, rest
	}
	short := ""
	for _, word := range strings.Fields(subject) {
		if short != "" && len([]rune(short+" "+word)) > maxSubject-1 {
			break
		}
		short = strings.TrimSpace(short + " " + word)
	}
	if r := []rune(short); len(r) > maxSubject-1 {
		short = string(r[:maxSubject-1])
	}
	return short + "…", join(subject, rest)
}

// paragraph joins lines, without their common indentation and the blank lines around them.
func paragraph(lines []string) string {
	least := -1
	for _, l := range lines {
		if strings.TrimSpace(l) != "" && (least < 0 || indent(l) < least) {
			least = indent(l)
		}
	}
	var out []string
	for _, l := range lines {
		out = append(out, strings.TrimRight(l[min(len(l), max(least, 0)):], " \t"))
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

func indent(text string) int { return len(text) - len(strings.TrimLeft(text, " \t")) }

func join(a, b string) string {
	return strings.TrimSpace(strings.TrimSpace(a) + "\n" + strings.TrimSpace(b))
}

func shorten(text string) string {
	short, _ := cut(clean(text), "")
	return short
}
