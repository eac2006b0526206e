package rules

import (
	"strings"
	"unicode"
)

// match is a decision that a question asks again.
type match struct {
	decision       Decision
	overlap, total int // words in common, words of the decision
}

func (m match) ratio() float64 { return float64(m.overlap) / float64(m.total) }

// beats orders by the share of the decision's words in the question, then by their
// number. Of equal matches the first in the file wins.
func (m match) beats(other match) bool {
	if m.ratio() != other.ratio() {
		return m.ratio() > other.ratio()
	}
	return m.overlap > other.overlap
}

// bestMatch returns the decision that the question overlaps most, if the overlap
// reaches the threshold. subset is the lower threshold of a question all of whose
// words are in the decision ("What caching to use?" asks "Use Redis for caching").
func bestMatch(question string, decisions []Decision, threshold, subset float64) (best match, found bool) {
	asked := keywords(question)
	for _, d := range decisions {
		decided := keywords(d.Key)
		m := match{decision: d, overlap: common(asked, decided), total: len(decided)}
		enough := threshold
		if m.overlap == len(asked) {
			enough = min(threshold, subset)
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

// fillers are words that do not tell what a question is about.
const fillers = " the a an is are was were should we do does will would can could use using for to in on of and or" +
	" what which who when where why how be it its this that with as at by from you your our us i me my "

// keywords returns the stems of the words of s, in one case and without fillers. A
// word is a run of letters and digits.
func keywords(s string) map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.FieldsFunc(strings.Map(fold, s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !strings.Contains(fillers, " "+word+" ") {
			words[stem(word)] = true
		}
	}
	return words
}

// fold maps to upper case first, so that letters with two lower-case forms (s and ſ)
// are equal.
func fold(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }

// stem maps "sessions" to "session" and both "cache" and "caches" to "cach". It does
// not change "redis", "class" and "status".
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
