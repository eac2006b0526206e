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
	numeral = pattern{text: `^(?:(?i:step|phase|stage)\s+)?(?:\d+(?:\.\d+)*|[IVX]{1,5})[.:)]?$`}
	bold    = pattern{text: `^\*\*(.+?)\*\*[.:]?\s*[\x{2013}\x{2014}:\x{2192}-]*\s*(.*)$`}
	runsOn  = pattern{text: "^\\*\\*[\\p{L}\\p{N}-]+\\*\\*\\s+[\\p{Ll}\uFFFE]"} // one word in bold, with which a sentence begins
	calls   = pattern{text: `^(?:[\p{Lu}\d]{2,}(?:[ -][\p{Lu}\d]+){0,2}|(?i:important|mandatory|note|warning|critical|` +
		`required|optional|caution|tip|attention|remember|always|never|must|hint|key|crucial|essential|` +
		`wichtig|achtung|hinweis|importante|nota|attenzione|重要|注意|必须))\W*$`}
	codeSpan = pattern{text: "`[^`]+`"}
	stop     = pattern{text: `[^\s.]\.\s`}
	noStop   = pattern{text: `(?:^|[\s(])(?:\p{Ll}|z\. ?B|(?i:e\.g|i\.e|vs|cf|approx|incl|sec|fig|dr|mr|mrs|ms|bzw|ca|p\.ej))\.\s$`}
)

// subject splits the text of a step into its subject and the rest. A title in bold is the subject, else the first sentence. No word is
// in neither of them.
func subject(text string) (subject, rest string) {
	text, code := withoutSpans(strings.TrimSpace(text))
	subject, rest = split(text)
	subject, rest = withSpans(subject, rest, code)
	if short := cut(subject); short != subject {
		return short, join(subject, rest)
	}
	return subject, rest
}

func split(text string) (subject, rest string) {
	switch m := bold.find(text); {
	case m == nil || plain(m[1]) == "", runsOn.in(text), numeral.in(plain(m[1])) && plain(m[2]) != "":
	case calls.in(plain(m[1])) && plain(m[2]) != "": // a word that calls for attention, and no subject
		text = strings.TrimRight(plain(m[1]), ":. ") + ": " + m[2]
	default:
		return trimmed(plain(m[1])), m[2]
	}
	text = plain(text)
	for _, end := range stop.compiled().FindAllStringIndex(text, -1) {
		if !noStop.in(text[:end[1]]) {
			return trimmed(text[:end[1]]), strings.TrimSpace(text[end[1]:])
		}
	}
	return trimmed(text), ""
}

// written splits the text of a box into its subject, which is all of it but for marks of emphasis, and the rest. Of a text that is too
// long the first sentence is the subject, or its beginning.
func written(text string) (subject, rest string) {
	bare, code := withoutSpans(strings.TrimSpace(text))
	bare = plain(bare)
	whole, _ := withSpans(bare, "", code)
	if cut(whole) == whole {
		return whole, ""
	}
	for _, end := range stop.compiled().FindAllStringIndex(bare, -1) {
		short, rest := withSpans(strings.TrimSpace(bare[:end[1]]), strings.TrimSpace(bare[end[1]:]), code)
		if !noStop.in(bare[:end[1]]) && !numeral.in(short) && cut(short) == short {
			return short, rest
		}
	}
	return cut(whole), whole
}

// span stands for a span of code.
const span = "\uFFFE"

// withoutSpans returns a text in which span stands for each span of code, and these, with their marks.
func withoutSpans(text string) (bare string, code []string) {
	text = strings.ReplaceAll(text, span, "")
	for {
		at := strings.IndexByte(text, '`')
		if at < 0 {
			return bare + text, code
		}
		inner := strings.TrimLeft(text[at:], "`")
		mark := text[at : len(text)-len(inner)]
		bare += text[:at]
		if text = inner; indexMark(inner, mark) < 0 {
			bare += mark
			continue
		}
		end := indexMark(inner, mark)
		bare, code, text = bare+span, append(code, strings.ReplaceAll(mark+inner[:end]+mark, "\n", " ")), inner[end+len(mark):]
	}
}

// indexMark returns where the first run of backquotes is that is as long as mark, or -1.
func indexMark(text, mark string) int {
	for from := 0; ; {
		at := strings.IndexByte(text[from:], '`')
		if at < 0 {
			return -1
		}
		behind := strings.TrimLeft(text[from+at:], "`")
		end := len(text) - len(behind)
		if end-from-at == len(mark) {
			return from + at
		}
		from = end
	}
}

// withSpans puts the code back into two parts of a text.
func withSpans(a, b string, code []string) (string, string) {
	n := min(strings.Count(a, span), len(code))
	return putBack(a, code[:n]), putBack(b, code[n:])
}

func putBack(text string, code []string) string {
	for _, c := range code {
		text = strings.Replace(text, span, c, 1)
	}
	return text
}

// clean removes the marks of emphasis and invisible characters. Code and links are as they are written.
func clean(text string) string {
	bare, code := withoutSpans(text)
	return putBack(plain(bare), code)
}

// plain is clean for a text without spans of code.
func plain(text string) string {
	text = withoutPairs(withoutPairs(strings.Join(strings.Fields(text), " "), "**"), "__")
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

// withoutPairs removes marks of emphasis that stand around words. Others are in a pattern such as src/**/*.go, or in a name such as
// __init__.
func withoutPairs(text, mark string) string {
	parts := strings.Split(text, mark)
	text = parts[0]
	for i := 1; i < len(parts); i++ {
		end := i + 1
		for end < len(parts) && !closes(parts[end-1], parts[end]) {
			end++
		}
		inner := strings.Join(parts[i:min(end, len(parts))], mark)
		if end >= len(parts) || !opens(parts[i-1], parts[i]) || mark == "__" && !strings.Contains(inner, " ") {
			text += mark + parts[i]
			continue
		}
		text, i = text+inner+parts[end], end
	}
	return text
}

// opens reports whether what stands between two texts may begin an emphasis.
func opens(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	next, size := utf8.DecodeRuneInString(after)
	return size > 0 && !unicode.IsSpace(next) && !strings.ContainsRune("/*.", next) && !inWord(last) && !strings.ContainsRune("/*\\", last)
}

// closes reports whether what stands between two texts may end one.
func closes(before, after string) bool {
	last, size := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	return size > 0 && !unicode.IsSpace(last) && !strings.ContainsRune("/*\\", last) && !inWord(next) && !strings.ContainsRune("/*", next)
}

// inWord reports whether a character belongs to a word of a script that has spaces between words.
func inWord(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

// trimmed returns a subject without what ends a sentence.
func trimmed(subject string) string {
	if subject = strings.TrimSpace(subject); strings.HasSuffix(subject, " .") || strings.HasSuffix(subject, " ..") { // a directory
		return subject
	}
	return strings.TrimRight(subject, ".:, ：")
}

// cut shortens a long subject between words.
func cut(subject string) string {
	if len([]rune(subject)) <= maxSubject {
		return subject
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
	return short + "…"
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
	return cut(trimmed(clean(text)))
}
