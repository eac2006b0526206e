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
		"Σς"}), rapid.StringMatching(`\pL{1,6}`))
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

func TestPropertyADecisionMatchesItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		decision := strings.Join(phrase().Draw(t, "decision"), " ")
		threshold := rapid.Float64Range(0.01, 1).Draw(t, "threshold")
		m, ok := bestMatch(question{text: strings.ToUpper(decision)}, []userDecision{{key: decision}}, thresholds{threshold, 0.5, 0.7})
		require.False(t, ok != (len(keywords(decision)) > 0) || ok && m.overlap != m.total, "%v %d/%d", ok, m.overlap, m.total)
	})
}

// A generic word of the question counts if the decision has it too.
func TestADecisionOfGenericWordsMatchesItself(t *testing.T) {
	for _, decision := range []string{"Plan B", "GO B", "caching strategy", "team project"} {
		_, ok := bestMatch(question{text: decision}, []userDecision{{key: decision}}, thresholds{1, 0.5, 0.7})
		if !ok {
			t.Errorf("%q does not match itself", decision)
		}
	}
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
