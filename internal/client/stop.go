package client

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words are the words and phrases that distinguish a request to stop from other messages.
// A phrase is words separated by spaces. Case does not matter.
type Words struct {
	Stop   []string // ask to stop: "stop", "that's enough"
	Before []string // may come before one of Stop: "please", "i want to"
	After  []string // may follow one of Stop, and do not name anything else that is to be stopped: "here", "the workflow"
}

// DefaultWords returns the words of the requirements, and what often stands around them. Other
// words and languages are configured.
func DefaultWords() Words {
	return Words{
		Stop:   []string{"stop", "quit", "abort", "exit"},
		Before: strings.Fields("please ok okay no yes hey now just thanks sorry can could may you we let's let us i i'd want would like to"),
		After: append(strings.Fields("please here there now it this that all everything working for right thank thanks you very much"),
			"the workflow", "the plan", "the planning", "the task", "the tasks", "the work", "the session"),
	}
}

// With returns the words of both.
func (w Words) With(more Words) Words {
	return Words{slices.Concat(w.Stop, more.Stop), slices.Concat(w.Before, more.Before), slices.Concat(w.After, more.After)}
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

// Requested reports whether a message asks the agent to stop its work: it begins with such a request,
// whatever follows ("Stop, that is wrong."), or it ends with one and says neither "not" nor "when" ("I
// have to go, please stop here"). "Stop the server" and "stop using tabs" ask for something else.
func (w Words) Requested(message string) bool {
	all := slices.DeleteFunc(clauses(message), w.isCourtesy)
	if len(all) == 0 {
		return false
	}
	return w.asks(all[0]) || w.asks(all[len(all)-1]) && !slices.ContainsFunc(WordsOf(message), limits)
}

// limits reports whether a word turns a request round, or says that it is for later.
func limits(word string) bool {
	return slices.Contains([]string{"not", "don't", "never", "without", "if", "when", "once", "until", "after", "unless"}, word)
}

// asks reports whether a clause is a request: words of before, one to stop, and nothing else or a word of after.
func (w Words) asks(clause []string) bool {
	text := strip(strings.Join(clause, " ")+" ", w.Before)
	rest, found := cut(text, w.Stop)
	_, follows := cut(rest, slices.Concat(w.After, w.Stop))
	return found && (rest == "" || follows)
}

// isCourtesy reports whether a clause has words of before and after only.
func (w Words) isCourtesy(clause []string) bool {
	return strip(strings.Join(clause, " ")+" ", slices.Concat(w.Before, w.After)) == ""
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

// clauses returns the words of each part of a message between punctuation marks and line feeds, without
// what Markdown quotes. Code is a word of its own.
func clauses(message string) (all [][]string) {
	var own strings.Builder
	for line := range strings.Lines(message) {
		if !strings.HasPrefix(strings.TrimSpace(line), ">") {
			own.WriteString(line)
		}
	}
	text, begin := withoutCode(own.String()), 0
	add := func(end int) {
		if words := WordsOf(text[begin:end]); len(words) > 0 {
			all = append(all, words)
		}
		begin = end
	}
	for i, r := range text {
		if ends(text, i, r) {
			add(i)
		}
	}
	add(len(text))
	return all
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
	if !strings.ContainsRune(".!?,;", r) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(text[at+1:])
	return !isWordRune(next)
}

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
