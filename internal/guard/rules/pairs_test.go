package rules

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

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
