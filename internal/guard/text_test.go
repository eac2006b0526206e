package guard

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestSessionIDsNeverBecomePaths(t *testing.T) {
	for id, want := range map[string]string{
		"abc-DEF_123":            "abc-DEF_123",
		strings.Repeat("a", 128): strings.Repeat("a", 128),
		strings.Repeat("a", 129): "x",
		"../../etc/passwd":       "x",
		"":                       "",
	} {
		got := fileID(id)
		if strings.HasPrefix(want, "x") {
			assert.Regexp(t, `^x[0-9a-f]{32}$`, got)
		} else {
			assert.Equal(t, want, got)
		}
	}
	assert.NotEqual(t, fileID("é"), fileID("è"))
	assert.Equal(t, "/tmp", SessionOf("x", func(string) string { return "" }).Dir())
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                   "plain",
		"a\r\nb":                  "a b",
		"a\tb\x00\x1b[31mc\u0085": "a b [31mc ",
		"a\u2028b":                "a b",
		"\n":                      " ",
		"→ é":                     "→ é",
	} {
		assert.Equal(t, want, OneLine(text))
	}
}

func TestTruncateCountsCharacters(t *testing.T) {
	assert.Equal(t, "aé", Truncate("aé→", 2))
	assert.Equal(t, "aé→", Truncate("aé→", 9))
	assert.Empty(t, Truncate("a", 0))
}

func TestALogLineIsOneLineOfBoundedLength(t *testing.T) {
	at := time.Date(2026, 2, 4, 14, 23, 15, 0, time.FixedZone("x", 3600))
	assert.Equal(t, "[2026-02-04T13:23:15Z] H01: DENY | a [x] H02: ALLOW\n", logLine(at, "H01", "DENY", "a\n[x] H02: ALLOW"))
	assert.Less(t, len(logLine(at, "H01", "DENY", strings.Repeat("x", 2*maxLogDetail))), maxLogDetail+100)
}
