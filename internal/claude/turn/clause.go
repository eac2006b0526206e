package turn

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clause is a part of a message between punctuation marks.
type clause struct {
	words    []string // in lower case
	question bool     // it ends with a question mark
}

func (c clause) joined() string { return strings.Join(c.words, "") }

// unspaced reports whether the clause is written in a script without spaces between words.
func (c clause) unspaced() bool {
	return strings.ContainsFunc(c.joined(), Unspaced)
}

// withoutCode replaces text that is quoted as code by a word of its own: what it says is not
// the person's word.
func withoutCode(message string) string {
	for _, fence := range []string{"```", "`"} {
		var b strings.Builder
		for i, part := range strings.Split(message, fence) {
			if i%2 == 0 {
				b.WriteString(part)
			} else {
				b.WriteString(" quotedcode ")
			}
		}
		message = b.String()
	}
	return message
}

// withoutQuotations removes the lines that Markdown quotes, which are not the person's own words.
func withoutQuotations(message string) string {
	var b strings.Builder
	for line := range strings.Lines(message) {
		if !strings.HasPrefix(strings.TrimSpace(line), ">") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// clauses splits a message after punctuation marks and line feeds. A mark inside a word, as
// in a file's name, splits nothing.
func clauses(message string) []clause {
	text := withoutCode(withoutQuotations(message))
	var all []clause
	begin := 0
	for i, r := range text {
		end := i + utf8.RuneLen(r)
		if r == utf8.RuneError || !splits(text, i, end, r) {
			continue
		}
		all = appendClause(all, text[begin:i], isQuestionMark(r))
		begin = end
	}
	return appendClause(all, text[begin:], false)
}

func appendClause(all []clause, text string, question bool) []clause {
	words := WordsOf(text)
	if len(words) == 0 && len(all) > 0 {
		all[len(all)-1].question = all[len(all)-1].question || question // "stop!?"
		return all
	}
	if len(words) == 0 {
		return all
	}
	return append(all, clause{words, question})
}

// splits reports whether the rune at text[at:end] ends a clause.
func splits(text string, at, end int, r rune) bool {
	if r == '\n' || strings.ContainsRune("。！？、，؟،।–—…", r) {
		return true
	}
	if !strings.ContainsRune(".!?,;", r) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(text[end:])
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	return end == len(text) || !isWordRune(next) || unicode.IsSpace(before)
}

func isQuestionMark(r rune) bool { return strings.ContainsRune("?？؟", r) }

// WordsOf returns the words of a text in lower case. Combining marks and apostrophes are
// parts of words.
func WordsOf(text string) []string {
	text = strings.ToLower(strings.ReplaceAll(text, "’", "'"))
	var words []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return !isWordRune(r) && !unicode.Is(unicode.M, r) && r != '\''
	}) {
		if word = strings.Trim(word, "'"); word != "" {
			words = append(words, word)
		}
	}
	return words
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// Unspaced reports whether a letter belongs to a script that is written without spaces
// between words, or that attaches endings to them (Hangul).
func Unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar)
}

// phrases are words and groups of words, in lower case, with the number of words.
type phrases map[string]int

func phrasesOf(list []string) phrases {
	p := make(phrases, len(list))
	for _, text := range list {
		words := WordsOf(text)
		p[strings.Join(words, " ")] = len(words)
	}
	delete(p, "")
	return p
}

// lines returns the phrases of a text with one phrase per line.
func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// maxPhrase is the number of words of the longest phrase that is looked for.
const maxPhrase = 6

// longest returns the number of words of the longest phrase with which words begin, 0 if
// they begin with none.
func (p phrases) longest(words []string) int {
	for n := min(maxPhrase, len(words)); n > 0; n-- {
		if p[strings.Join(words[:n], " ")] > 0 {
			return n
		}
	}
	return 0
}

// cover reports whether the words are a sequence of phrases.
func (p phrases) cover(words []string) bool {
	for len(words) > 0 {
		n := p.longest(words)
		if n == 0 {
			return false
		}
		words = words[n:]
	}
	return true
}

// cut removes the longest phrase of a script without spaces from a text.
func (p phrases) cut(text string) (rest string, found bool) {
	longest := ""
	for phrase := range p {
		joined := strings.ReplaceAll(phrase, " ", "")
		if len(joined) > len(longest) && strings.ContainsFunc(joined, Unspaced) && strings.Contains(text, joined) {
			longest = joined
		}
	}
	if longest == "" {
		return text, false
	}
	return strings.Replace(text, longest, "", 1), true
}

// prefixes reports whether the text begins with one of the phrases of a script without
// spaces.
func (p phrases) prefixes(text string) bool {
	for phrase := range p {
		if strings.ContainsFunc(phrase, Unspaced) && strings.HasPrefix(text, strings.ReplaceAll(phrase, " ", "")) {
			return true
		}
	}
	return false
}

// set is words with a space on both sides of each. It costs nothing when the program starts.
type set string

func (s set) has(word string) bool { return strings.Contains(string(s), " "+word+" ") }
