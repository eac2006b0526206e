package guard

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestALogLineIsOneLineOfBoundedLength(t *testing.T) {
	at := time.Date(2026, 2, 4, 14, 23, 15, 0, time.FixedZone("x", 3600))
	assert.Equal(t, "[2026-02-04T13:23:15Z] H01: DENY | a [x] H02: ALLOW\n", logLine(at, "H01", "DENY", "a\n[x] H02: ALLOW"))
	assert.Less(t, len(logLine(at, "H01", "DENY", strings.Repeat("x", 2*maxLogDetail))), maxLogDetail+100)
}

func TestAGuardWithoutALogHasDecidedNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	assert.Empty(t, must(Decided(path)))
	_, err := Decided(filepath.Dir(path))
	require.Error(t, err)
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
