package client

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fsmtx/fsmtx/internal/pattern"
)

// Words are the words and phrases that distinguish a request to stop from other messages.
// A phrase is words separated by spaces. Case does not matter.
type Words struct {
	Stop   []string // ask to stop: "stop", "that's enough"
	Before []string // may come before one of Stop: "please", "i want to"
	After  []string // may follow one of Stop, and do not name anything else that is to be stopped: "here", "the workflow"

	open []string // may follow as those of After, and are followed by anything
}

// DefaultWords returns the words of the requirements, and what often stands around them. Other
// words and languages are configured.
func DefaultWords() Words {
	return Words{
		Stop: []string{"stop", "quit", "abort", "exit"},
		Before: append(strings.Fields("please ok okay no nope yes hey now just thanks sorry can could may you we let's let us i i'd want would "+
			"like to wait hmm hm oh ah uh um well actually"), "hold on", "one moment"),
		After: append(strings.Fields("please here there now it this that everything working immediately thank thanks you very much"),
			"right here", "right there", "right now", "right away", "for now", "for today", "at once",
			"the workflow", "the plan", "the planning", "the task", "the tasks", "the work", "the session"),
		open: []string{"without finishing", "without completing", "without continuing", "without going on"},
	}
}

// With returns the words of both.
func (w Words) With(more Words) Words {
	return Words{slices.Concat(w.Stop, more.Stop), slices.Concat(w.Before, more.Before), slices.Concat(w.After, more.After),
		slices.Concat(w.open, more.open)}
}

// And returns the words with more of After, such as the name of a workflow: "abort the
// release" asks to stop the workflow "release".
func (w Words) And(after ...string) Words {
	w.After = slices.Clone(w.After)
	for _, text := range after {
		for _, word := range WordsOf(text) {
			w.After = append(w.After, word, "the "+word)
		}
	}
	return w
}

// Requested reports whether a message asks the agent to stop its work. Its first clause is such a request and nothing else,
// whatever follows ("Stop, that is wrong.", "Stop. Write no more files."), or its last one is ("I have to go, please stop here").
// "Stop the server", "stop it from crashing" and "stop using tabs" ask for something else.
func (w Words) Requested(message string) bool {
	all := slices.DeleteFunc(clauses(message), func(c clause) bool { return w.isCourtesy(c.words) })
	if len(all) == 0 {
		return false
	}
	return w.asks(all[0].words) || w.endsWith(all)
}

// endsWith reports whether the last clause asks to stop: as a sentence of its own, or as one that is more than the last word of
// a list ("start, pause, stop") and that nothing before it puts off ("when you are done, please stop").
func (w Words) endsWith(all []clause) bool {
	last := all[len(all)-1]
	if !w.asks(last.words) {
		return false
	}
	for i := len(all) - 1; i > 0 && !all[i].begins; i-- {
		if slices.ContainsFunc(all[i-1].words, putsOff) {
			return false
		}
	}
	_, polite := cut(last.text(), w.Before)
	return last.begins || polite
}

// putsOff reports whether a word says that a request is for later.
func putsOff(word string) bool {
	return slices.Contains([]string{"if", "when", "once", "until", "after", "unless"}, word)
}

// limits reports whether a word turns a request round, or says that it is for later.
func limits(word string) bool {
	return slices.Contains([]string{"not", "don't", "never", "without"}, word) || putsOff(word)
}

// asks reports whether a clause is a request: words of before, one to stop, and nothing else but words of after.
func (w Words) asks(words []string) bool {
	text := strip(clause{words: words}.text(), w.Before)
	rest, found := cut(text, w.Stop)
	if !found {
		return false
	}
	rest = strip(rest, slices.Concat(w.After, w.Stop))
	_, open := cut(rest, w.open)
	return rest == "" || open
}

// isCourtesy reports whether a clause has words of before and after only.
func (w Words) isCourtesy(words []string) bool {
	return strip(clause{words: words}.text(), slices.Concat(w.Before, w.After)) == ""
}

// strip removes all of the phrases with which a text begins.
func strip(text string, phrases []string) string {
	for {
		rest, found := cut(text, phrases)
		if !found {
			return text
		}
		text = rest
	}
}

// cut removes the phrase with which a text begins. Each word of the text ends with a space.
func cut(text string, phrases []string) (rest string, found bool) {
	for _, phrase := range phrases {
		if words := WordsOf(phrase); len(words) > 0 {
			if rest, found = strings.CutPrefix(text, strings.Join(words, " ")+" "); found {
				return rest, true
			}
		}
	}
	return text, false
}

// clause is the words between two punctuation marks or line feeds.
type clause struct {
	words  []string
	begins bool // a sentence or a line
}

// text returns the words, each with a space behind it.
func (c clause) text() string {
	if len(c.words) == 0 {
		return ""
	}
	return strings.Join(c.words, " ") + " "
}

// clauses returns the clauses of a message, without what Markdown quotes and without its lists. Code is a word of its own.
func clauses(message string) (all []clause) {
	var own strings.Builder
	for line := range strings.Lines(message) {
		if text := strings.TrimSpace(line); !strings.HasPrefix(text, ">") && !isListed(text) {
			own.WriteString(line)
		} else {
			own.WriteString("\n")
		}
	}
	text, begin, begins := inQuotes.Regexp().ReplaceAllString(withoutCode(own.String()), " quotedtext "), 0, true
	add := func(end int) {
		if words := WordsOf(text[begin:end]); len(words) > 0 {
			all = append(all, clause{words, begins})
			begins = false
		}
		begin = end
	}
	for i, r := range text {
		if ends(text, i, r) {
			add(i)
			begins = begins || !strings.ContainsRune(",;:()、，،-–—", r)
		}
	}
	add(len(text))
	return all
}

// inQuotes matches what somebody else says, or a text of a program.
var inQuotes = pattern.New(`"[^"\n]*"|“[^”\n]*”`)

// isListed reports whether a line is one of a list.
func isListed(line string) bool {
	first, rest, _ := strings.Cut(line, " ")
	number := strings.TrimRight(first, ".)")
	isNumber := number != "" && number != first && strings.Trim(number, "0123456789") == ""
	return rest != "" && (isNumber || slices.Contains([]string{"-", "*", "+", "•"}, first))
}

// withoutCode replaces text that is quoted as code by a word: what it says is not the person's word.
func withoutCode(message string) string {
	for _, fence := range []string{"```", "`"} {
		parts := strings.Split(message, fence)
		for i := 1; i < len(parts); i += 2 {
			parts[i] = " quotedcode "
		}
		message = strings.Join(parts, "")
	}
	return message
}

// ends reports whether the rune r at text[at:] ends a clause. A mark inside a word, as in the name of a file, does not.
func ends(text string, at int, r rune) bool {
	if strings.ContainsRune("\n。！？、，؟،।–—…", r) {
		return true
	}
	if r == '-' { // a dash, and not a hyphen
		return at > 0 && text[at-1] == ' ' && (strings.HasPrefix(text[at+1:], " ") || strings.HasPrefix(text[at+1:], "- "))
	}
	if r == ':' && isValue.Regexp().MatchString(text[at:]) || !strings.ContainsRune(".!?,;:()", r) {
		return false
	}
	if r == '(' { // an aside, and no part of the sentence
		return at > 0 && text[at-1] == ' ' && aside.Regexp().MatchString(text[at:])
	}
	next, _ := utf8.DecodeRuneInString(text[at+1:])
	return !isWordRune(next)
}

var (
	isValue = pattern.New(`(?i)^:\s*(?:true|false|null|none|[\d{\[]|quotedtext|quotedcode)`) // of a setting
	aside   = pattern.New(`^\([^()]*\)\s*(?:[.!?;,\n]|$)`)
)

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
