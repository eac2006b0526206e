package guard

import (
	"strings"
	"unicode"
)

// match is a decision that a question asks about again.
type match struct {
	decision       Decision
	overlap, total int // words in common, words of the decision
}

func (m match) ratio() float64 { return float64(m.overlap) / float64(m.total) }

// beats orders by share of the decision's words, then by their number; among
// equals the first in the file stays.
func (m match) beats(other match) bool {
	if m.ratio() != other.ratio() {
		return m.ratio() > other.ratio()
	}
	return m.overlap > other.overlap
}

// bestMatch returns the decision that the question overlaps most, if it
// overlaps one enough: by the threshold, or by half if the question has no
// word of its own ("What caching to use?" asks about "Use Redis for caching").
func bestMatch(question string, decisions []Decision, threshold float64) (best match, found bool) {
	asked := keywords(question)
	for _, d := range decisions {
		decided := keywords(d.Key)
		m := match{decision: d, overlap: common(asked, decided), total: len(decided)}
		enough := threshold
		if m.overlap == len(asked) {
			enough = min(threshold, 0.5)
		}
		if m.overlap > 0 && m.ratio() >= enough && (!found || m.beats(best)) {
			best, found = m, true
		}
	}
	return best, found
}

func common(a, b map[string]bool) int {
	n := 0
	for word := range a {
		if b[word] {
			n++
		}
	}
	return n
}

// stopWords say nothing about what a question is about.
const stopWords = " the a an is are was were should we do does will would can could use using for to in on of and or" +
	" what which who when where why how be it its this that with as at by from you your our us i me my "

// keywords returns the words of s that matter: runs of letters and digits in
// one case, without the stop words, by their stem.
func keywords(s string) map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.FieldsFunc(strings.Map(fold, s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !strings.Contains(stopWords, " "+word+" ") {
			words[stem(word)] = true
		}
	}
	return words
}

// fold goes over the upper case, so that letters with two lower-case forms
// compare equal whichever case the text was typed in.
func fold(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }

// stem makes "session" of "sessions" and the same of "cache" and "caches", and
// leaves "redis", "class" and "status" alone.
func stem(word string) string {
	r := []rune(word)
	if len(r) > 4 && strings.HasSuffix(word, "ies") {
		r = append(r[:len(r)-3], 'y')
	} else if len(r) > 3 && r[len(r)-1] == 's' && !strings.ContainsRune("sui", r[len(r)-2]) {
		r = r[:len(r)-1]
	}
	if len(r) > 3 && r[len(r)-1] == 'e' {
		r = r[:len(r)-1]
	}
	return string(r)
}
