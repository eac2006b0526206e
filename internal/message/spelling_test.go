package message

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b  string
		limit int
		want  int
	}{
		{"", "", 5, 0},
		{"", "abc", 5, 3},
		{"blockedBy", "blockedBy", 5, 0},
		{"blokedBy", "blockedBy", 5, 1}, // one missing
		{"kitten", "sitting", 5, 3},     // two replaced, one inserted
		{"ab", "ba", 5, 1},              // neighbours exchanged
		{"chekc", "check", 5, 1},
		{"abc", "cba", 5, 2},
		{"prüfen", "prufen", 5, 1},  // characters, not bytes
		{"kitten", "sitting", 3, 3}, // not below the limit
		{"kitten", "sitting", 2, 2},
		{"a", "abcdef", 2, 2}, // decided by the lengths alone
	} {
		assert.Equal(t, tt.want, Distance(tt.a, tt.b, tt.limit), "%q and %q, limit %d", tt.a, tt.b, tt.limit)
		assert.Equal(t, tt.want, Distance(tt.b, tt.a, tt.limit), "%q and %q, limit %d", tt.b, tt.a, tt.limit)
	}
}

// An edit changes the distance by at most one. A distance above the limit is cut to it.
func TestDistanceOfEdits(t *testing.T) {
	const far = 100
	rapid.Check(t, func(t *rapid.T) {
		a := []rune(rapid.StringMatching(`[a-cé]{0,8}`).Draw(t, "a"))
		b := rapid.StringMatching(`[a-cé]{0,8}`).Draw(t, "b")
		at := rapid.IntRange(0, len(a)).Draw(t, "at")
		edited := string(a[:at]) + "x" + string(a[at:])
		d, e := Distance(string(a), b, far), Distance(edited, b, far)
		assert.LessOrEqual(t, d-e, 1)
		most := 1
		if at > 0 && at < len(a) && strings.Contains(b, string(a[at])+string(a[at-1])) {
			most = 2 // what was one exchange of neighbours
		}
		assert.LessOrEqual(t, e-d, most)
		limit := rapid.IntRange(0, 10).Draw(t, "limit")
		assert.Equal(t, min(d, limit), Distance(string(a), b, limit))
	})
}
