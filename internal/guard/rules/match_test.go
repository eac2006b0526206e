package rules

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// sorted returns the keywords of s in alphabetical order.
func sorted(s string) string {
	return strings.Join(slices.Sorted(maps.Keys(keywords(s))), " ")
}

func TestKeywords(t *testing.T) {
	for text, want := range map[string]string{
		"Should we use Redis for session caching?": "cach redis session",
		"What caching strategy for sessions?":      "cach session strategy",
		"caching_strategy":                         "cach strategy",
		"DB of the auth API":                       "api authentication databas",
		"app-router/pages-router":                  "app pag router",
		"redis class status focus":                 "class focus redis status",
		"queries query ties dies":                  "die query tie",
		"Cache caches cached":                      "cach cached",
		"uses use":                                 "use",
		"ÉCOLE école 42":                           "42 écol",
		"ſtores STORES":                            "stor",
		"the a an is":                              "",
		"":                                         "",
	} {
		assert.Equal(t, want, sorted(text), text)
	}
}

// TestWhatAQuestionIsAbout: its generic words only if it has no others, and no choice if it asks for something else.
func TestWhatAQuestionIsAbout(t *testing.T) {
	generic := question{text: "Which approach?"}.subject()
	assert.Equal(t, map[string]bool{"approach": true}, generic.words)
	assert.Equal(t, generic.all, generic.words)
	assert.False(t, generic.shortened)
	named := question{text: "Which caching approach?"}.subject()
	assert.Equal(t, map[string]bool{"cach": true}, named.words)
	assert.Equal(t, map[string]bool{"cach": true, "approach": true}, named.all)
	assert.True(t, named.shortened)
	for text, want := range map[string]string{"how many": "many", "how often": "often", "how with": "", "how": "", "many how": "",
		"where to":   "where",
		"which many": "", "": ""} {
		assert.Equal(t, want, aspectOf(strings.Fields(text)), text)
	}
}

func TestCountWords(t *testing.T) {
	for text, want := range map[string]int{"": 0, "can't a->b": 2, "one two three four": 3, "。、！": 1, "你好。": 1, "日本語 x": 2, "日本語のテキスト": 3} {
		assert.Equal(t, want, countWords(text, 3), text)
	}
}

func TestTheDocumentedExamples(t *testing.T) {
	for _, c := range []struct {
		question, decision string
		want               bool
	}{
		{"What caching strategy for sessions?", "Should we use Redis for session caching?", true},
		{"What caching to use?", "Use Redis for caching", true},
		{"What color for the button?", "Use Redis for caching", false},
		{"Should we use Redis for caching?", "Should we use Redis for caching?", true},
		{"Is Redis good?", "Use Redis for session caching in production", false},
		{"Redis?", "Use Redis for session caching in production", false}, // it has no other words, but only a quarter of the decision's
	} {
		_, got := bestMatch(question{text: c.question}, []userDecision{{key: c.decision}}, defaults.thresholds)
		assert.Equal(t, c.want, got, c.question)
	}
}

func TestTheBestMatchWins(t *testing.T) {
	decisions := []userDecision{{"alpha", "1"}, {"alpha beta", "2"}, {"beta alpha", "3"}, {"alpha beta gamma delta", "4"}}
	m, ok := bestMatch(question{text: "alpha beta?"}, decisions, defaults.thresholds)
	assert.True(t, ok)
	assert.Equal(t, "2", m.decision.value, "share first, then number, then order")
}

func TestALowerThresholdAppliesToSubsetsToo(t *testing.T) {
	decision := []userDecision{{key: "alpha beta gamma delta epsilon"}}
	_, ok := bestMatch(question{text: "alpha beta"}, decision, thresholds{0.4, 0.5, 0.5})
	assert.True(t, ok)
	_, ok = bestMatch(question{text: "alpha beta zeta"}, decision, thresholds{0.4, 0.5, 0.5})
	assert.True(t, ok)
	_, ok = bestMatch(question{text: "alpha beta zeta"}, decision, thresholds{0.4, 0.5, 0.7})
	assert.False(t, ok, "too little of the question is about the decision")
	_, ok = bestMatch(question{text: "alpha beta"}, decision, thresholds{0.41, 0.5, 0.5})
	assert.False(t, ok)
}

// phrase draws words and fillers with any letters.
func phrase() *rapid.Generator[[]string] {
	word := rapid.OneOf(rapid.SampledFrom([]string{"the", "redis", "Caches", "session", "queries", "use", "straße", "İx", "ſet", "42",
		"Σς", "Plan", "B", "GO", "strategy", "team", "project"}), rapid.StringMatching(`\pL{1,6}`))
	return rapid.SliceOfN(word, 0, 8)
}

func TestPropertyKeywordsIgnoreOrderAndCase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := phrase().Draw(t, "words")
		shuffled := rapid.Permutation(text).Draw(t, "shuffled")
		separator := rapid.SampledFrom([]string{" ", "_", "-", "/", "?! ", "\t"}).Draw(t, "separator")
		want := sorted(strings.Join(text, " "))
		for _, s := range []string{strings.Join(shuffled, separator), strings.ToUpper(strings.Join(shuffled, separator)),
			strings.ToTitle(strings.Join(shuffled, " "))} {
			if got := sorted(s); got != want {
				t.Fatalf("%q: %q, want %q", s, got, want)
			}
		}
	})
}

// TestPropertyADecisionMatchesItself: a generic word of the question counts if the decision has it too.
func TestPropertyADecisionMatchesItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		decision := strings.Join(phrase().Draw(t, "decision"), " ")
		threshold := rapid.Float64Range(0.01, 1).Draw(t, "threshold")
		m, ok := bestMatch(question{text: strings.ToUpper(decision)}, []userDecision{{key: decision}}, thresholds{threshold, 0.5, 0.7})
		require.False(t, ok != (len(keywords(decision)) > 0) || ok && m.overlap != m.total, "%v %d/%d", ok, m.overlap, m.total)
	})
}

func TestPropertyAHigherThresholdMatchesLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		asked := strings.Join(phrase().Draw(t, "question"), " ")
		decisions := []userDecision{{key: strings.Join(phrase().Draw(t, "decision"), " ")}}
		low := rapid.Float64Range(0.01, 1).Draw(t, "low")
		high := rapid.Float64Range(low, 1).Draw(t, "high")
		_, atLow := bestMatch(question{text: asked}, decisions, thresholds{low, 0.5, 0.7})
		_, atHigh := bestMatch(question{text: asked}, decisions, thresholds{high, 0.5, 0.7})
		require.False(t, atHigh && !atLow, "matches only at the higher threshold")
	})
}

// Half of the forty questions ask for the decision beside them again; the other half ask
// for something else.
func TestQuestionsAndDecisions(t *testing.T) {
	type pair struct {
		question, key, value string
		options              []string
	}
	again := []pair{
		{"Which cache?", "Cache", "Redis", nil},
		{"What cache should we use?", "Cache", "Redis", nil},
		{"Redis or Memcached for the cache?", "Cache", "Redis", nil},
		{"Which cache do you prefer?", "Cache", "Redis", []string{"Redis", "Memcached"}},
		{"Should we use Redis for caching?", "Use Redis for caching", "Yes", nil},
		{"What caching to use?", "Use Redis for caching", "Yes", nil},
		{"What caching strategy for sessions?", "Should we use Redis for session caching?", "Yes, use Redis", nil},
		{"Which primary database should we use?", "Primary database", "PostgreSQL", nil},
		{"Which DB?", "Primary database", "PostgreSQL", nil},
		{"Should we use MySQL as the primary database?", "Primary database", "PostgreSQL", nil},
		{"PostgreSQL or MySQL as primary database?", "Primary database", "PostgreSQL", nil},
		{"Shall we take PostgreSQL?", "Primary database", "PostgreSQL", nil},
		{"Please confirm: PostgreSQL for the primary database?", "primary_database", "PostgreSQL", nil},
		{"What frontend framework would you like?", "Frontend framework", "React", []string{"React", "Vue"}},
		{"App router or pages router?", "app-router/pages-router", "App Router", nil},
		{"How do we authenticate users?", "How do we authenticate users?", "OAuth", nil},
		{"How should users authenticate?", "How do we authenticate users?", "OAuth", nil},
		{"Which authentication method: OAuth or SAML?", "Auth method", "OAuth", nil},
		{"Where do we deploy?", "Where do we deploy?", "AWS", nil},
		{"Which test runner is best?", "Test runner", "vitest", []string{"vitest", "jest"}},
	}
	other := []pair{
		{"How large should the cache be?", "Cache", "Redis", nil},
		{"How long should entries stay in the cache?", "Cache", "Redis", nil},
		{"Where should the cache run?", "Cache", "Redis", nil},
		{"Do we need to clear the cache on deploy?", "Cache", "Redis", nil},
		{"Who owns the cache?", "Cache", "Redis", nil},
		{"Which metrics should the cache export?", "Cache", "Redis", nil},
		{"Should cache misses be logged?", "Cache", "Redis", nil},
		{"Which version of Redis?", "Cache", "Redis", nil},
		{"Should the primary database be replicated?", "Primary database", "PostgreSQL", nil},
		{"How often is the primary database backed up?", "Primary database", "PostgreSQL", nil},
		{"Which database should the tests use?", "Primary database", "PostgreSQL", nil},
		{"When do we migrate the primary database?", "Primary database", "PostgreSQL", nil},
		{"Should the Redis session cache be encrypted?", "Redis session cache", "yes", nil},
		{"Is Redis good?", "Use Redis for session caching in production", "Yes", nil},
		{"What color for the button?", "Use Redis for caching", "Yes", nil},
		{"Which framework for the mobile frontend?", "Frontend framework", "React", []string{"React Native", "Flutter"}},
		{"Should the API be versioned in the path?", "API", "REST", nil},
		{"Which fields does the API return for a user?", "API", "REST", nil},
		{"What timeout should API calls have?", "API style", "REST", nil},
		{"Should users be able to delete their account?", "Users authenticate with", "OAuth", nil},
	}
	assert.Len(t, append(again, other...), 40)
	for _, c := range []struct {
		pairs []pair
		same  bool
	}{{again, true}, {other, false}} {
		for _, p := range c.pairs {
			_, same := bestMatch(question{p.question, p.options}, []userDecision{{p.key, p.value}}, defaults.thresholds)
			assert.Equal(t, c.same, same, "%q and %q -> %q", p.question, p.key, p.value)
		}
	}
}

// TestQuestionsInOtherLanguages: only the small words of English are known. Elsewhere only a question with the
// words of the decision is the same.
func TestQuestionsInOtherLanguages(t *testing.T) {
	for _, p := range []struct {
		question, key, value string
		same                 bool
	}{
		{"Möchten wir Größe XL für Überschriften?", "Größe für Überschriften", "XL", false},
		{"Möchten wir Größe XL für Überschriften?", "Größe der Überschriften", "XL", false},
		{"Möchten wir Größe XL für Überschriften?", "Überschriften", "Größe XL", false},
		{"Möchten wir Größe XL für Überschriften?", "Möchten wir Farbe Blau für Links?", "ja", false},
		{"Möchten wir Größe XL für Überschriften?", "Möchten wir die Farbe Blau für Überschriften?", "ja", false},
		{"Welche Datenbank sollen wir verwenden?", "Datenbank", "PostgreSQL", false},
		{"Welche Größe soll der Cache haben?", "Cache", "Redis", false},
		{"Wie groß soll der Cache sein?", "Cache", "Redis", false},
		{"Wo soll der Cache laufen?", "Cache", "Redis", false},
		{"Quelle base de données devons-nous utiliser ?", "Base de données", "PostgreSQL", false},
		{"Où la base de données doit-elle tourner ?", "Base de données", "PostgreSQL", false},
		{"¿Qué base de datos debemos usar?", "Base de datos", "PostgreSQL", false},
		{"Quale database dobbiamo usare?", "Database", "PostgreSQL", false},
		{"Welke database moeten we gebruiken?", "Database", "PostgreSQL", false},
		{"Ska vi använda färg för länkar nu?", "Storlek för rubriker", "XL", false},
		{"Hur stor ska Cache vara?", "Cache", "Redis", false},
		{"Ska vi använda storlek XL för rubriker?", "Ska vi använda storlek för rubriker?", "XL", true},
		{"Which OS do we need?", "OS", "Linux", true},
	} {
		_, same := bestMatch(question{text: p.question}, []userDecision{{p.key, p.value}}, defaults.thresholds)
		assert.Equal(t, p.same, same, "%q and %q -> %q", p.question, p.key, p.value)
	}
}
