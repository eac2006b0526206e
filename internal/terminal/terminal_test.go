package terminal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/terminal"
)

func TestVisibleEscapesControlCharacters(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"plain\n\tand é 𝄞 \ufffd": "plain\n\tand é 𝄞 \ufffd",
		"\x1b[2J\r\x00\x7f":       `\x1b[2J\r\x00\x7f`,
		"\u009b1m":                `\u009b1m`,
		"a\xff\x9bb":              `a\xff\x9bb`,
	} {
		assert.Equal(t, want, terminal.Visible(text), "%q", text)
	}
}

func TestMessagesAreEscaped(t *testing.T) {
	var b strings.Builder
	s := terminal.Streams{Err: &b}
	s.Errorf("failed on %s\n", "a\x1bb\xff")
	s.Hintf("remove %s", "\x07")
	assert.Equal(t, "fsmtx: failed on a\\x1bb\\xff\nhint: remove \\a\n", b.String())
}
