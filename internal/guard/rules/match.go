package rules

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/fsmtx/fsmtx/internal/client"
)

// match is a decision that a question asks about again.
type match struct {
	decision       userDecision
	overlap, total int // number of words in common, and of the decision
}

func (m match) ratio() float64 { return float64(m.overlap) / float64(m.total) }

// beats orders matches by the share of the decision's words that are in the question, then
// by the number of those words.
func (m match) beats(other match) bool {
	if m.ratio() != other.ratio() {
		return m.ratio() > other.ratio()
	}
	return m.overlap > other.overlap
}

// thresholds are the shares of words from which on a question matches a decision.
type thresholds struct {
	overlap  float64 // of the decision's words, 0 < x ≤ 1
	subset   float64 // the same for a question that has no other words
	question float64 // of the question's words, those that must be about the decision
}

// forSubset is the share of the decision's words for a question that has no other words.
// It is higher if generic words of the question were left out ("What caching strategy?"):
// they may have changed what is asked.
func (t thresholds) forSubset(asked subject) float64 {
	if asked.shortened {
		return min(t.overlap, max(t.subset, t.overlap-margin))
	}
	return min(t.overlap, t.subset)
}

// margin is how far below the usual threshold a question with generic words may be.
const margin = 0.1

// bestMatch returns the best match of the question, and false if no decision matches. Of
// equal matches it returns the first in the file.
func bestMatch(q question, decisions []userDecision, t thresholds) (best match, found bool) {
	asked := q.subject()
	for _, d := range decisions {
		m, same := compare(asked, d, t)
		if same && (!found || m.beats(best)) {
			best, found = m, true
		}
	}
	return best, found
}

// compare decides whether the question asks about the decision again. The question must
// contain enough words of the decision's key, or only name the decided value. And it must
// have few words that are in neither: such a word asks about something else ("How large
// should the cache be?" is not about the decision "Cache"). If the question contains the
// whole key, it must have no such word.
func compare(asked subject, d userDecision, t thresholds) (m match, same bool) {
	key, value := keywords(d.key), keywords(d.value)
	words := asked.with(key)
	m = match{decision: d, overlap: common(words, key), total: len(key)}
	novel := 0
	for word := range words {
		if !key[word] && !value[word] && !asked.answers[word] {
			novel++
		}
	}
	if asked.aspect != "" && !slices.Contains(client.WordsOf(d.key), asked.aspect) {
		novel++
	}
	about := float64(len(words)-novel) / float64(max(1, len(words)))
	switch {
	case len(key) == 0 || len(words) == 0:
		return m, false
	case m.overlap == len(words) && novel == 0:
		return m, m.ratio() >= t.forSubset(asked)
	case m.overlap == 0:
		// Only the value: "Shall we take PostgreSQL?"
		named := common(words, value)
		return m, novel == 0 && named > 0 && named == len(value) && !isYesOrNo(d.value)
	case m.overlap == len(key):
		return m, novel == 0
	}
	return m, m.ratio() >= t.overlap && about >= t.question
}

// isYesOrNo reports whether a value is a mere yes or no, or has no words.
func isYesOrNo(value string) bool {
	words := client.WordsOf(value)
	return len(words) == 0 || slices.Contains([]string{"yes", "no", "true", "false"}, words[0])
}

// subject is what a question is about.
type subject struct {
	words     map[string]bool
	all       map[string]bool // words and the generic ones
	answers   map[string]bool // words of the offered answers, which are not part of the subject
	shortened bool            // generic words were left out of words
	aspect    string          // a word such as "where" or "why", if the question does not ask for a choice
}

// subject returns what the question is about.
func (q question) subject() subject {
	s := subject{words: stems(q.text, fillers+generic), answers: namedAnswers(q.text)}
	if s.all = keywords(q.text); len(s.words) == 0 {
		s.words = s.all
	} else {
		s.shortened = len(s.words) < len(s.all)
	}
	for _, option := range q.options {
		maps.Copy(s.answers, keywords(option))
	}
	s.aspect = aspectOf(client.WordsOf(q.text))
	return s
}

// with returns the words and those generic words that are also in a decision's key: there
// they are part of the subject.
func (s subject) with(key map[string]bool) map[string]bool {
	words := maps.Clone(s.words)
	for word := range s.all {
		if key[word] {
			words[word] = true
		}
	}
	return words
}

// aspectOf returns the word that shows that a question does not ask for a choice ("where",
// "how many"), otherwise "".
func aspectOf(words []string) string {
	switch {
	case len(words) == 0:
		return ""
	case strings.Contains(aspects, " "+words[0]+" "):
		return words[0]
	case len(words) > 1 && words[0] == "how" && strings.Contains(amounts, " "+words[1]+" "):
		return words[1]
	}
	return ""
}

// namedAnswers returns the stems of the proper names that a question offers as answers:
// "Should we use MySQL …", "Redis or Memcached …". Words without a capital letter in these
// positions can be the subject: "Should we use replication …".
func namedAnswers(text string) map[string]bool {
	words := strings.FieldsFunc(text, func(r rune) bool { return !isWordRune(r) && r != '.' })
	names := map[string]bool{}
	for i, word := range words {
		offered := i > 0 && strings.Contains(offers, " "+strings.ToLower(words[i-1])+" ") ||
			i+1 < len(words) && strings.EqualFold(words[i+1], "or")
		if offered && strings.IndexFunc(word, unicode.IsUpper) >= 0 {
			maps.Copy(names, keywords(word))
		}
	}
	return names
}

const (
	// offers are words before an offered answer.
	offers = " use using with or choose pick select prefer adopt take to than "
	// aspects are first words of questions that do not ask for a choice.
	aspects = " where when why who whose "
	// amounts are the same after "how".
	amounts = " many much long often large big small fast soon far old "
)

// common returns the number of words that are in both sets.
func common(a, b map[string]bool) int {
	n := 0
	for word := range a {
		if b[word] {
			n++
		}
	}
	return n
}

// fillers are words that are never part of a subject. In other languages than English every word counts.
const fillers = " the a an is are was were should we do does will would can could use using for to in on of and or" +
	" what which who when where why how be it its this that with as at by from you your our us i me my "

// generic are words of a question that are part of its subject only if the decision has
// them too.
const generic = " option options approach approaches strategy strategies solution technology technologies tool choice kind type sort way" +
	" best good right correct prefer preferred preference want like need have has go going choose chosen choosing pick select " +
	"selected decide decided decision" +
	" take adopt project app application system team plan here there now finally again still actually please confirm think " +
	"recommend recommended suggest" +
	" shall must also instead really any one ones them they favour favor opinion not "

// longForm returns the word for a usual short form, "" for other words. A variable would be
// filled at every start of the program.
func longForm(word string) string {
	return map[string]string{
		"db": "database", "dbs": "database", "auth": "authentication", "authn": "authentication", "config": "configuration", "repo": "repository",
		"env": "environment", "k8s": "kubernetes", "postgres": "postgresql", "pg": "postgresql", "js": "javascript", "ts": "typescript",
		"fe": "frontend", "be": "backend", "lib": "library", "docs": "documentation", "infra": "infrastructure", "perf": "performance",
	}[word]
}

// keywords returns the stems of the words of s except fillers, in lower case. A word is a
// run of letters and digits.
func keywords(s string) map[string]bool { return stems(s, fillers) }

// stems returns the stems of the words of s except those in skip, where each word has a
// space on both sides.
func stems(s, skip string) map[string]bool {
	stems := map[string]bool{}
	for _, word := range strings.FieldsFunc(strings.Map(fold, s), notWordRune) {
		if strings.Contains(skip, " "+word+" ") {
			continue
		}
		if long := longForm(word); long != "" {
			word = long
		}
		stems[stem(word)] = true
	}
	return stems
}

// fold maps a letter to lower case. It maps to upper case first, so that letters with two
// lower-case forms (s and ſ) become equal.
func fold(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }

// stem removes endings: "sessions" becomes "session", and both "cache" and "caches" become
// "cach". "redis", "class" and "status" do not change.
func stem(word string) string {
	r := []rune(word)
	if len(r) > 4 && strings.HasSuffix(word, "ies") {
		r = append(r[:len(r)-3], 'y')
	} else if len(r) > 3 && r[len(r)-1] == 's' && !strings.ContainsRune("sui", r[len(r)-2]) {
		r = r[:len(r)-1]
	}
	if len(r) > 3 && r[len(r)-1] == 'e' {
		r = r[:len(r)-1]
	} else if len(r) > 6 && strings.HasSuffix(string(r), "ing") {
		r = r[:len(r)-3]
	}
	return string(r)
}
