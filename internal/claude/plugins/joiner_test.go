package plugins_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/claude/plugins"
)

// The names were given to folders of skills, and the client listed them or not (2.1.329).
func TestJoinersInTheNameOfAFolder(t *testing.T) {
	for _, name := range []string{"\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u064e\u200c\u062e",
		"\u0915\u094d\u200c\u0937",
		"\u0915\u094d\u200d\u0937", "\u0dc1\u0dca\u200d\u0dbb\u0dd3", "\U0001f469\u200d\U0001f680", "x-\U0001f469\u200d\U0001f680-y",
		"\U0001f3f3\ufe0f\u200d\U0001f308", "\U0001f469\U0001f3fd\u200d\U0001f680", "\u2764\ufe0f"} {
		assert.True(t, plugins.IsFolderName(name), "%+q", name)
	}
	for _, name := range []string{"a\u200cb", "a\u200db", "\u0645\u06cc\u200d\u062e", "\u0645\u200c", "\u200c\u0645",
		"\u0645\u200ca", "a\u200c\u0645",
		"\u0915\u200c\u0937", "\u0645\u200c\u200c\u062e", "\u0915\u094d\u200d", "\U0001f469\u200c\U0001f680",
		"\u05d0\u200c\u05d1", "\u4e00\u200c\u4e8c",
		"1\u200c2", "\u0645\u200c1", "\u0645-\u200c\u062e", "\U0001f469\u200da", "e\u200d\U0001f469", "\u0627\u200c\u0628",
		"\u09b0\u200d\u09cd\u09af",
		"\u0645\u200d\u200c\u062e", "a\u2060b", "a\u061cb", "\u115f", "\u3164", "a\u034fb"} {
		assert.False(t, plugins.IsFolderName(name), "%+q", name)
	}
}
