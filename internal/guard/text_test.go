package guard

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

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
